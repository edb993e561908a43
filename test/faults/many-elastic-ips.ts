import { accountData } from '../sandbox/account-api/data/account.ts'
import { idOf } from '../sandbox/account-api/data/ids.ts'
import type { ElasticIpState } from '../sandbox/account-api/data/model.ts'
import { serverId } from '../sandbox/account-api/data/servers.ts'
import type { AccountApi } from '../sandbox/account-api/start-account-api.ts'
import type { Slack } from '../sandbox/slack/slack.ts'

/** Where all of them are, and where each can be moved to. */
export const places = { from: serverId('storefront', 'web-1'), to: serverId('storefront', 'web-2') }

/** As many Elastic IPs as are asked for, `198.51.100.1` and on. */
export function manyElasticIps(count: number): ElasticIpState[] {
  const [like] = accountData('').elasticIps
  return Array.from({ length: count }, (_, index) => {
    const address = `198.51.${100 + Math.floor(index / 250)}.${(index % 250) + 1}`
    return { ...(like as ElasticIpState), id: idOf('eip', address), address }
  })
}

/** Looks at everything that is told as done, at the moment at which it is told. Gives what was told while the account did not show it. */
export function watchForEarlyWords(slack: Slack, account: AccountApi): () => string[] {
  const early = new Set<string>()
  let looked = 0
  slack.subscribe(() => {
    for (; looked < slack.journal.length; looked += 1) {
      const { method, args } = slack.journal[looked] ?? {}
      const text = String(args?.text ?? '')
      const [, address] = method?.startsWith('chat.') && /\*Done/.test(text) ? (/(198\.51\.\d+\.\d+)/.exec(text) ?? []) : []
      if (!address) continue
      // A copy of one and not of all: there may be thousands.
      const { id = '' } = account.world.data.elasticIps.find((elasticIp) => elasticIp.address === address) ?? {}
      const now = account.world.elasticIp(id)
      if (now && !(now.status === 'active' && now.serverId === places.to)) early.add(text.slice(0, 120))
    }
  })
  return () => [...early]
}
