import { describe, expect, test } from 'vitest'
import type { ElasticIp } from '../../src/domain/elastic-ip.ts'
import { createKeyring } from '../../src/domain/keyring.ts'
import { createAssignments } from '../../src/redis/assignments.ts'
import { connectTestRedis } from '../requests/redis-for-test.ts'
import { secretsOf } from '../requests/signatures-for-test.ts'

function setUp() {
  const { redis, keys, prefix } = connectTestRedis()
  const keyringOf = (secret: string) => createKeyring(secretsOf(secret), { purpose: 'assignments', prefix })
  const over = (secret: string) => createAssignments({ redis, keys, keyring: keyringOf(secret) })
  const own = 'a-key-for-tests-of-32-characters'
  return { redis, keys, over, keyring: keyringOf(own), ...over(own) }
}

function ip(id: string, serverId: string | undefined): ElasticIp {
  const server = serverId === undefined ? undefined : { id: serverId, hostname: `host-${serverId}` }
  return { id, address: `address-${id}`, status: 'active', server, project: undefined, site: undefined }
}

const on = (serverId: string) => (seen: { serverId: string }) => seen.serverId === serverId

describe('the servers that Elastic IPs were seen on', () => {
  test('are found by server, with the name and the time', async () => {
    const { note, find } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_2')])

    const found = await find(on('sv_1'))

    expect(found).toMatchObject([{ elasticIpId: 'eip_1', address: 'address-eip_1', serverName: 'host-sv_1' }])
    expect(found[0]?.agoMs).toBeLessThan(10_000)
  })

  test('stay the last ones while the account shows none, and follow an address to another server', async () => {
    const { note, find } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1')])
    await note([ip('eip_1', undefined), ip('eip_2', 'sv_2')])

    expect((await find(on('sv_1'))).map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
    expect((await find(on('sv_2'))).map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_2'])
  })

  test('are not believed without a genuine signature, nor in the place of another address', async () => {
    const { note, find, redis, keys, over } = setUp()
    await note([ip('eip_1', 'sv_1')])
    const entry = (await redis.hget(keys.assignments, 'eip_1')) ?? ''
    await redis.hset(keys.assignments, 'eip_2', entry, 'eip_3', entry.replaceAll('eip_1', 'eip_3'), 'eip_4', 'not json')

    expect((await find(() => true)).map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
    expect(await over('another-key-for-tests-of-32-chars').find(() => true)).toEqual([])
  })

  test('are offered for 24 hours, and then removed', async () => {
    const { note, find, redis, keys, keyring } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1')])
    const seenHoursAgo = async (id: string, hours: number) => {
      const { signature: _, ...entry } = JSON.parse((await redis.hget(keys.assignments, id)) ?? '{}')
      const older = { ...entry, at: entry.at - hours * 3_600_000 }
      await redis.hset(keys.assignments, id, JSON.stringify({ ...older, signature: keyring.sign({ signed: 'assignment', ...older }) }))
    }
    await seenHoursAgo('eip_1', 23.9)
    await seenHoursAgo('eip_2', 24.1)

    expect((await find(() => true)).map(({ elasticIpId }) => elasticIpId)).toEqual(['eip_1'])
    await note([])
    expect(await redis.hkeys(keys.assignments)).toEqual(['eip_1'])
  })

  test('carry a time that nobody can change', async () => {
    const { note, find, redis, keys } = setUp()
    await note([ip('eip_1', 'sv_1')])
    const entry = JSON.parse((await redis.hget(keys.assignments, 'eip_1')) ?? '{}')
    await redis.hset(keys.assignments, 'eip_1', JSON.stringify({ ...entry, at: entry.at + 1 }))

    expect(await find(() => true)).toEqual([])
  })
})
