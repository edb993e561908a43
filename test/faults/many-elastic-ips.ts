import { accountData } from '../sandbox/account-api/data/account.ts'
import { idOf } from '../sandbox/account-api/data/ids.ts'
import type { ElasticIpState } from '../sandbox/account-api/data/model.ts'
import { serverId } from '../sandbox/account-api/data/servers.ts'
import type { AccountApi } from '../sandbox/account-api/start-account-api.ts'
import type { Slack } from '../sandbox/slack/slack.ts'

/** The server of all of them, and the one to move them to. */
export const places = { from: serverId('storefront', 'web-1'), to: serverId('storefront', 'web-2') }

/** Makes this many Elastic IPs, from `198.18.0.1` on: no server has an address of that network. */
export function manyElasticIps(count: number): ElasticIpState[] {
  const [like] = accountData('').elasticIps
  return Array.from({ length: count }, (_, index) => {
    const address = `198.18.${Math.floor(index / 250)}.${(index % 250) + 1}`
    return { ...(like as ElasticIpState), id: idOf('eip', address), address }
  })
}

/** Compares every report of a done move with the account at that moment. Returns the reports that came too early. */
export function collectEarlyReports(slack: Slack, account: AccountApi): () => string[] {
  const early = new Set<string>()
  let next = 0
  slack.subscribe(() => {
    for (; next < slack.journal.length; next += 1) {
      const { method, args } = slack.journal[next] ?? {}
      const text = String(args?.text ?? '')
      const [, address] = method?.startsWith('chat.') && /\*Done/.test(text) ? (/(198\.18\.\d+\.\d+)/.exec(text) ?? []) : []
      if (!address) continue
      // Copy one and not all, because there may be thousands.
      const { id = '' } = account.world.data.elasticIps.find((elasticIp) => elasticIp.address === address) ?? {}
      const now = account.world.elasticIp(id)
      if (now && !(now.status === 'active' && now.serverId === places.to)) early.add(text.slice(0, 120))
    }
  })
  return () => [...early]
}
