import { join } from 'node:path'
import { apiKeys, type ElasticIpState, elasticIps, idOf, serverId } from '../sandbox/account-api/data.ts'

/** The variables of the bot that wrote the stored data, and of the one that goes on with it. Signatures depend on prefix and key. */
export const storedBy = { REDIS_PREFIX: 'upgrades-0.1', STATE_KEY: 'the-key-that-signed-the-fixtures-of-0.1' }
export const botEnv = { ...storedBy, POLICY_FILE: join(import.meta.dirname, 'policy.yml') }

export const fixture = join(import.meta.dirname, 'redis-0.1.json')

export const server = (hostname: string) => serverId('storefront', hostname)

/** The account in which the data was written: its Elastic IPs can be moved to `web-2`. */
export const single = elasticIpsOn('web-1', 20, 5)
export const evacuated = elasticIpsOn('web-3', 50, 3)
export const accountElasticIps = [...single, ...elasticIpsOn('edge-ash-2', 40, 2), ...evacuated]

const botKey = 'b'.repeat(36)
/** The tokens are always the same, because the end of a token is a fact that approvers see. */
export const accountKeys = {
  key: botKey,
  apiKeys: apiKeys(botKey).map((key, index) => (index === 0 ? key : { ...key, token: `${index}`.repeat(36) })),
}

function elasticIpsOn(hostname: string, from: number, count: number): ElasticIpState[] {
  return Array.from({ length: count }, (_, index) => {
    const address = `203.0.113.${from + index}`
    return { ...structuredClone(elasticIps[0] as ElasticIpState), id: idOf('eip', address), address, serverId: server(hostname) }
  })
}
