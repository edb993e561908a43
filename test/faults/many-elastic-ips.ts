import { accountData, type Data, type ElasticIpState, idOf, serverId } from '../sandbox/account-api/data.ts'
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

/** Makes servers to evacuate beside those of the account, `rack-0` and so on, each with this many Elastic IPs, from `198.18.200.1` on. */
export function racks(sizes: number[]): Pick<Data, 'servers' | 'elasticIps'> {
  const { servers } = accountData('')
  const like = servers.find(({ id }) => id === places.from)
  if (!like) throw new Error('the stand-in has no server like a rack')
  const named = sizes.map((_, rack) => ({ ...like, id: rackId(rack), hostname: `rack-${rack}`, primaryIpv4: `192.0.2.${200 + rack}` }))
  const [first] = manyElasticIps(1)
  const elasticIps = sizes.flatMap((size, rack) =>
    Array.from({ length: size }, (_, index) => {
      const address = `198.18.${200 + rack}.${index + 1}`
      return { ...(first as ElasticIpState), id: idOf('eip', address), address, serverId: rackId(rack) }
    }),
  )
  return { servers: [...servers, ...named], elasticIps }
}

const rackId = (rack: number) => serverId('storefront', `rack-${rack}`)

/** Compares every report of a done move with the account at that moment. Returns the reports that came too early. */
export function collectEarlyReports(slack: Slack, account: AccountApi): () => string[] {
  const early = new Set<string>()
  let next = 0
  slack.subscribe(() => {
    for (; next < slack.journal.length; next += 1) {
      const { method, args } = slack.journal[next] ?? {}
      const text = String(args?.text ?? '')
      for (const address of method?.startsWith('chat.') ? reportedAsMoved(text) : []) {
        // Copy one and not all, because there may be thousands.
        const { id = '' } = account.world.data.elasticIps.find((elasticIp) => elasticIp.address === address) ?? {}
        const now = account.world.elasticIp(id)
        if (now && !(now.status === 'active' && now.serverId === places.to)) early.add(`${address} in: ${text.slice(0, 120)}`)
      }
    }
  })
  return () => [...early]
}

/** Returns the addresses that a message says are on their new server: of one move, or each that an evacuation has moved. */
function reportedAsMoved(text: string): string[] {
  const each = [...text.matchAll(/`(198\.18\.\d+\.\d+)` {2}moved/g)].map(([, address = '']) => address)
  if (each.length > 0) return each
  const [, address] = /\*Done/.test(text) ? (/(198\.18\.\d+\.\d+)/.exec(text) ?? []) : []
  return address === undefined ? [] : [address]
}
