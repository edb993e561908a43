import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../../src/domain/signing.ts'
import { newRequestFor } from '../../given/request.ts'
import { secretsOf } from '../../given/signatures.ts'
import { expectDocument } from '../../messages/documents.ts'
import { accountWithOthers, address, apiKey, minute, strangeKeyring, web1, web2, web3 } from './outside-world.ts'

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

type Account = Awaited<ReturnType<typeof seenAccount>>

/** Records a request to move the address to web-2, as it is after these steps. */
async function moved({ store, redis, keys }: Account, state: 'starting' | 'done' | 'not-started', sentMs: number) {
  const now = await store.now()
  const input = { elasticIpId: 'eip_1', serverId: web2.id }
  const { id } = await store.create(newRequestFor({ input, resource: 'elastic_ip:eip_1' }))
  const isOpen = state === 'starting'
  const fields = { state, sentAt: now + sentMs, ...(!isOpen && { endedAt: now }) }
  await redis.hset(keys.record(id), Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)])))
  if (isOpen) return
  await redis.zrem(keys.open, id)
  await redis.zadd(keys.ended, now, id)
}

const servers: Record<string, typeof web1 | undefined> = { 'web-1': web1, 'web-2': web2, 'web-3': web3 }
const lists: Record<string, Account['world']['missing']> = {
  whole: {},
  cut: { isWhole: false, cut: 'size' },
  unreadable: { isWhole: false, unreadable: 1 },
  shared: { old: { agoMs: 20_000 } },
}

/**
 * What the account shows, what Lockkeeper does, and when it compares. `moving@web-2`: the status and server of the address. `keys=ci`: the
 * keys. `cut`: what is missing in the lists. `copy=1h`: how old they are. `done`: a move of Lockkeeper to web-2. `later`: a minute, and then
 * what is told every 10 minutes.
 */
const histories: Record<string, string> = {
  'Somebody moves the address': 'active@web-2 later later',
  'While it moves, and shows no server':
    'moving@web-1 look moving@none look moving@web-2 look active@none look error@web-1 look active@web-2 later',
  'The list is older than the last one, or cut': 'active@web-2 copy=1h later copy=0m cut later',
  'Nobody looked for three hours': 'active@web-2 look=3h',
  'Keys and moves within 10 minutes': 'active@web-2 look keys=laptop,found active@web-1 look look look=9m',
  'Keys that one list lacks, or two': 'keys=laptop look keys=laptop,ci look keys=laptop unreadable later later whole look later',
  'A list that another call has read': 'keys=laptop,ci,by-hand copy=20s shared later',
  'Its own move, which is being sent': 'starting active@web-2 look=1s later',
  'Its own move, which is done': 'done active@web-2 look=1s later',
  'Its own move, in a list from before the answer': 'starting=5s active@web-2 look=1s',
  'Its own move, which nobody confirmed, takes effect late': 'not-started later look=2h active@web-2 later',
  'Its own move, and another target': 'starting active@web-3 later',
  'Its own move, and the same target long after it': 'done active@web-2 later active@web-1 later active@web-2 later',
  'Redis lost what was seen': 'lost active@web-2 keys=other later later',
  'Somebody changes in Redis what was seen': 'changed active@web-2 later',
}

const msOf = (text = '') => (Number.parseInt(text, 10) || 0) * ({ s: 1_000, m: minute, h: hour }[text.at(-1) ?? ''] ?? 0)

async function happen(account: Account, step: string): Promise<void> {
  const { world, redis, keys } = account
  const [verb = '', what = ''] = step.split('=')
  if (verb === 'look') await account.look(what ? msOf(what) : undefined)
  else if (verb === 'later') await account.later()
  else if (verb === 'keys') account.lists.apiKeys = keysCalled(...what.split(','))
  else if (verb === 'copy') world.copyAgeMs = msOf(what)
  else if (verb in lists) world.missing = lists[verb] ?? {}
  else if (verb === 'starting' || verb === 'done' || verb === 'not-started') await moved(account, verb, msOf(what))
  else if (verb === 'lost') await redis.del(keys.outside)
  else if (verb === 'changed') await redis.set(keys.outside, ((await redis.get(keys.outside)) ?? '').replaceAll('web-1', 'web-9'))
  else {
    const [status = '', server = ''] = step.split('@')
    account.lists.elasticIps = [address({ status, server: servers[server] })]
  }
}

test('what operators are told of the changes of others is in outside.md', async () => {
  const told = Object.entries(histories).map(async ([what, steps]): Promise<[string, string]> => {
    const account = await seenAccount()
    const lines = [steps]
    for (const step of steps.split(' ')) {
      await happen(account, step)
      if (!/^(look|later)/.test(step)) continue
      const said = account.told().toSorted()
      lines.push(`${step}: ${said.join(' ').replaceAll(/<!date[^>]*>/g, '(time)') || 'nothing'}`)
    }
    return [what, [...lines, ...account.calls.toSorted(), ...new Set(account.world.problems)].join('\n')]
  })
  await expectDocument('outside.md', 'What operators are told of the changes of others', await Promise.all(told))
})

describe('what Lockkeeper does itself is not told:', () => {
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
