import { describe, expect, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { createKeyring } from '../../src/domain/signing.ts'
import { mayStartUntil } from '../../src/domain/starts.ts'
import { createFreezes, type FreezeMemory, type FreezeRecord, freezeOnAt } from '../../src/record/freeze.ts'
import { createStore } from '../../src/record/store.ts'
import { seal } from '../../src/redis/sealed.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'
import { changedFacts, factsOf, recordKeyring, secretsOf, signatures } from '../given/signatures.ts'

const minutes = 60_000
const hours = 60 * minutes
const byBen = { by: 'U0BEN00001', reason: 'the data centre has no power', channelId: 'C0OPS00001' }
const byChi = { by: 'U0CHI00001' }
const keyringOf = (...keys: string[]) => createKeyring(secretsOf(keys.join()), { purpose: 'requests', prefix: 'lockkeeper' })
const [ours, newer] = ['the-key-that-everybody-has-here!!', 'a-key-that-is-newer-than-the-other']

function startFreezes() {
  const { redis, keys } = connectTestRedis()
  const clock = { ahead: 0 }

  /** A process with a memory of its own. Two connections of one process share it. */
  function startProcess(keyring = recordKeyring, memory: FreezeMemory = { seen: 0 }) {
    const told: string[] = []
    const audit = createAudit({ redis, keys, print: () => {}, onError: () => {}, ...auditSigning() })
    const store = createStore({ redis, keys, audit, signatures })
    const now = async () => (await store.now()) + clock.ahead
    const freezes = createFreezes({ redis, keys, audit, store: { ...store, now } }, keyring, {
      memory,
      opsChannel: 'C0NIGHT001',
      onUnknownKey: () => void told.push('unknown-key'),
      onDistrust: (why) => void told.push(why),
    })
    const isHeld = async (at?: number) => {
      const found = (await freezes.read()).freezes
      const time = at ?? (await now())
      return found.some(({ from, to }) => from <= time && time < to)
    }
    const isOn = async () => freezeOnAt(await freezes.read(), await now()) !== undefined
    const because = async () => (await freezes.read()).record?.because
    const set = async (next: Parameters<typeof freezes.set>[0] = byBen) => (await freezes.set(next)) as FreezeRecord
    const lift = async () => (await freezes.lift(byChi)) as FreezeRecord
    return { ...freezes, set, lift, trySet: freezes.set, tryLift: freezes.lift, audit, store, now, isHeld, isOn, because, told }
  }
  const record = async () => (await redis.get(keys.freeze)) ?? ''
  const put = (text: string) => redis.set(keys.freeze, text)
  const letPass = (ms: number) => {
    clock.ahead += ms
  }
  async function noted() {
    const { audit } = startProcess()
    await audit.chained()
    const entries = (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => JSON.parse(text))
    return entries.filter(({ act }) => act === 'freeze' || act === 'unfreeze')
  }
  const owed = async () => (await redis.zrange(keys.outbox, '0', '-1')).toSorted()
  return { redis, keys, startProcess, record, put, letPass, noted, owed }
}

test('an empty Redis is free, whatever processes start on it at the same moment, and whatever key the next ones sign with', async () => {
  const { startProcess, record, noted, owed } = startFreezes()
  const found = await Promise.all([startProcess(), startProcess(), startProcess()].map(({ isHeld }) => isHeld()))
  expect(found).toEqual([false, false, false])
  expect(await startProcess(keyringOf(newer)).isHeld()).toBe(false)
  expect([await record(), await noted(), await owed()]).toEqual(['', [], []])
})

describe('a freeze', () => {
  test('holds everything in all processes once it is set, and is over in all of them once it is lifted', async () => {
    const { startProcess } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    expect(await theirs.isHeld()).toBe(false)

    await mine.set()
    expect([await mine.isHeld(), await theirs.isHeld(), await startProcess().isHeld()]).toEqual([true, true, true])
    await theirs.lift()

    expect([await mine.isHeld(), await theirs.isHeld(), await startProcess().isHeld()]).toEqual([false, false, false])
    expect(await mine.tryLift(byChi)).toBeUndefined()
  })

  test('ends with its time', async () => {
    const { startProcess, letPass } = startFreezes()
    const { set, isHeld, isOn, now } = startProcess()
    await set({ ...byBen, until: (await now()) + hours })
    expect([await isOn(), await isHeld()]).toEqual([true, true])

    letPass(hours)
    expect([await isOn(), await isHeld(), await startProcess().isHeld()]).toEqual([false, false, false])
  })

  test('is noted with its end and reason, however many people set and lift it at the same moment', async () => {
    const { startProcess, noted, record } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    const until = (await mine.now()) + hours
    await mine.set({ ...byBen, until })
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const { set, tryLift } = index % 2 === 0 ? mine : theirs
        return index % 3 === 0 ? tryLift({ by: `U${index}` }) : set({ ...byBen, by: `U${index}`, until })
      }),
    )

    const changes = all.filter((each) => typeof each === 'object')
    const numbers = changes.map(({ revision }) => revision).toSorted((a, b) => a - b)
    expect(new Set(numbers).size).toBe(numbers.length)
    const inOrder = changes.toSorted((a, b) => a.revision - b.revision)
    expect((await noted()).slice(1).map(({ act, by, until: end }) => [act, by, end])).toEqual(
      inOrder.map(({ isOn, by }) => (isOn ? ['freeze', by, until] : ['unfreeze', by, undefined])),
    )
    expect(factsOf(await record())).toMatchObject({ revision: numbers.at(-1) })
  })

  test('is not lifted by the button of another one', async () => {
    const { startProcess } = startFreezes()
    const { set, tryLift, isOn } = startProcess()
    const first = await set()
    const second = await set()
    expect(await tryLift(byChi, first.id)).toBeUndefined()
    expect(await isOn()).toBe(true)
    expect(await tryLift(byChi, second.id)).toMatchObject({ isOn: false, ends: second.id })
  })

  test('that a person sets or lifts is announced by that process, and by a tick only if the process did not', async () => {
    const { startProcess, redis, keys } = startFreezes()
    const { set, lift, now } = startProcess()
    for (const change of [set, lift]) {
      const { id } = await change()
      const dues = ['here', 'ops'].map((where) => redis.zscore(keys.outbox, `freeze-${id}-set-${where}/freeze`))
      for (const due of await Promise.all(dues)) expect(Number(due) - (await now())).toBeGreaterThan(1_000)
    }
  })

  test('that begins later holds nothing until then, and is refused while another one is on', async () => {
    const { startProcess, letPass, record, owed } = startFreezes()
    const { trySet, set, lift, isHeld, isOn, now } = startProcess()
    const from = (await now()) + hours
    await set({ ...byBen, from, until: from + hours })
    const whens = (await owed()).map((member) => /-(set|begun|over)-(here|ops)/.exec(member)?.[0])
    expect(whens.toSorted()).toEqual(['-begun-here', '-begun-ops', '-over-here', '-over-ops', '-set-here', '-set-ops'])
    expect([await isOn(), await isHeld(), await isHeld(from), await isHeld(from + hours)]).toEqual([false, false, true, false])
    letPass(hours)
    expect([await isOn(), await isHeld(), await startProcess().isHeld()]).toEqual([true, true, true])

    const before = await record()
    expect(await trySet({ ...byBen, from: from + 2 * hours })).toBe('is-on')
    expect(await record()).toBe(before)
    await lift()
    await set({ ...byBen, from: from + 3 * hours })
    expect(await trySet({ ...byBen, from: from + 4 * hours })).toBe('is-on')
    expect(await lift()).toMatchObject({ isOn: false })
    letPass(4 * hours)
    expect(await isHeld()).toBe(false)
  })
})

test('a freeze at once keeps the planned one in the same record: it holds at its time, whatever became of the first, until it is lifted', async () => {
  for (const how of ['over', 'lifted', 'replaced', 'still on'] as const) {
    const { startProcess, letPass, record, owed } = startFreezes()
    const { set, lift, tryLift, trySet, isHeld, isOn, read, now } = startProcess()
    const [start, planned] = [await now(), await set({ ...byBen, from: (await now()) + 2 * hours, until: (await now()) + 4 * hours })]
    const first = await set({ ...byChi, until: how === 'still on' ? start + 3 * hours : start + hours })
    const members = (await owed()).filter((member) => member.includes(planned.id))
    expect(factsOf(await record())).toMatchObject({ id: first.id, next: { id: planned.id, by: byBen.by } })
    expect(await tryLift(byChi, planned.id)).toBeUndefined()
    expect(await trySet({ ...byBen, from: start + 5 * hours })).toBe('is-on')
    if (how === 'lifted') expect(await lift()).toMatchObject({ ends: first.id, next: { id: planned.id } })
    if (how === 'replaced')
      expect(await set({ ...byChi, until: start + hours / 2 })).toMatchObject({ ends: first.id, next: { id: planned.id } })
    const at = [start + hours / 4, start + 1.5 * hours, start + 2.5 * hours, start + 3.5 * hours, planned.until ?? 0]
    const held = await Promise.all(at.map((each) => isHeld(each)))
    expect(held).toEqual([how !== 'lifted', how === 'still on', true, true, false])

    letPass(1.5 * hours)
    expect([await isOn(), await trySet({ ...byBen, from: start + 5 * hours })]).toEqual([how === 'still on', 'is-on'])
    expect((await owed()).filter((member) => member.includes(planned.id))).toEqual(members)
    letPass(2 * hours)
    expect([await isOn(), await isHeld(), await startProcess().isHeld()]).toEqual([true, true, true])
    expect(await lift()).toMatchObject({ ends: planned.id, next: undefined })
    expect([await isOn(), await isHeld()]).toEqual([false, false])
    const ids = (await read()).freezes.map(({ ownId }) => ownId)
    expect(ids).toEqual(expect.arrayContaining([first.id, planned.id]))
  }
})

test('a record of version 0.1.0, whose earlier freezes have no ids, is believed', async () => {
  const { startProcess, put, record } = startFreezes()
  const { set, now } = startProcess()
  await set()
  const facts = { ...factsOf(await record()), before: [{ from: (await now()) - hours, to: (await now()) - minutes }] }
  await put(seal(recordKeyring, 'freeze', facts))
  const after = startProcess()
  expect([await after.isOn(), after.told, (await after.lift()).by]).toEqual([true, [], byChi.by])
  expect(await after.isHeld()).toBe(false)
})

test('a planned freeze that is canceled after the first one never holds', async () => {
  const { startProcess, letPass } = startFreezes()
  const { set, lift, isHeld, now } = startProcess()
  const planned = await set({ ...byBen, from: (await now()) + hours })
  await set(byChi)
  await lift()
  expect(await lift()).toMatchObject({ ends: planned.id })
  letPass(2 * hours)
  expect(await isHeld()).toBe(false)
})

describe('what a freeze held may start until half an hour after its end', () => {
  /**
   * Freezes in minutes after the approval: `10-100` was set and lifted then, `10-` is on, and `110@120` was set to begin later. Returns until
   * when it may start, in minutes.
   */
  async function untilOf(spans: string, window?: [opens: number, closes: number]) {
    const { startProcess, letPass } = startFreezes()
    const { set, lift, read, now } = startProcess()
    // Windows end at whole minutes.
    letPass(minutes - ((await now()) % minutes))
    const approvedAt = await now()
    const passTo = async (minute: string) => letPass(approvedAt + Number(minute) * minutes - (await now()))
    for (const [, begin = '', from, end] of spans.matchAll(/(\d+)(?:@(\d+))?-?(\d+)?/g)) {
      await passTo(begin)
      await set({ ...byBen, ...(from && { from: approvedAt + Number(from) * minutes }) })
      if (!end) continue
      await passTo(end)
      await lift()
    }
    const { freezes } = await read()
    const clock = (minute: number) => new Date(approvedAt + minute * minutes).toISOString().slice(11, 16)
    const windows = (window ? [window] : []).map(([opens, closes]) => ({
      ...{ name: 'office', days: [1, 2, 3, 4, 5, 6, 7], zone: 'UTC' },
      ...{ from: clock(opens), to: clock(closes) },
    }))
    const until = mayStartUntil({ approvedAt }, { windows, freezes, kind: 'ip.move', project: 'none' })
    return Math.round((until - approvedAt) / minutes)
  }

  const forever = 14 * 24 * 60 + 30
  test.each([
    ['one', '10-100', 130],
    ['one that began right before it was missed', '29-100', 130],
    ['one that began after it was missed', '32-100', 30],
    ['one that is on', '10-', forever],
    ['another one soon after it', '10-100 125-300', 330],
    ['a third one soon after that', '10-100 125-300 320-400', 430],
    ['one that replaces it', '10- 90-200', 230],
    ['another one after it was missed', '10-100 140-300', 130],
    ['one that begins later and is set soon after it', '10-100 110@120', forever],
    ['one that begins after it was missed, and is set soon after the first', '10-100 110@200', 130],
  ])('%s', async (_, spans, minute) => {
    expect(await untilOf(spans)).toBe(minute)
  })

  test('at most until it is too late for the change, whatever holds it', () => {
    const approvedAt = Date.now()
    const of = { windows: [], kind: 'key.rotate' as const, project: 'none' as const, tooLateAt: approvedAt + 20 * minutes }
    const freeze = { ...byBen, name: 'freeze', from: approvedAt, until: approvedAt + 2 * hours, changes: ['key.rotate'] } as never
    for (const freezes of [[], [freeze]]) expect(mayStartUntil({ approvedAt }, { ...of, freezes }, hours)).toBe(of.tooLateAt)
  })

  test('also if its window was closed then, whatever freezes come and go before that opens again', async () => {
    const tomorrow = await untilOf('10-100', [20, 60])
    expect(tomorrow).toBeGreaterThan(24 * 60)
    for (const others of ['500-600', '131-132 500-600 601-640', '500@550-501'])
      expect(await untilOf(`10-100 ${others}`, [20, 60])).toBe(tomorrow)
  })
})

/** A freeze was set twice and lifted once, so that the record of each is known to somebody who read along. */
async function withHistory() {
  const world = startFreezes()
  const first = world.startProcess()
  await first.read()
  const texts: string[] = []
  for (const next of [first.set, first.lift, () => first.set({ ...byBen, until: Date.now() + 10 * hours })]) {
    await next()
    texts.push(await world.record())
  }
  return { ...world, first, texts: texts as [string, string, string] }
}
type History = Awaited<ReturnType<typeof withHistory>>

const opsMessage = /^freeze-[0-9a-f-]{36}-set-ops\/freeze$/

const tampered: [string, (world: History) => Promise<unknown>, string][] = [
  ['removed', ({ redis, keys }) => redis.del(keys.freeze), 'freeze-missing'],
  ['replaced by the one of an earlier freeze', ({ put, texts }) => put(texts[0]), 'freeze-older'],
  ['replaced by the one that lifted an earlier freeze', ({ put, texts }) => put(texts[1]), 'freeze-older'],
  ['replaced by a list', ({ redis, keys }) => redis.multi().del(keys.freeze).rpush(keys.freeze, 'free').exec(), 'freeze-forged'],
  ['turned off', ({ put, texts }) => put(changedFacts(texts[2], { isOn: false })), 'freeze-forged'],
  ['given an end', ({ put, texts }) => put(changedFacts(texts[2], { until: 1 })), 'freeze-forged'],
  ['moved to later', ({ put, texts }) => put(changedFacts(texts[2], { from: Date.now() + hours })), 'freeze-forged'],
  ['given the signature of another', ({ put, texts }) => put(changedFacts(texts[2], { isOn: false }, texts[1])), 'freeze-forged'],
  ['left without a signature', ({ put, texts }) => put(JSON.stringify(factsOf(texts[2]))), 'freeze-forged'],
  ...['{', 'null', '[]', '0', '{"revision":99}'].map((text): (typeof tampered)[number] => [
    `damaged: ${JSON.stringify(text)}`,
    ({ put }) => put(text),
    'freeze-forged',
  ]),
]

/** Who finds it. `after`: how many processes start after it. */
const finders: [string, (before: History) => ReturnType<History['startProcess']>[], after?: number][] = [
  ['several that read it before, at the same moment', ({ startProcess }) => [startProcess(), startProcess(), startProcess()]],
  ['the process that set it, and one that read it before', ({ first, startProcess }) => [first, startProcess()]],
  ['the processes after a restart', () => [], 2],
]

describe.each(tampered)('a record that was %s', (how, tamper, why) => {
  // The first of each kind is found by all of them.
  const isFirst = tampered.find(([, , other]) => other === why)?.[0] === how
  test.each(isFirst ? finders : finders.slice(0, 1))(
    'freezes everything once, without an end, in all processes, found by %s',
    async (_, readers, starting = 0) => {
      const world = await withHistory()
      const { startProcess, noted, owed, record } = world
      const found = readers(world)
      for (const { read } of found) await read()
      const before = await owed()

      await tamper(world)
      for (let more = 0; more < starting; more += 1) found.push(startProcess())
      for (const held of await Promise.all(found.map(({ isHeld }) => isHeld()))) expect(held).toBe(true)

      const newest = (await noted()).slice(3)
      expect(newest).toMatchObject([{ act: 'freeze', causes: [{ code: why }] }])
      expect(newest[0]).not.toHaveProperty('until')
      expect(found.flatMap(({ told }) => told)).toEqual([why])
      expect((await owed()).filter((member) => !before.includes(member))).toEqual([expect.stringMatching(opsMessage)])
      expect(await startProcess().because()).toBe(why)
      const kept = await record()
      for (const { read } of found) await read()
      expect(await record()).toBe(kept)

      await found[0]?.lift()
      for (const { isHeld } of [...found, startProcess()]) expect(await isHeld()).toBe(false)
    },
  )
})

test('an emergency approval has to name the freeze that it passes, which keeps its name once it is lifted and another one is set', async () => {
  const { startProcess, redis, keys } = startFreezes()
  const { set, lift, read, stopAll } = startProcess()
  const lastId = async () => (await read()).freezes.at(-1)?.ownId
  await set()
  const byPerson = await lastId()
  await redis.del(keys.freeze)
  const missing = await lastId()
  await stopAll('set-back')
  const lost = await lastId()
  expect(new Set([byPerson, missing, lost, undefined]).size).toBe(4)
  await lift()
  expect(await lastId()).toBe(lost)
  await set()
  expect((await read()).freezes.map(({ ownId }) => ownId).slice(-2, -1)).toEqual([lost])
})

describe('somebody who writes to Redis', () => {
  test('cannot lift a freeze by removing it before another process has read it: the one that set it misses it at its next look', async () => {
    const { startProcess, redis, keys } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    expect(await theirs.isHeld()).toBe(false)
    await mine.set()
    await redis.del(keys.freeze)
    await mine.newest()

    expect([await theirs.isHeld(), await theirs.because()]).toEqual([true, 'freeze-missing'])
  })

  test.each([
    ['freeze', false],
    ['unfreeze', true],
  ])('neither holds nor lifts anything with an entry of their own in the audit: %s', async (act, isOn) => {
    const { startProcess, redis, keys } = startFreezes()
    const first = startProcess()
    if (isOn) await first.set()
    await first.audit.chained()
    await redis.xadd(keys.auditIntake, '*', 'note', JSON.stringify({ act }), 'at', String(Date.now()))
    await redis.del(keys.freeze)

    expect(await startProcess().isHeld()).toBe(isOn)
  })

  test.each([
    ['that they made', async () => JSON.stringify({ at: Date.now() + hours, signature: 'x' })],
    ['with another time', async (look: string) => changedFacts(look, { at: Date.now() + hours })],
    ['that is no look', async () => 'free'],
    ['from before', async (look: string) => look],
  ])('cannot hide the removal of a record over a restart with a look at the audit %s', async (_, lookOf) => {
    const { startProcess, redis, keys } = startFreezes()
    const { read, set } = startProcess()
    await read()
    const look = (await redis.get(keys.freezeLook)) ?? ''
    await set()
    await redis.del(keys.freeze)
    await redis.set(keys.freezeLook, await lookOf(look))

    expect(await startProcess().because()).toBe('freeze-missing')
  })

  test.each<[string, (world: ReturnType<typeof startFreezes>, lifted: string) => Promise<unknown>, string]>([
    ['removes the record', ({ redis, keys }) => redis.del(keys.freeze), 'freeze-missing'],
    ['puts back the record that lifted an earlier one', ({ put }, lifted) => put(lifted), 'freeze-older'],
    [
      'does so and copies the entry that lifted an earlier one',
      async ({ put, redis, keys }, lifted) => {
        const [, lift = []] = await redis.xrange(keys.audit, '-', '+')
        const { seq, prev, at, to, ...note } = JSON.parse(String(lift[1]?.[1]))
        await redis.xadd(keys.auditIntake, '*', 'note', JSON.stringify(note), 'at', String(Date.now()))
        await put(lifted)
      },
      'freeze-older',
    ],
  ])('cannot lift one from before the last start, while no process runs: %s', async (_, tamper, why) => {
    const world = startFreezes()
    const { startProcess, record, letPass } = world
    const { set, lift, audit } = startProcess()
    await set()
    await lift()
    const lifted = await record()
    letPass(hours)
    await startProcess().read()
    await set()
    await audit.chained()
    // By now, the audit of a start is read from here on.
    letPass(hours)
    await startProcess().read()

    await tamper(world, lifted)
    expect(await startProcess().because()).toBe(why)
  })

  test('cannot lift one with a record from before all data was lost', async () => {
    const { startProcess, record, put, redis, keys } = startFreezes()
    const before = startProcess()
    for (const step of [before.set, before.lift, before.set, before.lift]) await step()
    const lifted = await record()
    await before.audit.settle()
    await redis.del(...(await redis.keys(`${keys.queuePrefix}*`)))
    const after = startProcess()
    await after.set()

    await put(lifted)
    expect(await after.because()).toBe('freeze-older')
  })

  test('cannot lift one with a record that lifted another while this one was set on an older record', async () => {
    const { startProcess, record, put, letPass } = startFreezes()
    const [mine, theirs] = [startProcess(), startProcess()]
    await mine.set()
    await theirs.read()
    const first = await record()
    await mine.lift()
    const lifted = await record()
    await put(first)
    letPass(minutes)
    await theirs.set()

    await put(lifted)
    expect(await theirs.isOn()).toBe(true)
  })

  test.each(['a process that never had its key', 'a process that has no key for this record'])(
    'cannot have %s forget that one is on',
    async (who) => {
      const { startProcess, redis, keys, put, record } = startFreezes()
      await startProcess(keyringOf(newer)).set()
      if (who === 'a process that never had its key') await redis.del(keys.auditIntake, keys.audit, keys.auditHead)
      else {
        const theirs = await record()
        await redis.del(keys.freeze)
        await startProcess().set()
        await put(theirs)
      }
      const next = startProcess()
      expect((await next.read()).isUnreadable).toBe(true)
      await redis.del(keys.freeze)
      expect(await next.because()).toBe('freeze-missing')
    },
  )
})

test.each([
  ['does not end a freeze that was set before', false, true],
  ['lets nothing be held by one that was lifted before', true, false],
])('a clock of Redis that goes back by an hour %s', async (_, isLifted, isHeld) => {
  const { startProcess, letPass } = startFreezes()
  const one = startProcess()
  letPass(hours)
  await one.set()
  if (isLifted) await one.lift()
  letPass(-hours)
  expect([await one.isOn(), await one.isHeld(), await startProcess().isHeld()]).toEqual([isHeld, isHeld, isHeld])
})

test('a record of a later version is believed with what this one does not know', async () => {
  const { startProcess, record, put } = startFreezes()
  await startProcess().set()
  await put(seal(recordKeyring, 'freeze', { ...factsOf(await record()), colour: 'blue' }))

  const { isOn, told } = startProcess()
  expect([await isOn(), told]).toEqual([true, []])
})

describe('a record that was signed with a key', () => {
  test('that this process does not have holds everything here, is told, and stays as it is', async () => {
    const { startProcess, record, noted } = startFreezes()
    await startProcess(keyringOf(newer)).set()
    const before = await record()
    const { read, isHeld, trySet, tryLift, stopAll, told } = startProcess(keyringOf(ours))

    expect([(await read()).isUnreadable, await isHeld()]).toEqual([true, true])
    expect(told).toContain('unknown-key')
    expect([await trySet(byBen), await tryLift(byChi)]).toEqual(['unknown-key', 'unknown-key'])
    await stopAll('data-lost')
    expect([await record(), (await noted()).length]).toEqual([before, 1])
    expect((await read()).freezes).toMatchObject([{ ownId: 'unreadable' }])
  })

  test('that is no longer the newest is signed again, once a minute by each process, and is still believed by those with both', async () => {
    const { startProcess, record, letPass } = startFreezes()
    const old = startProcess(keyringOf(ours))
    await old.set()
    const first = await record()

    const turned = startProcess(keyringOf(newer, ours))
    expect(await turned.isHeld()).toBe(true)
    const second = await record()
    expect(factsOf(second)).toEqual(factsOf(first))
    expect(second.split('.')[0]).not.toBe(first.split('.')[0])
    expect(await startProcess(keyringOf(newer)).isOn()).toBe(true)
    // A process that has them in another order does not sign again and again.
    const other = startProcess(keyringOf(ours, newer))
    for (const { read } of [other, turned, other, turned]) await read()
    const last = await record()
    for (const { read } of [other, turned]) await read()
    expect(await record()).toBe(last)
    // Once the other one is gone, nothing needs the older key.
    letPass(minutes)
    await turned.read()
    expect(await startProcess(keyringOf(newer)).isOn()).toBe(true)
  })
})

describe('a process', () => {
  test('looks at the audit once, for both of its connections, and never again', async () => {
    const { startProcess, redis, keys } = startFreezes()
    await startProcess().set()
    const memory: FreezeMemory = { seen: 0 }
    const looks = { count: 0 }
    const xrevrange = redis.xrevrange.bind(redis) as (...args: unknown[]) => Promise<never>
    redis.xrevrange = ((...args: unknown[]) => {
      if (args[0] === keys.audit) looks.count += 1
      return xrevrange(...args)
    }) as typeof redis.xrevrange
    const [people, jobs] = [startProcess(recordKeyring, memory), startProcess(recordKeyring, memory)]

    await Promise.all(Array.from({ length: 4 }, () => [people.read(), jobs.read()]).flat())
    await jobs.lift()
    await people.read()

    expect(looks.count).toBe(1)
  })

  test('notes every day up to when it knows all changes, and one that starts reads no older entry of the audit', async () => {
    const { startProcess, letPass, redis, keys } = startFreezes()
    const { read, set, audit } = startProcess()
    await set()
    await audit.chained()
    const look = async () => factsOf((await redis.get(keys.freezeLook)) ?? '').at
    const first = await look()
    letPass(23 * hours)
    await read()
    expect(await look()).toBe(first)
    letPass(2 * hours)
    await read()
    expect(await look()).toBeGreaterThanOrEqual(first + 25 * hours)

    // As if the entry of the freeze were older than the look: it would show a newer revision than that of a record of before.
    const [[, [field = '', text = '']] = ['', []]] = await redis.xrange(keys.audit, '-', '+')
    await redis.del(keys.audit, keys.auditHead)
    await redis.xadd(keys.audit, '1-1', field, text.replace(/"at":\d+/, '"at":1'))
    expect(await startProcess().because()).toBeUndefined()
    await redis.del(keys.freeze)
    expect(await startProcess().because()).toBe('freeze-missing')
  })

  test('that starts freezes everything if the audit is gone that knew of a freeze', async () => {
    const { startProcess, letPass, redis, keys } = startFreezes()
    const { read, set, audit } = startProcess()
    await set()
    await audit.chained()
    letPass(25 * hours)
    await read()
    await redis.del(keys.audit, keys.auditHead)
    expect(await startProcess().because()).toBe('freeze-older')
  })

  test('looks again if Redis did not answer', async () => {
    const { startProcess, redis } = startFreezes()
    const { read, isHeld } = startProcess()
    const get = redis.get.bind(redis)
    redis.get = () => Promise.reject(new Error('Connection is closed.'))
    await expect(read()).rejects.toThrow()
    redis.get = get
    expect(await isHeld()).toBe(false)
  })
})
