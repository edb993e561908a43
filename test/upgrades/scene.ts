import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { createKeys } from '../../src/redis/key-names.ts'
import { alert, token } from '../journeys/alert-deliveries.ts'
import { ops } from '../journeys/world.ts'
import { apiKeys } from '../sandbox/account-api/data/api-keys.ts'
import { elasticIps } from '../sandbox/account-api/data/elastic-ips.ts'
import { idOf } from '../sandbox/account-api/data/ids.ts'
import type { ElasticIpState } from '../sandbox/account-api/data/model.ts'
import { serverId } from '../sandbox/account-api/data/servers.ts'

/** The policy of a release, as its fixtures have it. */
const policyOf = (release: string) => join(import.meta.dirname, release, 'policy.yml')

/** The variables of a bot that goes on with what a release stored. */
export const envOf = (release: string) => ({ ...storedBy, POLICY_FILE: policyOf(release), ALERTS_PORT: '0', ALERTS_TOKEN: token })

/** The prefix and the key of the bot that wrote the stored data. Signatures depend on both. */
export const storedBy = { REDIS_PREFIX: 'upgrades-0.1', STATE_KEY: 'the-key-that-signed-the-fixtures-of-0.1' }

/** Owes a notice that the operators have not got yet. */
export async function oweNotice(redis: Redis): Promise<void> {
  const keys = createKeys(storedBy.REDIS_PREFIX)
  const facts = { channelId: ops, message: { text: 'The account API rejects INFRA_API_KEY.', blocks: [] } }
  await redis.hset(keys.message('api-key-rejected'), { facts: JSON.stringify(facts), at: String(Date.now()) })
  await redis.zadd(keys.outbox, Date.now(), 'api-key-rejected/notice')
}

export const server = (hostname: string) => serverId('storefront', hostname)

/** Addresses that can be moved to `web-2`: single ones on `web-1`, and those of servers that are evacuated. */
export const single = elasticIpsOn('web-1', 20, 16)
export const waitingEvacuation = elasticIpsOn('edge-ash-2', 40, 2)
export const evacuation = elasticIpsOn('web-3', 50, 7)
export const alerted = elasticIpsOn('edge-ash-1', 60, 2)
export const unanswered = elasticIpsOn('legacy-cart-1', 70, 2)

/** The server that somebody else moves addresses to. */
export const elsewhere = server('orders-db-1')

/** The alert that requests an evacuation. */
export const nodeDown = alert({ instance: 'edge-ash-1:9100' })

const botKey = 'b'.repeat(36)

/** The keys of the account. Their tokens are always the same, because the end of a token is a fact that approvers see. */
export const accountKeys = {
  key: botKey,
  apiKeys: apiKeys(botKey).map((key, index) => (index === 0 ? key : { ...key, token: `${index}`.repeat(36) })),
}

/** The Elastic IPs of the account in which the data was written. */
export const accountElasticIps = [...single, ...waitingEvacuation, ...evacuation, ...alerted, ...unanswered]

function elasticIpsOn(hostname: string, from: number, count: number): ElasticIpState[] {
  const [first] = elasticIps
  if (!first) throw new Error('the stand-in has no Elastic IPs')
  return Array.from({ length: count }, (_, index) => {
    const address = `203.0.113.${from + index}`
    return { ...structuredClone(first), id: idOf('eip', address), address, serverId: server(hostname) }
  })
}
