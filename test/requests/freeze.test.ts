import { describe, expect, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { createFreezes, freezeOnAt } from '../../src/requests/freeze.ts'
import { createStore } from '../../src/requests/store.ts'
import { auditSigning } from './audit-for-test.ts'
import { connectTestRedis } from './redis-for-test.ts'
import { requestKeyring, signatures } from './signatures-for-test.ts'

const hours = 3_600_000
const byBen = { isOn: true, by: 'U0BEN00001', reason: 'the data centre has no power', channelId: 'C0OPS00001' }
const lifted = { isOn: false, by: 'U0CHI00001' }
const unknownKeyring = createKeyring([new Secret('a-key-that-nobody-here-knows-of!')], { purpose: 'requests', prefix: 'lockkeeper' })

function startFreezes() {
  const { redis, keys } = connectTestRedis()
  const clock = { ahead: 0 }

  /** A process with a memory of its own. */
  function startProcess(keyring = requestKeyring) {
    const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, ...auditSigning() })
    const store = createStore({ redis, keys, audit, signatures })
    const now = async () => (await store.now()) + clock.ahead
    const freezes = createFreezes({ redis, keys, audit, store: { ...store, now } }, keyring)
    const isHeld = async () => {
      const found = await freezes.read()
      const at = await now()
      return found.freezes.some(({ from, to }) => from <= at && at < to)
    }
    /** What is wrong with the record, if anything, and whether everything is held. */
    const judge = async () => ({ problem: (await freezes.read()).problem, isHeld: await isHeld() })
    const isOn = async () => freezeOnAt(await freezes.read(), await now()) !== undefined
    return { ...freezes, audit, store, now, isHeld, judge, isOn }
  }
  const record = async () => (await redis.get(keys.freeze)) ?? ''
  const put = (text: string) => redis.set(keys.freeze, text)
  const letPass = (ms: number) => {
    clock.ahead += ms
  }
  return { redis, keys, startProcess, record, put, letPass }
}

const free = { problem: undefined, isHeld: false }

describe('an empty Redis', () => {
  test('is free, also if several processes start on it at the same moment', async () => {
    const { startProcess, record } = startFreezes()
    const found = await Promise.all([startProcess(), startProcess(), startProcess()].map(({ read }) => read()))
    expect(found.map(({ text }) => text)).toEqual(Array(3).fill(await record()))
    expect(await startProcess().judge()).toEqual(free)
  })
})

describe('a freeze', () => {
  test('holds everything in all processes once it is set, and is over in all of them once it is lifted', async () => {
    const { startProcess } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    expect(await theirs.judge()).toEqual(free)

    await mine.set(byBen)
    expect([await mine.isHeld(), await theirs.isHeld(), await startProcess().isHeld()]).toEqual([true, true, true])
    await theirs.set(lifted)

    expect([await mine.judge(), await theirs.judge(), await startProcess().judge()]).toEqual([free, free, free])
  })

  test('ends with its time, and is remembered for 14 days', async () => {
    const { startProcess, letPass } = startFreezes()
    const { set, judge, isOn, now, read } = startProcess()
    const until = (await now()) + hours
    const { from } = await set({ ...byBen, until })
    expect([await isOn(), (await judge()).isHeld]).toEqual([true, true])

    letPass(hours)
    expect([await isOn(), await judge()]).toEqual([false, free])
    await set(lifted)
    expect((await read()).freezes).toEqual([{ name: ownFreezeName, from, to: until }])

    letPass(15 * 24 * hours)
    await set(lifted)
    expect((await read()).freezes).toEqual([])
  })

  test('is noted with its number, end and reason, however many people set and lift it at the same moment', async () => {
    const { startProcess, redis, keys } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    const until = (await mine.now()) + hours
    const nexts = Array.from({ length: 10 }, (_, index) =>
      index % 3 === 0 ? { ...lifted, by: `U${index}` } : { ...byBen, by: `U${index}`, until },
    )
    const set = await Promise.all(nexts.map((next, index) => (index % 2 === 0 ? mine : theirs).set(next)))

    const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
    expect(set.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(numbers)
    await mine.audit.chained()
    const entries = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => JSON.parse(text))
    expect(entries.map(({ freeze }) => freeze)).toEqual(numbers)
    for (const { number, isOn, by: setBy } of set) {
      const { act, by, reason, until: end } = entries[number - 1]
      expect({ act, by, reason, end }).toEqual(
        isOn
          ? { act: 'freeze', by: setBy, reason: byBen.reason, end: until }
          : { act: 'unfreeze', by: setBy, reason: undefined, end: undefined },
      )
    }
    expect((await startProcess().read()).record).toEqual(set.find(({ number }) => number === 10))
  })
})

/** A freeze was set twice and lifted once, so that the record of each is known to somebody who read along. */
async function withHistory() {
  const world = startFreezes()
  const first = world.startProcess()
  await first.read()
  const texts = [await world.record()]
  for (const next of [byBen, lifted, byBen]) {
    await first.set(next)
    texts.push(await world.record())
  }
  return { ...world, first, texts: texts as [string, string, string, string] }
}
type History = Awaited<ReturnType<typeof withHistory>>

const changed = (text: string, more: object) => JSON.stringify({ ...JSON.parse(text), ...more })

const tampered: [string, (world: History) => Promise<unknown>, string][] = [
  ['removed', ({ redis, keys }) => redis.del(keys.freeze), 'missing'],
  ['replaced by the one from before the first freeze', ({ put, texts }) => put(texts[0]), 'older'],
  ['replaced by the one that lifted an earlier freeze', ({ put, texts }) => put(texts[2]), 'older'],
  ['replaced by a list', ({ redis, keys }) => redis.multi().del(keys.freeze).rpush(keys.freeze, 'free').exec(), 'forged'],
  ['turned off', ({ put, texts }) => put(changed(texts[3], { isOn: false })), 'forged'],
  ['given an end', ({ put, texts }) => put(changed(texts[3], { until: 1 })), 'forged'],
  [
    'given the signature of another',
    ({ put, texts }) => put(changed(texts[3], { isOn: false, signature: JSON.parse(texts[2]).signature })),
    'forged',
  ],
  ['left without a signature', ({ put, texts }) => put(changed(texts[3], { signature: undefined })), 'forged'],
  [
    'signed with an unknown key',
    ({ put, texts }) => {
      const { signature, ...record } = JSON.parse(texts[2])
      return put(JSON.stringify({ ...record, number: 9, signature: unknownKeyring.sign({ signed: 'freeze', ...record, number: 9 }) }))
    },
    'unknown-key',
  ],
  ...['', '{', 'null', '[]', '0', '{"number":99}'].map((text): (typeof tampered)[number] => [
    `damaged: ${JSON.stringify(text)}`,
    ({ put }) => put(text),
    'forged',
  ]),
]

describe.each(tampered)('a record that was %s', (_, tamper, problem) => {
  test('holds everything in the process that set it, in one that read it before, and after a restart, until lifted', async () => {
    const world = await withHistory()
    const { first, startProcess, letPass, redis, keys } = world
    const reader = startProcess()
    await reader.read()

    await tamper(world)
    // What a process found in the audit counts for 5 s.
    letPass(5_000)

    const found = { problem, isHeld: true }
    expect([await first.judge(), await reader.judge(), await startProcess().judge()]).toEqual([found, found, found])
    const { number } = await reader.set(lifted)
    expect(number).toBe(4)
    expect([await first.judge(), await reader.judge(), await startProcess().judge()]).toEqual([free, free, free])
    expect(await redis.get(keys.freeze)).toContain('"number":4')
  })
})

describe('somebody who writes to Redis', () => {
  test('cannot lift a freeze by removing it in the 5 s after another process has searched the audit', async () => {
    const { startProcess, redis, keys } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    expect(await theirs.judge()).toEqual(free)
    await mine.set(byBen)
    await redis.del(keys.freeze)

    expect(await theirs.judge()).toEqual({ problem: 'missing', isHeld: true })
  })

  test('cannot hold everything with an entry of their own in the audit', async () => {
    const { startProcess, redis, keys } = startFreezes()
    await startProcess().read()
    await redis.xadd(keys.auditIntake, '*', 'note', JSON.stringify({ act: 'freeze', freeze: 7 }), 'at', '1')
    expect(await startProcess().judge()).toEqual(free)
  })

  test('cannot put an older record back after the clock of Redis was an hour ahead', async () => {
    const { startProcess, letPass, put, record } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    const before = (await mine.read()).text
    letPass(hours)
    for (let times = 0; times < 2; times += 1) await theirs.read()
    letPass(-hours)
    await mine.set(byBen)
    expect(await record()).not.toBe(before)
    await put(before)
    letPass(10_000)

    expect(await theirs.judge()).toEqual({ problem: 'older', isHeld: true })
  })
})

describe('a clock of Redis that goes back by an hour', () => {
  test('does not end a freeze that was set before', async () => {
    const { startProcess, letPass } = startFreezes()
    const { set, isHeld, isOn } = startProcess()
    letPass(hours)
    await set(byBen)
    letPass(-hours)
    expect([await isOn(), await isHeld(), await startProcess().isHeld()]).toEqual([true, true, true])
  })
})

describe('a record that nobody has replaced for a day', () => {
  test('is renewed, so that a process that starts searches only the audit since then, and stays what it was', async () => {
    const { startProcess, letPass, record } = startFreezes()
    await startProcess().set(byBen)
    const before = JSON.parse(await record())
    letPass(23 * hours)
    await startProcess().read()
    expect(JSON.parse(await record())).toEqual(before)

    letPass(2 * hours)
    const processes = [startProcess(), startProcess()]
    await Promise.all(processes.map(({ read }) => read()))

    const { searchedUntil, signature, ...renewed } = JSON.parse(await record())
    expect(before).toMatchObject(renewed)
    expect(searchedUntil).toBeGreaterThanOrEqual(before.searchedUntil + 25 * hours)
    for (const { judge } of processes) expect(await judge()).toEqual({ problem: undefined, isHeld: true })
  })
})
