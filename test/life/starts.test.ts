import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { App } from '../../src/app.ts'
import type { PolicyRule, Window } from '../../src/domain/policy.ts'
import { payloadHash, type Request } from '../../src/domain/request.ts'
import { createRequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { send } from '../../src/life/send.ts'
import { encodeFields, type NewRequest } from '../../src/record/store.ts'
import type { judgeStart } from '../../src/rights/judge.ts'
import { holdsIfApproved } from '../../src/rights/times.ts'
import type { Fake } from '../fake-app.ts'
import type { People } from '../given/access.ts'
import { startJobs } from '../given/jobs.ts'
import { minutes, moveFacts, newRequestFor } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'
import { takeSteps } from '../given/take-steps.ts'

const theirs = createRequestSignatures(
  createKeyring([new Secret('a-key-that-somebody-else-has-only')], { purpose: 'requests', prefix: 'lockkeeper' }),
)
const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01' }
const freezing = { by: 'U0BEN00001', reason: 'the data centre has no power' }

interface World {
  rule?: Partial<PolicyRule>
  /** Whether people still have their rights at the start. */
  right?: Awaited<ReturnType<typeof judgeStart>>
  /** Called each time the account is read before a write. */
  onRead?: () => Promise<unknown>
}

/** Moves over a real Redis on an account that carries them out at once. */
function startMoves({ rule = {}, right = 'allowed', onRead = async () => {} }: World = {}) {
  const writes: string[] = []
  const account = {
    elasticIps: {
      get: async () => {
        await onRead()
        return {
          id: moveFacts.elasticIpId,
          address: moveFacts.address,
          status: 'active',
          server: { id: moveFacts.from.id, hostname: moveFacts.from.name },
        }
      },
      move: async (id: string) => void writes.push(id),
    },
    servers: { get: async () => ({ id: moveFacts.to.id, hostname: moveFacts.to.name, status: 'on', locked: false }) },
  }
  const standing = right === 'requester-lost-right' ? 'deleted' : right === 'no-answer' ? 'unknown' : 'member'
  const approvers = right === 'approvals-lost' ? [] : ['U0ADA00001', 'U0BEN00001']
  const people: Partial<People> = {
    person: async (userId) => ({ userId, standing, teamIds: ['T0NIMBUS01'] }),
    members: async (ids) => new Map(ids.map((id) => [id, new Set(approvers)])),
  }
  const jobs = startJobs([moveChange({ account } as never)], { rule: right === 'rule-gone' ? { changes: [] } : rule, people })
  const { store, redis, keys } = jobs
  const now = Date.now()

  /** A request, and its approval so long ago. */
  async function record(more: Partial<NewRequest> = {}, { agoMs = 0, breakGlass = false, emergency = false } = {}): Promise<Request> {
    const at = now - agoMs
    const { id } = await store.create(signedBy(signatures, newRequestFor({ createdAt: at - 1, ...more })))
    const request = await jobs.find(id)
    if (!request.needsApproval) return takeSteps(store, id, 'exempt')
    const { passed } = await holdsIfApproved(jobs.app, request)
    if (breakGlass) {
      const alone = {
        by: request.origin.userId,
        rule: 'APPROVERS',
        via: request.origin.userId,
        reason: 'all is down',
        breakGlass,
        passed,
        at,
      }
      return takeSteps(store, id, ['approve', { set: { decision: signatures.signBreakGlass(request, alone) } }])
    }
    const urgent = emergency ? { emergency: true as const, reason: 'web-1 is dead and customers wait', passed } : {}
    const approvals = [signatures.signApproval(request, { ...byBen, ...urgent, at })]
    const decision = signatures.signApproved({ ...request, approvals }, { ...byBen, at })
    return takeSteps(store, id, ['approve', { set: { approvals, decision } }])
  }

  /** Sends it as it is in Redis now, and returns what became of it. */
  async function run({ id }: Request, more: Fake<App> = {}) {
    await send(jobs.appWith(more), await jobs.find(id))
    const { state, waits, causes } = await jobs.find(id)
    return {
      writes: writes.length,
      state,
      ...(state === 'approved' ? { waits: waits?.for } : {}),
      ...(causes[0] ? { cause: causes[0].code } : {}),
    }
  }

  const put = ({ id }: Request, fields: Partial<Request>) => redis.hset(keys.record(id), encodeFields(fields))
  const startNow = (request: Request, by = signatures) => by.signStartNow(request, { ...byBen, at: now })
  return { ...jobs, now, writes, record, run, put, startNow }
}
type Moves = ReturnType<typeof startMoves>

const sent = { writes: 1, state: 'tracking' }
const held = (waits: string) => ({ writes: 0, state: 'approved', waits })
const ended = (cause: string, state = 'not-started') => ({ writes: 0, state, cause })

/** Open only on a day that is neither today nor yesterday. */
function closedWindow(now = Date.now()): Window {
  const today = new Date(now).getUTCDay() || 7
  return { name: 'office', days: [((today + 2) % 7) + 1], from: '09:00', to: '17:00', zone: 'UTC' }
}

type Case = [string, World, (moves: Moves) => Promise<Request>, object]

describe('a move', () => {
  test.each<Case>([
    ['without a start is sent', {}, ({ record }) => record(), sent],
    ['whose start has come is sent', {}, ({ record, now }) => record({ start: now - 1 }, { agoMs: 40 * minutes }), sent],
    ...(['requester-lost-right', 'approvals-lost', 'rule-gone'] as const).map(
      (right): Case => [
        `is not sent at its start if the answer to who may still do it is ${right}`,
        { right },
        ({ record, now }) => record({ start: now - 1 }, { agoMs: 40 * minutes }),
        ended(right),
      ],
    ),
    [
      'waits while nobody says who may still do it',
      { right: 'no-answer' },
      ({ record, now }) => record({ start: now - 1 }, { agoMs: 40 * minutes }),
      { ...held(''), waits: undefined },
    ],
    ['waits for its start', {}, ({ record, now }) => record({ start: now + minutes }), held('start')],
    ['waits for its window', { rule: { windows: [closedWindow()] } }, ({ record }) => record(), held('window')],
    [
      'waits for the end of a freeze',
      {},
      async ({ record, app }) => {
        await app.freezes.set(freezing)
        return record()
      },
      held('freeze'),
    ],
    [
      'that was approved in an emergency passes windows and freezes',
      { rule: { breakGlass: true, windows: [closedWindow()] } },
      async ({ record, app }) => {
        await app.freezes.set(freezing)
        return record({}, { breakGlass: true })
      },
      sent,
    ],
    [
      'with an emergency approval passes windows and freezes',
      { rule: { emergency: true, windows: [closedWindow()] } },
      async ({ record, app }) => {
        await app.freezes.set(freezing)
        return record({}, { emergency: true })
      },
      sent,
    ],
    [
      'with an emergency approval waits if its rule does not allow these any more',
      {},
      async ({ record, app }) => {
        await app.freezes.set(freezing)
        return record({}, { emergency: true })
      },
      held('freeze'),
    ],
    ...[{ emergency: true }, { breakGlass: true }].flatMap((how): Case[] => [
      [
        `waits for a freeze that began after its approval because data was lost: ${Object.keys(how)[0]}`,
        { rule: how as Partial<PolicyRule> },
        async ({ record, app }) => {
          const request = await record({}, { ...how, agoMs: 1_000 })
          await app.freezes.stopAll('data-lost')
          return request
        },
        held('freeze'),
      ],
      [
        `passes such a freeze if it was approved after it: ${Object.keys(how)[0]}`,
        { rule: how as Partial<PolicyRule> },
        async ({ record, app }) => {
          await app.freezes.stopAll('data-lost')
          return record({}, how)
        },
        sent,
      ],
      [
        `waits for such a freeze although the clock of the Redis that took over is behind its approval: ${Object.keys(how)[0]}`,
        { rule: how as Partial<PolicyRule> },
        async ({ record, app }) => {
          const request = await record({}, { ...how, agoMs: -minutes })
          await app.freezes.stopAll('set-back')
          return request
        },
        held('freeze'),
      ],
      [
        `waits while the record of the freeze cannot be trusted: ${Object.keys(how)[0]}`,
        { rule: how as Partial<PolicyRule> },
        async ({ record, app, redis, keys }) => {
          await app.freezes.set(freezing)
          const request = await record({}, how)
          await redis.set(keys.freeze, '{"forged":true}')
          return request
        },
        held('freeze'),
      ],
      [
        `waits if somebody has removed the record of the freeze since: ${Object.keys(how)[0]}`,
        { rule: how as Partial<PolicyRule> },
        async ({ record, app, redis, keys }) => {
          await app.freezes.set(freezing)
          await app.freezes.lift({})
          const request = await record({}, { ...how, agoMs: minutes })
          await redis.del(keys.freeze)
          return request
        },
        held('freeze'),
      ],
    ]),
    [
      'that an approver lets start now is sent',
      {},
      async ({ record, now, startNow, store }) => {
        const request = await record({ start: now + 60 * minutes })
        return takeSteps(store, request.id, ['start-now', { set: { startNow: startNow(request) } }])
      },
      sent,
    ],
    [
      'is missed half an hour after its start',
      {},
      ({ record, now }) => record({ start: now - 31 * minutes }, { agoMs: 40 * minutes }),
      ended('approved-too-long-ago'),
    ],
    [
      'that needs no approval is sent also if its message was posted an hour after the request',
      { rule: { approve: undefined } },
      ({ record }) => record({ needsApproval: false, createdAt: Date.now() - 60 * minutes }),
      sent,
    ],
    [
      'is missed, and not looked at again and again, in a freeze that began after its time',
      {},
      async ({ record, app }) => {
        await app.freezes.set(freezing)
        return record({}, { agoMs: 40 * minutes })
      },
      ended('approved-too-long-ago'),
    ],
    [
      'is missed once its window is closed, and does not wait for the next one',
      { rule: { windows: [{ ...closedWindow(), days: [1, 2, 3, 4, 5, 6, 7], ...justClosed() }] } },
      ({ record }) => record({}, { agoMs: 20 * minutes }),
      ended('approved-too-long-ago'),
    ],
  ])('%s', async (_, world, recorded, expected) => {
    const moves = startMoves(world)
    expect(await moves.run(await recorded(moves))).toEqual(expected)
  })
})

describe('the audit is not read again and again', () => {
  const reads = (moves: Moves) => vi.spyOn(moves.redis, 'xrevrange')

  test.each<[string, World, Partial<NewRequest>, (moves: Moves) => Promise<unknown>]>([
    ['its start', {}, { start: Date.now() + 60 * minutes }, async () => {}],
    ['its window', { rule: { windows: [closedWindow()] } }, {}, async () => {}],
    ['the end of a freeze', {}, {}, ({ app }) => app.freezes.set(freezing)],
  ])('while a move waits for %s', async (_, world, more, before) => {
    const moves = startMoves(world)
    await before(moves)
    const request = await moves.record(more)
    await moves.run(request)
    const read = reads(moves)

    for (let looks = 0; looks < 3; looks += 1) expect(await moves.run(request)).toMatchObject({ writes: 0, state: 'approved' })

    expect(read).not.toHaveBeenCalled()
  })

  test('while a move waits until Slack says who may still do it', async () => {
    const moves = startMoves({ right: 'no-answer' })
    const request = await moves.record({ start: moves.now - 1 }, { agoMs: 40 * minutes })
    await moves.run(request)
    const read = reads(moves)

    for (let looks = 0; looks < 3; looks += 1) expect(await moves.run(request)).toMatchObject({ writes: 0, state: 'approved' })

    expect(read).not.toHaveBeenCalled()
  })

  test('while a move waits for its turn', async () => {
    const moves = startMoves()
    const request = await moves.record()
    const waiting = { budget: { ...moves.app.budget, waitForWrite: async () => 30_000 } }
    await moves.run(request, waiting)
    const read = reads(moves)

    expect(await moves.run(request, waiting)).toMatchObject(held('writes'))
    expect(read).not.toHaveBeenCalled()
    expect(await moves.run(request)).toEqual(sent)
  })
})

/** The times of a window in UTC that has closed five minutes ago. */
function justClosed() {
  const clock = (at: number) => new Date(at).toISOString().slice(11, 16)
  return { from: clock(Date.now() - 60 * minutes), to: clock(Date.now() - 5 * minutes) }
}

test('a move is not sent in a freeze that began at its time while the account was read', async () => {
  const moves = startMoves({ onRead: () => delay(600) })
  const request = await moves.record()
  await moves.app.freezes.set({ ...freezing, from: Date.now() + 400 })
  expect(await moves.run(request)).toMatchObject({ writes: 0, state: 'approved' })
  expect(await moves.run(request)).toEqual(held('freeze'))
})

describe('somebody who writes to Redis', () => {
  const forged: [string, (moves: Moves, request: Request) => Promise<unknown>, object][] = [
    ['another start', ({ put, now }, request) => put(request, { start: now - 1 }), ended('record-changed')],
    ['no start', ({ redis, keys }, { id }) => redis.hdel(keys.record(id), 'start'), ended('record-changed')],
    [
      'another start with a hash that fits',
      ({ put, now }, request) => put(request, { start: now - 1, hash: payloadHash({ ...request, start: now - 1 }) }),
      ended('record-changed'),
    ],
    ['a start now without a signature', ({ put, now }, request) => put(request, { startNow: { ...byBen, at: now } }), held('start')],
    ['a start now that they signed', ({ put, startNow }, request) => put(request, { startNow: startNow(request, theirs) }), held('start')],
    [
      'the start now of another request',
      async ({ put, record, startNow, now }, request) =>
        put(request, { startNow: startNow(await record({ resource: 'other', start: now + 60 * minutes })) }),
      held('start'),
    ],
    ['an approval as its start now', ({ put }, request) => put(request, { startNow: request.approvals[0] }), held('start')],
    ['nothing that it waits for', ({ put }, request) => put(request, { waits: { for: 'account' }, decidedAt: 1 }), held('start')],
    [
      'an emergency',
      ({ put }, request) => put(request, { decision: { ...request.decision, ...byBen, breakGlass: true } }),
      ended('approvals-not-genuine'),
    ],
    [
      'its state before it was withdrawn, when it could start now',
      async ({ startNow, store, redis, keys }, request) => {
        await takeSteps(store, request.id, ['start-now', { set: { startNow: startNow(request) } }])
        const before = await redis.hgetall(keys.record(request.id))
        await takeSteps(store, request.id, 'withdraw')
        await redis.del(keys.record(request.id))
        return redis.hset(keys.record(request.id), before)
      },
      ended('already-ended'),
    ],
  ]
  test.each(forged)('cannot have a scheduled move sent earlier with %s', async (_, forge, expected) => {
    const moves = startMoves({ rule: { breakGlass: true } })
    const request = await moves.record({ start: moves.now + 60 * minutes })
    expect(await moves.run(request)).toEqual(held('start'))

    await forge(moves, await moves.find(request.id))

    expect(await moves.run(request)).toEqual(expected)
  })

  test.each<[string, Partial<NewRequest>, (moves: Moves, request: Request) => Promise<unknown>]>([
    ['an emergency that nobody had', {}, ({ put }, request) => put(request, { decision: { ...byBen, breakGlass: true, at: Date.now() } })],
    [
      'the emergency of another request',
      {},
      async ({ put, record }, request) => {
        const { decision } = await record({ resource: 'other', needsApproval: true }, { breakGlass: true })
        return put(request, { decision })
      },
    ],
  ])('cannot have a move that needs no approval pass a freeze with %s', async (_, more, forge) => {
    const moves = startMoves({ rule: { approve: undefined, breakGlass: true } })
    const request = await moves.record({ needsApproval: false, ...more })
    await moves.app.freezes.set(freezing)
    await forge(moves, request)
    expect(await moves.run(request)).toEqual(held('freeze'))
  })

  test.each<[string, (moves: Moves, request: Request) => Promise<unknown>, object]>([
    [
      'its own approval as an emergency',
      ({ put }, request) => put(request, { approvals: request.approvals.map((each) => ({ ...each, emergency: true as const })) }),
      ended('approvals-not-genuine'),
    ],
    [
      'the emergency approval of another request',
      async ({ put, record }, request) => put(request, { approvals: (await record({ resource: 'other' }, { emergency: true })).approvals }),
      ended('approvals-not-genuine'),
    ],
    [
      'one more approval that it copies from another request',
      async ({ put, record }, request) => {
        const { approvals } = await record({ resource: 'other' }, { emergency: true })
        return put(request, { approvals: [...request.approvals, ...approvals] })
      },
      ended('approvals-not-genuine'),
    ],
    [
      'an emergency approval that it signs with another key',
      ({ put, now }, request) =>
        put(request, { approvals: [theirs.signApproval(request, { ...byBen, emergency: true, reason: 'web-1 is dead', at: now })] }),
      held('freeze'),
    ],
  ])('cannot have an approved move pass a freeze with %s', async (_, forge, expected) => {
    const moves = startMoves({ rule: { emergency: true } })
    const request = await moves.record()
    await moves.app.freezes.set(freezing)
    expect(await moves.run(request)).toEqual(held('freeze'))

    await forge(moves, await moves.find(request.id))

    expect(await moves.run(request)).toEqual(expected)
  })

  const later = Date.now() + 60 * minutes
  test.each<[string, boolean, (moves: Moves, request: Request) => Promise<unknown>]>([
    ['a later approval of a move that needs none', false, ({ put }, request) => put(request, { approvals: [{ ...byBen, at: later }] })],
    [
      'a later emergency of a move that needs no approval',
      false,
      ({ put }, request) => put(request, { decision: { ...byBen, breakGlass: true, at: later } }),
    ],
    ['a later decision of a move that needs none', false, ({ put }, request) => put(request, { decidedAt: later, expiresAt: later })],
    ['a later decision', true, ({ put }, request) => put(request, { decidedAt: later, expiresAt: later })],
    ['something that it waits for', true, ({ put }, request) => put(request, { waits: { for: 'freeze', until: later } })],
  ])('cannot prolong an approval with %s', async (_, needsApproval, forge) => {
    const moves = startMoves({ rule: needsApproval ? {} : { approve: undefined, breakGlass: true } })
    const ttlMs = (needsApproval ? 240 : 5) * minutes
    const request = await moves.record({ needsApproval, ttlMs, createdAt: moves.now - 41 * minutes }, { agoMs: 40 * minutes })
    await forge(moves, request)
    expect(await moves.run(request)).toEqual(ended('approved-too-long-ago'))
  })
})

describe('a freeze that is set while a move is checked', () => {
  /** Sets it at a moment of the check: the number of a call. `isSet`: there was such a moment. */
  async function freezeAt(moment: number) {
    let calls = 0
    const atMoment = async () => {
      calls += 1
      if (calls === moment) await moves.app.freezes.set(freezing)
    }
    const moves = startMoves({ onRead: atMoment })
    const after = async <Value>(value: Promise<Value>): Promise<Value> => {
      const known = await value
      await atMoment()
      return known
    }
    const { store, app } = moves
    const request = await moves.record()
    const more = {
      store: { ...store, now: () => after(store.now()) },
      budget: { ...app.budget, waitForWrite: () => after(Promise.resolve(0)), takeWrite: () => after(Promise.resolve(0)) },
    }
    return { moves, request, first: await moves.run(request, more), isSet: calls >= moment }
  }

  test('holds it, at whatever moment it is set', async () => {
    let moment = 1
    for (; ; moment += 1) {
      const { moves, request, first, isSet } = await freezeAt(moment)
      if (!isSet) break
      expect(first.writes, `at moment ${moment}`).toBe(0)
      expect(await moves.run(request), `at moment ${moment}`).toEqual(held('freeze'))
    }
    expect(moment).toBeGreaterThan(5)
  })
})

describe('of two moves of the same thing, after Redis lost the lock of the first', () => {
  test('the first is not sent while the other is open, and after its end', async () => {
    const { record, store, redis, keys, run, now } = startMoves()
    const first = await record({ start: now - 1 }, { agoMs: 20 * minutes })
    await redis.del(keys.resource(first.resource))
    const other = await store.create(newRequestFor())
    expect(await run(first)).toMatchObject({ writes: 0, state: 'approved' })
    await takeSteps(store, other.id, 'reject')
    expect(await run(first)).toEqual(sent)
  })

  test('one is sent, if both were held by a freeze', async () => {
    const moves = startMoves()
    const { app, record, redis, keys, writes, find } = moves
    await app.freezes.set(freezing)
    const one = await record({}, { agoMs: minutes })
    expect(await moves.run(one)).toEqual(held('freeze'))
    await redis.del(keys.resource(one.resource))
    const second = await record()
    expect(await moves.run(second)).toEqual(held('freeze'))
    await app.freezes.lift({})

    await Promise.all([one, second].map(async ({ id }) => send(app, await find(id))))
    await Promise.all([one, second].map(async ({ id }) => send(app, await find(id))))

    expect(writes).toHaveLength(1)
    const states = await Promise.all([one, second].map(async ({ id }) => (await find(id)).state))
    expect(states.toSorted()).toEqual(['approved', 'tracking'])
  })
})

test('a move for which Redis was away while it was checked is sent once Redis is back', async () => {
  const { app, record, run } = startMoves()
  const request = await record()
  const now = performance.now.bind(performance)
  const awayWhile = async <Value>(value: Promise<Value>): Promise<Value> => {
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    onTestFinished(() => clock.mockRestore())
    return value
  }
  expect(await run(request, { freezes: { ...app.freezes, read: () => awayWhile(app.freezes.read()) } })).toEqual(sent)
})

test('two workers that start the same move at the same moment send it once', async () => {
  const { app, record, writes, find, now } = startMoves()
  const { id } = await record({ start: now - 1 }, { agoMs: 40 * minutes })
  const request = await find(id)
  await Promise.all(Array.from({ length: 8 }, () => send(app, request)))
  expect(writes).toHaveLength(1)
  expect((await find(id)).state).toBe('tracking')
})

test('a freeze that is lifted while a move notes that it is held lets the move start at once', async () => {
  const moves = startMoves()
  const { app, record, run, woken } = moves
  await app.freezes.set(freezing)
  const request = await record()
  /** Somebody lifts it right before the move sets when it looks again, and wakes it too early. */
  const wake = async (_: unknown, ms = 0) => {
    if (ms > 0 && (await app.freezes.lift({ by: 'U0BEN00001' })) !== undefined) woken.push(0)
    woken.push(ms)
  }
  expect(await run(request, { queues: { wake } })).toEqual(held('freeze'))
  expect(woken.at(-1)).toBe(0)
  expect(await run(request)).toEqual(sent)
})
