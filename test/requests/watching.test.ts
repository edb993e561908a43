import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/domain/signing.ts'
import { newRequestFor } from './request-for-test.ts'
import { secretsOf } from './signatures-for-test.ts'
import {
  ada,
  address,
  apiKey,
  eventOn,
  here,
  minute,
  ops,
  plan,
  strangeKeyring,
  watchedAccount,
  web1,
  web2,
  web3,
} from './watching-world.ts'

const hour = 60 * minute
const day = 24 * hour

/** An address that Ada watches, and a first look at it. */
async function watchedAddress(options = {}) {
  const account = watchedAccount(options)
  account.lists.elasticIps = [address()]
  await account.watch('elasticIps', address())
  await account.later()
  return account
}

const told = ({ texts }: { texts: string[] }) => texts.splice(0)

describe('an Elastic IP that is watched', () => {
  test('is told once for each change, with who did it where the events say so', async () => {
    const account = await watchedAddress()
    expect(told(account)).toEqual([])

    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    await account.later()
    expect(told(account)).toEqual([
      ':eyes: Elastic IP `203.0.113.10` moved from web-1 to web-2 outside Lockkeeper. Author unknown. <@U0ADA00001>',
    ])
    expect(account.calls).toEqual([`post to ${here}`])

    account.lists.elasticIps = [address({ server: web2, status: 'error' })]
    account.world.events = [
      eventOn('eip_1', 'greta@nimbus.example', await account.store.now()),
      eventOn('eip_2', 'x@nimbus.example', Date.now()),
    ]
    await account.later()
    expect(told(account)).toEqual([
      ':eyes: Elastic IP `203.0.113.10` changed outside Lockkeeper: status active → error. By `greta@nimbus.example`. <@U0ADA00001>',
    ])
  })

  test('is told without an author if its event is late, comes twice or out of order, or cannot be read, and nothing follows later', async () => {
    const account = await watchedAddress()
    const before = await account.store.now()
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.failing.add('events')
    await account.later()
    expect(told(account)).toEqual([expect.stringContaining('Author unknown.')])

    account.world.failing.clear()
    const event = eventOn('eip_1', 'greta@nimbus.example', before)
    account.world.events = [event, eventOn('eip_1', 'hugo@nimbus.example', before - day), event]
    await account.later()
    await account.later()
    expect(told(account)).toEqual([])

    // The old event is from long before this change.
    account.lists.elasticIps = [address({ server: web3 })]
    await account.later()
    expect(told(account)).toEqual([expect.stringMatching(/from web-2 to web-3 outside Lockkeeper\. Author unknown\./)])
  })

  test('is told at the end of a move, and not while it moves or shows no server on the way', async () => {
    const account = await watchedAddress()
    for (const server of [web1, undefined, web2]) {
      account.lists.elasticIps = [address({ status: 'moving', server })]
      await account.later()
    }
    expect(told(account)).toEqual([])
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(told(account)).toEqual([expect.stringContaining('moved from web-1 to web-2')])
  })

  test('is told when its server no longer shows, and when it shows again', async () => {
    const account = await watchedAddress()
    account.lists.elasticIps = [address({ server: undefined })]
    await account.later()
    account.lists.elasticIps = [address()]
    await account.later()
    expect(told(account)).toEqual([
      expect.stringContaining('changed outside Lockkeeper: server web-1 → “none shown”.'),
      expect.stringContaining('moved from “none shown” to web-1 outside Lockkeeper.'),
    ])
  })

  test('is gone once two whole lists in a row lack it, and then its watch ends', async () => {
    const account = await watchedAddress()
    account.lists.elasticIps = []
    await account.later()
    account.lists.elasticIps = [address()]
    await account.later()
    account.lists.elasticIps = []
    account.world.missing = { unreadable: 1 }
    await account.later()
    await account.later()
    await account.later()
    expect([told(account), (await account.watches()).length]).toEqual([[], 1])

    account.world.missing = {}
    await account.later()
    await account.later()
    expect(told(account)).toEqual([
      ':eyes: Elastic IP `203.0.113.10` was removed outside Lockkeeper. Author unknown. This watch has ended. <@U0ADA00001>',
    ])
    expect(await account.watches()).toEqual([])
  })

  test('counts no list that is older than the last one, or that could not be read to its end', async () => {
    const account = await watchedAddress()
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.copyAgeMs = 10 * minute
    await account.later()
    account.world.copyAgeMs = 0
    account.world.missing = { cut: 'size' }
    account.world.failing.add('elasticIps')
    await expect(account.later()).rejects.toThrow("can't be read")
    expect(told(account)).toEqual([])
  })

  test('says that nothing was seen for a while if nobody looked', async () => {
    const account = await watchedAddress()
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later(3 * hour)
    expect(told(account)).toEqual([
      expect.stringMatching(
        /outside Lockkeeper\. Author unknown\. Lockkeeper didn't check between <!date\^\d+\^.*> and <!date\^\d+\^.*>, so it happened in that time\./,
      ),
    ])
  })
})

describe("Lockkeeper's own changes", () => {
  /** Records a request to move the address to web-2, as it is after these steps. */
  async function moved(
    account: Awaited<ReturnType<typeof watchedAddress>>,
    state: 'starting' | 'done' | 'not-started',
    ms = { sent: 0, ended: 0 },
  ) {
    const { store, redis, keys } = account
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

  test.each(['starting', 'done'] as const)('are not told: a move that is %s', async (state) => {
    const account = await watchedAddress({ watchChanges: true })
    await account.later()
    await moved(account, state)
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later(1_000, 3)
    await account.later(minute, 3)
    expect(told(account)).toEqual([])
  })

  test('are not told if the list shows them before the answer of the write, whose time is later than the list', async () => {
    const account = await watchedAddress()
    await moved(account, 'starting', { sent: 5_000, ended: 0 })
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later(1_000)
    expect(told(account)).toEqual([])
  })

  test('are not told if a write that nobody confirmed takes effect late', async () => {
    const account = await watchedAddress()
    await moved(account, 'not-started')
    await account.later()
    await account.later(2 * hour)
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(told(account)).toEqual([])
  })

  test('do not hide what others do: another target, and the same target long after the move', async () => {
    const account = await watchedAddress()
    await moved(account, 'starting')
    account.lists.elasticIps = [address({ server: web3 })]
    await account.later()
    expect(told(account)).toEqual([expect.stringContaining('from web-1 to web-3')])

    const other = await watchedAddress()
    await moved(other, 'done')
    other.lists.elasticIps = [address({ server: web2 })]
    await other.later()
    other.lists.elasticIps = [address()]
    await other.later()
    other.lists.elasticIps = [address({ server: web2 })]
    await other.later()
    expect(told(other)).toEqual([expect.stringContaining('from web-2 to web-1'), expect.stringContaining('from web-1 to web-2')])
  })
})

describe('a plan', () => {
  test('is told once when it is in stock, at the site if one was named, and then its watch ends', async () => {
    const account = watchedAccount()
    account.lists.plans = [plan([])]
    await account.watch('plans', plan([]), { key: 'anywhere' })
    await account.watch('plans', plan([]), { key: 'in FRA', site: 'FRA' })
    await account.later()
    expect(told(account)).toEqual([])

    account.lists.plans = [plan(['ASH'])]
    await account.later()
    await account.later()
    expect(told(account)).toEqual([':white_check_mark: Plan vm.tiny is in stock in ASH. This watch has ended. <@U0ADA00001>'])
    account.lists.plans = [plan(['ASH', 'FRA'])]
    await account.later()
    expect(told(account)).toEqual([':white_check_mark: Plan vm.tiny is in stock in FRA. This watch has ended. <@U0ADA00001>'])
    expect(await account.watches()).toEqual([])
  })

  test('is told as gone if the account no longer offers it', async () => {
    const account = watchedAccount()
    account.lists.plans = [plan([])]
    await account.watch('plans', plan([]))
    await account.later()
    account.lists.plans = []
    await account.later()
    await account.later()
    expect(told(account)).toEqual([':eyes: Plan vm.tiny is no longer offered. This watch has ended. <@U0ADA00001>'])
  })
})

describe('a server', () => {
  test('is told with each fact that differs', async () => {
    const account = watchedAccount()
    const server = { id: 'sv_1', hostname: 'web-1', status: 'on', locked: false }
    account.lists.servers = [server]
    await account.watch('servers', server)
    await account.later()
    account.lists.servers = [{ ...server, hostname: 'web-9', status: 'off', locked: true, deletedAt: Date.UTC(2026, 11, 1), label: 'x' }]
    await account.later()
    await account.later()
    expect(told(account)).toEqual([
      ':eyes: Server web-9 changed outside Lockkeeper: hostname web-1 → web-9, status on → off, locked no → yes, deletion none → `2026-12-01T00:00:00.000Z`. Author unknown. <@U0ADA00001>',
    ])
  })
})

describe('a watch', () => {
  test('ends after 30 days, and says how to begin again', async () => {
    const account = await watchedAddress()
    await account.later(30 * day)
    await account.later()
    expect(told(account)).toEqual([
      ':hourglass: The watch on Elastic IP `203.0.113.10` has ended after 30 days. To watch it again: `/infra watch ip 203.0.113.10` <@U0ADA00001>',
    ])
    expect(await account.watches()).toEqual([])
  })

  test('tells nobody who may no longer read, also if that changes before Slack has the message, and the others all the same', async () => {
    const account = await watchedAddress()
    await account.watch('elasticIps', address(), { key: 'of Ben', origin: { ...ada, userId: 'U0BEN00001' } })
    await account.later()
    account.denials.U0ADA00001 = 'deactivated'
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(told(account)).toEqual([expect.stringMatching(/outside Lockkeeper\. Author unknown\. <@U0BEN00001>$/)])
    expect((await account.watches()).map(({ key }) => key)).toEqual(['of Ben'])

    account.lists.elasticIps = [address({ server: web3 })]
    account.world.aheadMs += minute
    await account.turn()
    account.denials.U0BEN00001 = 'guest'
    await account.sweep()
    expect(told(account)).toEqual([])
  })

  test('waits while Slack does not say who somebody is', async () => {
    const account = await watchedAddress()
    account.denials.U0ADA00001 = 'person-unknown'
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect(told(account)).toEqual([])
    account.denials = Object.assign(account.denials, { U0ADA00001: undefined })
    await account.sweep()
    expect(told(account)).toEqual([expect.stringContaining('moved from web-1 to web-2')])
  })

  test('is told once if two processes see the same difference at the same moment, and if people watch meanwhile', async () => {
    const account = await watchedAddress()
    const other = account.startProcess()
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += minute
    await Promise.all([
      account.turn(),
      other.turn(),
      account.watch('elasticIps', address({ server: web2 }), { key: 'another' }),
      account.turn(),
      other.turn(),
    ])
    await Promise.all([account.sweep(), other.sweep()])
    await account.sweep()
    const all = [...told(account), ...told(other)]
    expect(all.filter((text) => text.includes('moved from web-1 to web-2'))).toHaveLength(1)
    expect((await account.watches()).map(({ key }) => key).toSorted()).toEqual(['another', 'watch of eip_1'])
  })
})

test('twenty people with twenty watches each cost as many reads as one: one list a turn, and less often the longer it is', async () => {
  const account = watchedAccount({ watchChanges: true })
  const addresses = Array.from({ length: 400 }, (_, index) => address({ id: `eip_${index}`, address: `203.0.113.${index}` }))
  account.lists.elasticIps = addresses.slice(0, 19)
  account.lists.plans = [plan([])]
  const now = await account.store.now()
  const watches = Array.from({ length: 400 }, (_, index) => {
    const { id, address: name } = addresses[index % 19] ?? address()
    return {
      key: String(index),
      list: 'elasticIps' as const,
      id,
      name,
      facts: {},
      origin: { ...ada, userId: `U${index % 20}` },
      at: now,
      until: now + day,
    }
  })
  await account.watching.change((before) => ({ next: { ...before, watches }, messages: [] }))
  const readsIn = async (turns: number) => {
    account.world.reads = []
    for (let count = 0; count < turns; count += 1) {
      account.world.aheadMs += 15_000
      await account.turn()
    }
    return account.world.reads
  }
  expect(await readsIn(4)).toEqual(['elasticIps', 'apiKeys', 'elasticIps', 'apiKeys'])

  // Five reads show a list of 400 to its end.
  account.lists.elasticIps = addresses
  await readsIn(2)
  expect((await readsIn(20)).filter((list) => list === 'elasticIps').length).toBeLessThanOrEqual(4)
})

test('without a watch nothing is read and nothing written, and a list that cannot be read does not hold up the others', async () => {
  const account = watchedAccount()
  await account.later(minute, 3)
  expect([account.world.reads, await account.redis.exists(account.keys.watching)]).toEqual([[], 0])

  await account.watch('elasticIps', address())
  await account.watch('plans', plan([]))
  account.lists.plans = [plan(['ASH'])]
  account.world.failing.add('elasticIps')
  for (let turn = 0; turn < 3; turn += 1) await account.later().catch(() => {})
  expect(told(account)).toEqual([expect.stringContaining('is in stock in ASH')])
})

describe('WATCH_CHANGES', () => {
  const keys = (...names: string[]) => names.map((name) => apiKey(`ak_${name}`, name))

  async function watchedChanges(ms = minute) {
    const account = watchedAccount({ watchChanges: true })
    account.lists.elasticIps = [address()]
    account.lists.apiKeys = keys('laptop', 'ci')
    await account.later(ms, 2)
    expect(told(account)).toEqual([])
    return account
  }

  test('tells the operators of moves, and of keys that were created or are gone, in one message at most every 10 minutes', async () => {
    const account = await watchedChanges()
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later(minute, 2)
    expect(told(account)).toEqual([
      ':eyes: *Changed outside Lockkeeper*\n•  Elastic IP `203.0.113.10` moved from web-1 to web-2 outside Lockkeeper. Author unknown.',
    ])
    expect(account.calls).toEqual([`post to ${ops}`])

    account.lists.apiKeys = keys('laptop', 'found')
    account.world.events = [eventOn('ak_found', 'greta@nimbus.example', await account.store.now())]
    account.lists.elasticIps = [address()]
    await account.later(minute, 2)
    await account.later(minute, 2)
    expect(told(account)).toEqual([])
    await account.later(9 * minute, 2)
    const [text = '', ...others] = told(account)
    expect(text.split('\n').toSorted()).toEqual([
      ':eyes: *Changed outside Lockkeeper*',
      '•  API key ci was removed outside Lockkeeper. Author unknown.',
      '•  API key found was created outside Lockkeeper. By `greta@nimbus.example`.',
      '•  Elastic IP `203.0.113.10` moved from web-2 to web-1 outside Lockkeeper. Author unknown.',
    ])
    expect(others).toEqual([])
  })

  test('does not tell of keys that Lockkeeper made, revoked or deleted', async () => {
    const account = await watchedChanges()
    const { store, redis, keys: names } = account
    const id = 'abcdef012345'.padEnd(32, '0')
    const input = { name: `new [U0ADA00001 ${id.slice(0, 12)}]`, readOnly: true, allowedIps: [] }
    await store.create({ ...newRequestFor({ kind: 'key.create', input, resource: `api_key_name:${input.name}`, id }), moreResources: [] })
    await store.create(newRequestFor({ kind: 'key.revoke', input: { keyId: 'ak_ci' }, resource: 'api_key:ak_ci' }))
    for (const each of await redis.zrange(names.open, '0', '-1')) await redis.hset(names.record(each), 'sentAt', String(await store.now()))
    account.lists.apiKeys = [...keys('laptop'), apiKey('ak_new', input.name)]
    await account.later(minute, 2)
    await account.later(minute, 2)
    expect(told(account)).toEqual([])
  })

  test('does not tell of keys that the audit notes as deleted by Lockkeeper', async () => {
    const account = await watchedChanges(0)
    await account.app.audit.note({ act: 'ended', resourceId: 'ak_laptop' })
    account.lists.apiKeys = []
    await account.later(0, 2)
    await account.later(0, 2)
    expect(told(account)).toEqual([expect.stringMatching(/API key ci was removed outside Lockkeeper[^\n]*$/)])
  })

  test('compares the first lists after a start with the last ones before, so that what happened meanwhile is told', async () => {
    const account = await watchedChanges()
    account.lists.apiKeys = keys('laptop', 'ci', 'by-hand')
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += 24 * 60 * minute
    const started = account.startProcess()
    for (let turn = 0; turn < 2; turn += 1) {
      await started.turn()
      account.world.aheadMs += 10 * minute
    }
    await started.turn()
    await started.sweep()
    const text = started.texts.join()
    expect(text).toMatch(/API key by-hand was created outside Lockkeeper\./)
    expect(text).toMatch(/moved from web-1 to web-2 outside Lockkeeper\./)
  })

  test('uses a copy that another call has read, if the limit leaves it no read of its own', async () => {
    const account = await watchedChanges()
    account.lists.apiKeys = keys('laptop', 'ci', 'by-hand')
    Object.assign(account.world, { missing: { old: { agoMs: 20_000 } }, copyAgeMs: 20_000 })
    await account.later(minute, 2)
    expect(told(account)).toEqual([expect.stringMatching(/API key by-hand was created outside Lockkeeper/)])
  })

  test('begins anew on an empty Redis, and tells of nothing that was there before', async () => {
    const account = await watchedChanges()
    await account.redis.del(account.keys.watching)
    account.lists.elasticIps = [address({ server: web2 })]
    account.lists.apiKeys = keys('other')
    await account.later(minute, 2)
    await account.later(minute, 2)
    expect(told(account)).toEqual([])
  })
})

describe('what Lockkeeper did not write', () => {
  test('does nothing, is removed and reported', async () => {
    const account = await watchedAddress()
    const { redis, keys } = account
    const text = (await redis.hget(keys.watching, 'text')) ?? ''
    await redis.hset(keys.watching, 'text', text.replaceAll(here, 'C0SECRET01'))
    account.lists.elasticIps = [address({ server: web2 })]
    await account.later()
    expect([told(account), new Set(account.world.problems), await account.watches()]).toEqual([[], new Set(['forged']), []])
  })

  test('does nothing and stays if it was signed with a key that this process lacks', async () => {
    const account = await watchedAddress()
    const before = await account.redis.hgetall(account.keys.watching)
    const other = account.startProcess({ keyring: strangeKeyring })
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += minute
    await other.turn()
    expect([account.world.problems, await account.redis.hgetall(account.keys.watching)]).toEqual([['unreadable'], before])
    await account.later()
    expect(told(account)).toHaveLength(1)
  })

  test('is read by a process without the older key, once one with both has had its turn', async () => {
    const account = await watchedAddress()
    const [newer, older] = ['the-next-key-for-tests-32-chars-', 'a-key-for-tests-of-32-characters']
    const processWith = (stateKeys: string) =>
      account.startProcess({ keyring: createKeyring(secretsOf(stateKeys), { purpose: 'watches', prefix: 'lockkeeper' }) })
    const both = processWith(`${newer},${older}`)
    expect((await both.watching.read()).isOutdated).toBe(true)
    await both.turn()
    expect(await processWith(newer).watching.read()).toMatchObject({ watching: { watches: [{ id: 'eip_1' }] }, isOutdated: false })
    expect(account.world.problems).toEqual([])
  })

  test('is not sent: a message that was changed, or that stands in the place of another one', async () => {
    const account = await watchedAddress()
    const { redis, keys } = account
    account.lists.elasticIps = [address({ server: web2 })]
    account.world.aheadMs += minute
    await account.turn()
    const [member = ''] = await redis.zrange(keys.outbox, '0', '-1')
    const id = member.split('/')[0] ?? ''
    const facts = (await redis.hget(keys.message(id), 'facts')) ?? ''
    await redis.hset(keys.message('watch-copy'), 'facts', facts)
    await redis.hset(keys.message(id), 'facts', facts.replace(here, 'C0SECRET01'))
    await redis.zadd(keys.outbox, 0, 'watch-copy/watch')
    await account.sweep()
    await delay(10)
    expect([told(account), await redis.zcard(keys.outbox)]).toEqual([[], 0])
  })
})
