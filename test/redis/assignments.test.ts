import { describe, expect, test, vi } from 'vitest'
import type { ElasticIp } from '../../src/account/objects.ts'
import type { Assignment } from '../../src/domain/account.ts'
import { createKeyring } from '../../src/domain/signing.ts'
import { createAssignments } from '../../src/redis/assignments.ts'
import { seal } from '../../src/redis/sealed.ts'
import { connectTestRedis } from '../given/redis.ts'
import { changedFacts, factsOf, secretsOf } from '../given/signatures.ts'

const ownKey = 'a-key-for-tests-of-32-characters'
const hours = 3_600_000

function setUp() {
  const { redis, keys, prefix } = connectTestRedis()
  const keyringOf = (secret: string) => createKeyring(secretsOf(secret), { purpose: 'records', prefix })

  /** Starts a process with this key, and returns what it refused. */
  function start(secret = ownKey) {
    const refused: string[] = []
    const process = createAssignments({ redis, keys, keyring: keyringOf(secret), onRefused: (problem) => void refused.push(problem) })
    return { ...process, refused }
  }

  /** Writes a genuine list with these entries. */
  async function write(entries: Assignment[], at = Date.now()): Promise<void> {
    await redis.set(keys.assignments, seal(keyringOf(ownKey), 'assignments', { at, entries }))
  }

  const stored = async () => (await redis.get(keys.assignments)) ?? ''
  const putBack = (list: string) => redis.set(keys.assignments, list)
  return { redis, keys, start, write, stored, putBack, ...start() }
}

function ip(id: string, serverId: string | undefined): ElasticIp {
  const server = serverId === undefined ? undefined : { id: serverId, hostname: `host-${serverId}` }
  return { id, address: `address-${id}`, status: 'active', server, project: undefined, site: undefined }
}

function entry(elasticIpId: string, agoMs: number): Assignment {
  return { elasticIpId, address: `address-${elasticIpId}`, serverId: 'sv_1', serverName: 'host-sv_1', at: Date.now() - agoMs }
}

const any = () => true
const on = (serverId: string) => (seen: { serverId: string }) => seen.serverId === serverId
const idsOf = (all: Assignment[]) => all.map(({ elasticIpId }) => elasticIpId)

describe('the servers that Elastic IPs were seen on', () => {
  test('stay the last ones while the account shows none, and follow an address to another server', async () => {
    const { note, find } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1')])
    await note([ip('eip_1', undefined), ip('eip_2', 'sv_2')])

    expect(idsOf(await find(on('sv_1')))).toEqual(['eip_1'])
    expect(idsOf(await find(on('sv_2')))).toEqual(['eip_2'])
  })

  test('are also those of an address that was read by itself, unless it moves or has no server', async () => {
    const { note, noteOne, find } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1'), ip('eip_3', 'sv_1')])
    await noteOne(ip('eip_1', 'sv_2'))
    await noteOne({ ...ip('eip_2', 'sv_2'), status: 'moving' })
    await noteOne(ip('eip_3', undefined))

    expect(idsOf(await find(on('sv_2')))).toEqual(['eip_1'])
    expect(idsOf(await find(on('sv_1')))).toEqual(['eip_2', 'eip_3'])
  })

  test('are offered for 24 hours, and then removed', async () => {
    const { note, find, write, start } = setUp()
    await write([entry('eip_1', 23.9 * hours), entry('eip_2', 24.1 * hours)])

    expect(idsOf(await find(any))).toEqual(['eip_1'])
    await note([ip('eip_3', 'sv_1')])
    expect(idsOf(await start().find(any))).toEqual(['eip_1', 'eip_3'])
  })

  test('are not written again within two minutes if nothing is new', async () => {
    const { note, stored } = setUp()
    await note([ip('eip_1', 'sv_1')])
    const before = await stored()
    await note([ip('eip_1', undefined)])
    await note([ip('eip_1', 'sv_1')])

    expect(await stored()).toEqual(before)
  })

  test('are read and written once for many lists at the same moment, without losing a server that only an earlier list shows', async () => {
    const { redis, note, find } = setUp()
    const reads = vi.spyOn(redis, 'get')

    await Promise.all([
      note([ip('eip_1', 'sv_1')]),
      note([ip('eip_1', 'sv_2'), ip('eip_2', 'sv_1')]),
      ...Array.from({ length: 50 }, () => note([ip('eip_1', 'sv_2'), ip('eip_2', undefined)])),
    ])

    expect(reads).toHaveBeenCalledTimes(1)
    expect(idsOf(await find(on('sv_1')))).toEqual(['eip_2'])
    expect(idsOf(await find(on('sv_2')))).toEqual(['eip_1'])
  })

  test('of two replicas that note at the same moment are all kept', async () => {
    const { start, find } = setUp()
    const replicas = Array.from({ length: 6 }, () => start())
    await Promise.all(replicas.map(({ note }, index) => note([ip(`eip_${index}`, 'sv_1')])))

    expect(idsOf(await find(any)).toSorted()).toEqual(replicas.map((_, index) => `eip_${index}`))
    expect(replicas.flatMap(({ refused }) => refused)).toEqual([])
  })
})

describe('somebody with write access to Redis', () => {
  test.each<[how: string, change: (first: string, second: string) => string]>([
    ['cannot put entries of another list into a list', (first, second) => changedFacts(second, { entries: factsOf(first).entries })],
    ['cannot put the time of another list on a list', (first, second) => changedFacts(first, { at: factsOf(second).at })],
    ['cannot leave entries out', (first) => changedFacts(first, { entries: [] })],
    ['cannot change an entry', (first) => first.replace('sv_1', 'sv_9')],
    ['cannot write another list', () => 'not signed'],
  ])('%s', async (_, change) => {
    const { note, stored, putBack, start } = setUp()
    await note([ip('eip_1', 'sv_1'), ip('eip_2', 'sv_1')])
    const first = await stored()
    await note([ip('eip_1', 'sv_2')])
    await putBack(change(first, await stored()))

    const { find, refused } = start()
    expect(await find(any)).toEqual([])
    expect(refused).toEqual(['forged'])
  })

  test('cannot change an entry of the list that a running process has just read', async () => {
    const { note, find, stored, putBack, refused } = setUp()
    await note([ip('eip_1', 'sv_1')])
    expect(idsOf(await find(any))).toEqual(['eip_1'])
    await putBack((await stored()).replace('sv_1', 'sv_9'))

    expect(await find(any)).toEqual([])
    expect(refused).toEqual(['forged'])
  })

  test('cannot put an older list back that a running process takes, and the next list replaces it', async () => {
    const { note, find, refused, stored, putBack } = setUp()
    await note([ip('eip_1', 'sv_1')])
    const yesterday = await stored()
    await note([ip('eip_1', 'sv_2')])
    await putBack(yesterday)

    expect(await find(any)).toEqual([])
    expect(refused).toEqual(['older'])
    await note([ip('eip_1', undefined), ip('eip_2', 'sv_2')])
    expect(idsOf(await find(any))).toEqual(['eip_2'])
  })

  test('cannot put an older list back after a process has read the newer one', async () => {
    const { note, start, stored, putBack } = setUp()
    await note([ip('eip_1', 'sv_1')])
    const yesterday = await stored()
    await note([ip('eip_1', 'sv_2')])
    const { find, refused } = start()
    await find(any)
    await putBack(yesterday)

    expect(await find(any)).toEqual([])
    expect(refused).toEqual(['older'])
  })

  test('cannot remove the list unnoticed', async () => {
    const { note, find, refused, redis, keys } = setUp()
    await note([ip('eip_1', 'sv_1')])
    await redis.del(keys.assignments)

    expect(await find(any)).toEqual([])
    expect(refused).toEqual(['missing'])
  })
})

test('a list that was signed with an unknown key is not used, and is no reason for an alarm', async () => {
  const { note, start } = setUp()
  await note([ip('eip_1', 'sv_1')])

  const other = start('another-key-for-tests-of-32-chars')
  expect(await other.find(any)).toEqual([])
  expect(other.refused).toEqual([])
})
