import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../../src/domain/signing.ts'
import { newRequestFor } from '../../given/request.ts'
import { secretsOf } from '../../given/signatures.ts'
import { accountWithOthers, address, apiKey, minute, ops, strangeKeyring, web1, web2, web3 } from './outside-world.ts'

const hour = 60 * minute
const keysCalled = (...names: string[]) => names.map((name) => apiKey(`ak_${name}`, name))

/** An account with an address on web-1 and two keys, and a first look at them. */
async function seenAccount() {
  const account = accountWithOthers()
  account.lists.elasticIps = [address()]
  account.lists.apiKeys = keysCalled('laptop', 'ci')
  await account.later()
  expect(account.told()).toEqual([])
  return account
}

describe('a move that somebody else makes', () => {
  test('is told once, to the operators', async () => {
    const account = await seenAccount()
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    await account.later()
    expect(account.told()).toEqual(['Elastic IP `203.0.113.10` moved from web-1 to web-2 outside Lockkeeper.'])
    expect(account.calls).toEqual([`post to ${ops}`])
  })

  test('is told at its end, and not while the address moves or shows no server', async () => {
    const account = await seenAccount()
    for (const [status, server] of [
      ['moving', web1],
      ['moving', undefined],
      ['moving', web2],
      ['active', undefined],
      ['error', web1],
    ] as const) {
      account.lists.elasticIps = [address({ status, server })]
      await account.look()
    }
    expect(account.told()).toEqual([])
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(account.told()).toEqual([expect.stringContaining('moved from web-1 to web-2')])
  })

  test('counts in no list that is older than the last one, or that could not be read to its end', async () => {
    const account = await seenAccount()
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.copyAgeMs = hour
    await account.later()
    account.world.copyAgeMs = 0
    account.world.missing = { isWhole: false, cut: 'size' }
    await account.later()
    expect(account.told()).toEqual([])
  })

  test('is told with the time in which nobody looked', async () => {
    const account = await seenAccount()
    account.lists.elasticIps = [address({ server: web2 })]
    await account.look(3 * hour)
    expect(account.told()).toEqual([
      expect.stringMatching(
        /outside Lockkeeper\. Lockkeeper didn't check between <!date\^\d+\^.*> and <!date\^\d+\^.*>, so it happened in that time\./,
      ),
    ])
  })
})

describe('keys that somebody else', () => {
  test('creates and removes are told with the moves, in one message at most every 10 minutes', async () => {
    const account = await seenAccount()
    account.lists.elasticIps = [address({ server: web2 })]
    await account.look()
    expect(account.told()).toHaveLength(1)

    account.lists.apiKeys = keysCalled('laptop', 'found')
    account.lists.elasticIps = [address()]
    await account.look()
    await account.look()
    expect(account.told()).toEqual([])
    await account.look(9 * minute)
    expect(account.told().toSorted()).toEqual([
      'API key ci was removed outside Lockkeeper.',
      'API key found was created outside Lockkeeper.',
      'Elastic IP `203.0.113.10` moved from web-2 to web-1 outside Lockkeeper.',
    ])
    expect(account.calls).toHaveLength(2)
  })

  test('removes are told once two whole lists in a row lack them', async () => {
    const account = await seenAccount()
    account.lists.apiKeys = keysCalled('laptop')
    await account.look()
    account.lists.apiKeys = keysCalled('laptop', 'ci')
    await account.look()
    account.lists.apiKeys = keysCalled('laptop')
    account.world.missing = { isWhole: false, unreadable: 1 }
    await account.later()
    await account.later()
    expect(account.told()).toEqual([])

    account.world.missing = {}
    await account.look()
    await account.later()
    expect(account.told()).toEqual(['API key ci was removed outside Lockkeeper.'])
  })
})

describe('what Lockkeeper does itself is not told:', () => {
  /** Records a request to move the address to web-2, as it is after these steps. */
  async function moved(
    { store, redis, keys }: Awaited<ReturnType<typeof seenAccount>>,
    state: 'starting' | 'done' | 'not-started',
    ms = { sent: 0, ended: 0 },
  ) {
    const now = await store.now()
    const input = { elasticIpId: 'eip_1', serverId: web2.id }
    const { id } = await store.create(newRequestFor({ input, resource: 'elastic_ip:eip_1' }))
    const isOpen = state === 'starting'
    const fields = { state, sentAt: now + ms.sent, ...(!isOpen && { endedAt: now + ms.ended }) }
    await redis.hset(keys.record(id), Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)])))
    if (isOpen) return
    await redis.zrem(keys.open, id)
    await redis.zadd(keys.ended, now + ms.ended, id)
  }

  test.each(['starting', 'done'] as const)('a move that is %s', async (state) => {
    const account = await seenAccount()
    await moved(account, state)
    account.lists.elasticIps = [address({ server: web2 })]
    await account.look(1_000)
    await account.later()
    expect(account.told()).toEqual([])
  })

  test('a move that the list shows before the answer of the write, whose time is later than the list', async () => {
    const account = await seenAccount()
    await moved(account, 'starting', { sent: 5_000, ended: 0 })
    account.lists.elasticIps = [address({ server: web2 })]
    await account.look(1_000)
    expect(account.told()).toEqual([])
  })

  test('a write that nobody confirmed and that takes effect late', async () => {
    const account = await seenAccount()
    await moved(account, 'not-started')
    await account.later()
    await account.look(2 * hour)
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(account.told()).toEqual([])
  })

  test('but another target is, and the same target long after the move', async () => {
    const account = await seenAccount()
    await moved(account, 'starting')
    account.lists.elasticIps = [address({ server: web3 })]
    await account.later()
    expect(account.told()).toEqual([expect.stringContaining('from web-1 to web-3')])

    const other = await seenAccount()
    await moved(other, 'done')
    for (const server of [web2, web1, web2]) {
      other.lists.elasticIps = [address({ server })]
      await other.later()
    }
    expect(other.told()).toEqual([expect.stringContaining('from web-2 to web-1'), expect.stringContaining('from web-1 to web-2')])
  })

  test('keys that it made or revokes', async () => {
    const account = await seenAccount()
    const { store, redis, keys: names } = account
    const id = 'abcdef012345'.padEnd(32, '0')
    const input = { name: `new [U0ADA00001 ${id.slice(0, 12)}]`, readOnly: true, allowedIps: [] }
    await store.create({ ...newRequestFor({ kind: 'key.create', input, resource: `api_key_name:${input.name}`, id }), moreResources: [] })
    await store.create(newRequestFor({ kind: 'key.revoke', input: { keyId: 'ak_ci' }, resource: 'api_key:ak_ci' }))
    for (const each of await redis.zrange(names.open, '0', '-1')) await redis.hset(names.record(each), 'sentAt', String(await store.now()))
    account.lists.apiKeys = [...keysCalled('laptop'), apiKey('ak_new', input.name)]
    await account.later()
    await account.later()
    expect(account.told()).toEqual([])
  })

  test('keys that the audit notes as deleted', async () => {
    const account = accountWithOthers()
    account.lists.apiKeys = keysCalled('laptop', 'ci')
    await account.look(0)
    await account.app.audit.note({ act: 'ended', resourceId: 'ak_laptop' })
    account.lists.apiKeys = []
    await account.look(0)
    await account.look(0)
    expect(account.told()).toEqual(['API key ci was removed outside Lockkeeper.'])
  })
})

describe('processes', () => {
  test('tell a difference once if they see it at the same moment', async () => {
    const account = await seenAccount()
    const other = account.startProcess()
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += 11 * minute
    await Promise.all([account.turn(), other.turn(), account.turn(), other.turn()])
    await Promise.all([account.sweep(), other.sweep()])
    await account.sweep()
    expect([...account.told(), ...account.told(other)]).toHaveLength(1)
  })

  test('compare the first lists after a start with the last ones before, so that what happened meanwhile is told', async () => {
    const account = await seenAccount()
    account.lists.apiKeys = keysCalled('laptop', 'ci', 'by-hand')
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += 24 * hour
    const started = account.startProcess()
    for (let turn = 0; turn < 3; turn += 1) {
      await started.turn()
      account.world.aheadMs += 10 * minute
    }
    await started.sweep()
    const text = started.texts.join()
    expect(text).toMatch(/API key by-hand was created outside Lockkeeper\./)
    expect(text).toMatch(/moved from web-1 to web-2 outside Lockkeeper\./)
  })

  test('use a copy that another call has read, if the limit leaves them no read of their own', async () => {
    const account = await seenAccount()
    account.lists.apiKeys = keysCalled('laptop', 'ci', 'by-hand')
    Object.assign(account.world, { missing: { old: { agoMs: 20_000 } }, copyAgeMs: 20_000 })
    await account.later()
    expect(account.told()).toEqual(['API key by-hand was created outside Lockkeeper.'])
  })

  test('begin anew on an empty Redis, and tell of nothing that was there before', async () => {
    const account = await seenAccount()
    await account.redis.del(account.keys.outside)
    account.lists.elasticIps = [address({ server: web2 })]
    account.lists.apiKeys = keysCalled('other')
    await account.later()
    await account.later()
    expect(account.told()).toEqual([])
  })

  test('read one list a turn, less often the longer it is, and the other one if one cannot be read', async () => {
    const account = accountWithOthers()
    const addresses = Array.from({ length: 400 }, (_, index) => address({ id: `eip_${index}`, address: `203.0.113.${index}` }))
    account.lists.elasticIps = addresses.slice(0, 19)
    const readsIn = async (turns: number) => {
      account.world.reads = []
      for (let count = 0; count < turns; count += 1) {
        account.world.aheadMs += 15_000
        await account.turn().catch(() => {})
      }
      return account.world.reads
    }
    expect(await readsIn(4)).toEqual(['elasticIps', 'apiKeys', 'elasticIps', 'apiKeys'])

    // Five reads show a list of 400 to its end.
    account.lists.elasticIps = addresses
    await readsIn(2)
    expect((await readsIn(20)).filter((list) => list === 'elasticIps').length).toBeLessThanOrEqual(4)

    account.world.failing.add('elasticIps')
    expect((await readsIn(10)).filter((list) => list === 'apiKeys').length).toBeGreaterThan(2)
  })
})

describe('what Lockkeeper did not write', () => {
  test('does nothing, is removed and reported', async () => {
    const account = await seenAccount()
    const { redis, keys } = account
    const text = (await redis.get(keys.outside)) ?? ''
    await redis.set(keys.outside, text.replaceAll('web-1', 'web-9'))
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect([account.told(), new Set(account.world.problems)]).toEqual([[], new Set(['forged'])])
  })

  test('does nothing and stays if it was signed with a key that this process lacks', async () => {
    const account = await seenAccount()
    const before = await account.redis.get(account.keys.outside)
    const other = account.startProcess({ keyring: strangeKeyring })
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += minute
    await other.turn()
    expect([account.world.problems, await account.redis.get(account.keys.outside)]).toEqual([['unreadable'], before])
    await account.later()
    expect(account.told()).toHaveLength(1)
  })

  test('is read by a process without the older key, once one with both has had its turn', async () => {
    const account = await seenAccount()
    const [newer, older] = ['the-next-key-for-tests-32-chars-', 'a-key-for-tests-of-32-characters']
    const processWith = (stateKeys: string) =>
      account.startProcess({ keyring: createKeyring(secretsOf(stateKeys), { purpose: 'records', prefix: 'lockkeeper' }) })
    const both = processWith(`${newer},${older}`)
    expect((await both.outside()).isOutdated).toBe(true)
    await both.turn()
    const { isOutdated, outside } = await processWith(newer).outside()
    expect([isOutdated, outside.seen.elasticIps?.map(({ id }) => id), account.world.problems]).toEqual([false, ['eip_1'], []])
  })

  test('is not sent: a message that was changed, or that stands in the place of another one', async () => {
    const account = await seenAccount()
    const { redis, keys } = account
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += 11 * minute
    await account.turn()
    await account.turn()
    const [member = ''] = await redis.zrange(keys.outbox, '0', '-1')
    const id = member.split('/')[0] ?? ''
    const facts = (await redis.hget(keys.message(id), 'facts')) ?? ''
    expect(facts).toContain('moved from')
    await redis.hset(keys.message('outside-copy'), 'facts', facts)
    await redis.hset(keys.message(id), 'facts', facts.replace('moved from', 'came from'))
    await redis.zadd(keys.outbox, 0, 'outside-copy/outside')
    await account.sweep()
    expect([account.told(), await redis.zcard(keys.outbox)]).toEqual([[], 0])
  })
})
