import { z } from 'zod'
import type { ElasticIp } from '../account/objects.ts'
import type { App } from '../app.ts'
import { isBgp, longestSeenMs, type SeenAssignment, statusNotShown } from '../domain/account.ts'
import { resourcesOf } from '../domain/request.ts'
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

/**
 * Finds where addresses may be that the account shows on no server: where a change sent them in the past 24 h that is no longer tracked, unless
 * Lockkeeper saw them elsewhere after its end.
 */
export async function sentBefore(app: App, strays: { id: string; address: string }[]): Promise<SeenAssignment[]> {
  if (strays.length === 0) return []
  const byResource = new Map(strays.map((each) => [`elastic_ip:${each.id}`, each]))
  const [last, now] = await Promise.all([app.store.lastChangesOf([...byResource.keys()]), app.store.now()])
  const sent = [...last].flatMap(([resource, request]) => {
    const [stray, target, agoMs] = [byResource.get(resource), app.catalog.targetOf(request), now - (request.sentAt ?? 0)]
    if (!stray || !target || request.state !== 'untracked' || agoMs > longestSeenMs) return []
    // What names the last change of an address is not signed.
    if (!resourcesOf(request).includes(resource) || app.signatures.verifyRecord(request) !== 'genuine') return []
    const { id: serverId, name: serverName } = target
    const { endedAt = now } = request
    return [{ elasticIpId: stray.id, address: stray.address, serverId, serverName, at: now - agoMs, agoMs, isSent: true, endedAt }]
  })
  if (sent.length === 0) return []
  const later = await app.assignments.find(({ elasticIpId, serverId, at }) =>
    sent.some((each) => each.elasticIpId === elasticIpId && each.serverId !== serverId && each.endedAt < at),
  )
  const isElsewhere = new Set(later.map(({ elasticIpId }) => elasticIpId))
  return sent.flatMap(({ endedAt, ...each }) => (isElsewhere.has(each.elasticIpId) ? [] : [each]))
}
