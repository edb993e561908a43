import { z } from 'zod'
import type { ElasticIp } from '../account/objects.ts'
import { isBgp, statusNotShown } from '../domain/account.ts'
import { formatDuration, phrase } from '../domain/text.ts'
import { endingWords } from '../messages/why-not.ts'
import type { Mrkdwn } from '../slack/text.ts'
import { finding, findings } from './findings.ts'

const address = z.string()
const status = z.string()

/** Another server would not help. */
export const ofElasticIp = { field: 'elasticIpId' }

/** Why an Elastic IP can be moved to no server. */
export const fixedAddress = {
  'bgp-address': finding("{address} is a BGP address: several servers can announce it, so it isn't moved.", {
    next: 'Close or open its BGP sessions in the dashboard.',
    ...ofElasticIp,
  }),
  'already-moving': finding('{address} is already moving. Request again when it has moved.', ofElasticIp),
  'not-active': finding({ address, status }, ({ address, status }) => phrase`${address} has status ${status}, not active.`, {
    next: ({ status }) => (status === 'error' ? "Contact the provider's support." : undefined),
    ...ofElasticIp,
  }),
}
const fixed = findings(fixedAddress)

export function whyNotMovable({ id, mode, address, status }: ElasticIp): z.infer<typeof fixed.schema> | undefined {
  if (isBgp({ id, mode })) return { code: 'bgp-address', address }
  if (status === 'moving') return { code: 'already-moving', address }
  return status === 'active' || status === statusNotShown ? undefined : { code: 'not-active', address, status }
}

/** The same in words, for a list. Undefined if it can be moved. */
export function fixedWords(elasticIp: ElasticIp): Mrkdwn | undefined {
  const why = whyNotMovable(elasticIp)
  return why && endingWords(fixed.words(why))
}

/** `3 min ago`, `3 min to 11 min ago`: when Lockkeeper saw addresses on a server. In ms. */
export function agoWords(agesMs: number[]): string {
  return `${[...new Set([Math.min(...agesMs), Math.max(...agesMs)].map(formatDuration))].join(' to ')} ago`
}
