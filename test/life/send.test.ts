import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { App } from '../../src/app.ts'
import { hashOf } from '../../src/audit/chain.ts'
import { AccountLimitError, ApiError, StoreUnavailableError } from '../../src/domain/errors.ts'
import { useTakenTurn } from '../../src/domain/lane.ts'
import type { PolicyRule, Window } from '../../src/domain/policy.ts'
import { payloadHash, type Request } from '../../src/domain/request.ts'
import { createRequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { send } from '../../src/life/send.ts'
import { encodeFields, type NewRequest, type Store } from '../../src/record/store.ts'
import type { judgeStart } from '../../src/rights/judge.ts'
import { holdsIfApproved } from '../../src/rights/times.ts'
import type { Fake } from '../fake-app.ts'
import type { People } from '../given/access.ts'
import { startJobs } from '../given/jobs.ts'
import { jump } from '../given/jump.ts'
import { terms } from '../given/people.ts'
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
  onRead?: (moves: Moves) => unknown
  /** Called at each write. */
  onWrite?: () => unknown
}

/** A request, whose start is in so many ms, and its approval so long ago. */
interface Signed extends Partial<NewRequest> {
  startInMs?: number
  agoMs?: number
  how?: 'emergency' | 'break-glass'
  by?: typeof signatures
}

/** Moves over a real Redis on an account that carries them out at once. */
function startMoves({ rule = {}, right = 'allowed', onRead, onWrite }: World = {}) {
  const writes: string[] = []
  const { elasticIpId: id, address, from, to } = moveFacts
  const account = {
    elasticIps: {
      get: async () => {
        await onRead?.(moves)
        return { id, address, status: 'active', server: { id: from.id, hostname: from.name } }
      },
      move: async (moved: string) => {
        writes.push(moved)
        onWrite?.()
      },
    },
    servers: { get: async () => ({ id: to.id, hostname: to.name, status: 'on', locked: false }) },
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

  async function record({ startInMs, agoMs = 0, how, by = signatures, ...more }: Signed = {}): Promise<Request> {
    const at = now - agoMs
    const start = startInMs === undefined ? {} : { start: now + startInMs }
    const { id } = await store.create(signedBy(by, newRequestFor({ createdAt: at - 1, ...start, ...more })))
    const request = await jobs.find(id)
    if (!request.needsApproval) return takeSteps(store, id, 'exempt')
    const { passed } = await holdsIfApproved(jobs.app, request)
    if (how === 'break-glass') {
      const { userId } = request.origin
      const alone = { by: userId, rule: 'APPROVERS', via: userId, reason: 'all is down', breakGlass: true, passed, at }
      return takeSteps(store, id, ['approve', { set: { decision: by.signBreakGlass(request, alone) }, dueInMs: 0 }])
    }
    const urgent = how ? { emergency: true as const, reason: 'web-1 is dead and customers wait', passed } : {}
    const approvals = [by.signApproval(request, { ...byBen, ...urgent, at })]
    const decision = by.signApproved({ ...request, approvals }, { ...byBen, at })
    return takeSteps(store, id, ['approve', { set: { approvals, decision }, dueInMs: 0 }])
  }

  /** Sends it as it is in Redis now, and returns what became of it. */
  async function run({ id }: Request, more: Fake<App> = {}) {
    await send(jobs.appWith(more), await jobs.find(id))
    const { state, waits, causes } = await jobs.find(id)
    const later = state === 'approved' ? { waits: waits?.for, dueInMs: await jobs.dueInMs(id) } : {}
    return { writes: writes.length, state, ...later, ...(causes[0] ? { cause: causes[0] } : {}) }
  }

  const put = ({ id }: Request, fields: Partial<Request>) => redis.hset(keys.record(id), encodeFields(fields))
  const startNow = (request: Request, by = signatures) => by.signStartNow(request, { ...byBen, at: now })
  const letStartNow = (request: Request) => takeSteps(store, request.id, ['start-now', { set: { startNow: startNow(request) } }])
  const moves = { ...jobs, now, writes, record, run, put, startNow, letStartNow }
  return moves
}
type Moves = ReturnType<typeof startMoves>

const sent = { writes: 1, state: 'tracking' }
const held = (waits: string) => ({ writes: 0, state: 'approved', waits, dueInMs: expect.any(Number) })
/** It is looked at again after this time. */
const again = (ms: number, waits?: string) => ({ ...held(''), waits, dueInMs: expect.closeTo(ms, -4) })
const ended = (code: string, more: object = {}) => ({ writes: 0, state: 'not-started', cause: expect.objectContaining({ code, ...more }) })
const missed = ended('approved-too-long-ago')

const hour = 60 * minutes
const utc = (ago: number) => new Date(Date.now() - ago).toISOString().slice(11, 16)
const today = new Date().getUTCDay() || 7
/** Open only on a day that is neither today nor yesterday. */
const closed: Window = { name: 'office', days: [((today + 2) % 7) + 1], from: '09:00', to: '17:00', zone: 'UTC' }
const justClosed: Window = { ...closed, days: [1, 2, 3, 4, 5, 6, 7], from: utc(hour), to: utc(5 * minutes) }

const freeze = ({ app }: Moves) => app.freezes.set(freezing)
const loseData = ({ app }: Moves) => app.freezes.stopAll('data-lost')
const fails = (error: Error) => () => Promise.reject(error)
const limitOf = (kind: 'read' | 'write', waitMs: number, answered = false) =>
  new AccountLimitError({ operation: 'elasticIps.move', kind, waitMs, perMinute: 20, answered })
const refusing = (status: number, ...codes: string[]) => new ApiError({ operation: 'elasticIps.get', status, codes })
const turnIn =
  (ms: number) =>
  ({ app }: Moves): Fake<App> => ({ budget: { ...app.budget, waitForWrite: async () => ms } })

interface Case extends World {
  signed?: Signed
  /** What happens before the request, and after its approval. */
  before?: (moves: Moves) => Promise<unknown>
  since?: (moves: Moves, request: Request) => Promise<unknown>
  /** Other parts than usual. */
  app?: (moves: Moves) => Fake<App>
  is: object
}

/** Its start has come. */
const come: Signed = { startInMs: -1, agoMs: 40 * minutes }

const cases: Record<string, Case> = {
  'without a start is sent': { is: sent },
  'whose start has come is sent': { signed: come, is: sent },
  'whose requester has lost their right at its start is not sent': {
    right: 'requester-lost-right',
    signed: come,
    is: ended('requester-lost-right'),
  },
  'whose approvers have lost theirs is not sent': { right: 'approvals-lost', signed: come, is: ended('approvals-lost') },
  'that no rule covers any more is not sent': { right: 'rule-gone', signed: come, is: ended('rule-gone') },
  'waits while nobody says who may still do it': { right: 'no-answer', signed: come, is: again(10_000) },
  'waits for its start': { signed: { startInMs: minutes }, is: held('start') },
  'waits for its window': { rule: { windows: [closed] }, is: held('window') },
  'waits for the end of a freeze': { before: freeze, is: held('freeze') },
  'that an approver lets start now is sent': {
    signed: { startInMs: hour },
    since: ({ letStartNow }, request) => letStartNow(request),
    is: sent,
  },
  'is missed half an hour after its start': { signed: { startInMs: -31 * minutes, agoMs: 40 * minutes }, is: missed },
  'that needs no approval is sent also if its message was posted an hour after the request': {
    rule: { approve: undefined },
    signed: { needsApproval: false, agoMs: hour },
    is: sent,
  },
  'is missed, and not looked at again and again, in a freeze that began after its time': {
    before: freeze,
    signed: { agoMs: 40 * minutes },
    is: missed,
  },
  'is missed once its window is closed, and does not wait for the next one': {
    rule: { windows: [justClosed] },
    signed: { agoMs: 20 * minutes },
    is: ended('window-missed'),
  },
  'says that a freeze held it for as long as it may be held': {
    before: freeze,
    app: ({ store }) => ({ store: { ...store, now: async () => (await store.now()) + (14 * 24 + 1) * hour } }),
    is: ended('frozen-too-long'),
  },
  'that waited for the account says so once it is too late, although the account has just answered': {
    signed: { agoMs: 31 * minutes },
    since: async ({ put }, request) => {
      request.waits = { for: 'account' }
      await put(request, { waits: request.waits })
    },
    is: ended('account-unread'),
  },
  'is missed without a read once the time to approve has passed again': {
    app: ({ store }) => ({ store: { ...store, now: async () => (await store.now()) + 270 * minutes } }),
    onRead: () => expect.fail('the account was read'),
    is: missed,
  },
  'that was approved in an emergency passes windows and freezes': {
    rule: { breakGlass: true, windows: [closed] },
    before: freeze,
    signed: { how: 'break-glass' },
    is: sent,
  },
  'with an emergency approval passes windows and freezes': {
    rule: { emergency: true, windows: [closed] },
    before: freeze,
    signed: { how: 'emergency' },
    is: sent,
  },
  'with an emergency approval waits if its rule does not allow these any more': {
    before: freeze,
    signed: { how: 'emergency' },
    is: held('freeze'),
  },
  'whose rule asks for more approvals while the account is read is not sent': {
    onRead({ app }) {
      const { rules } = app.config.policy
      rules.push(...rules.splice(0).map((rule) => ({ ...rule, approve: terms(['S0ONCALL01'], { approvals: 2 }) })))
    },
    is: ended('approval-needed-now'),
  },
  'that was signed with an unknown key waits for that key': { signed: { by: theirs }, is: again(30_000) },
  'that the account API refuses for good is not sent': {
    onRead: fails(refusing(403, 'FEATURE_NOT_ENABLED')),
    is: ended('api-refused', { status: 403, effect: 'not-sent' }),
  },
  'waits while the account API rejects the key': { onRead: fails(refusing(401)), is: again(10_000) },
  'waits while the account API does not answer': { onRead: fails(refusing(429)), is: again(10_000, 'account') },
  'ends half an hour after its approval, and says that the key was rejected': {
    signed: { agoMs: 30 * minutes },
    onRead: fails(refusing(401)),
    is: ended('account-unread', { refusal: expect.objectContaining({ status: 401 }) }),
  },
  'ends half an hour after its approval if nothing answered': {
    signed: { agoMs: 30 * minutes },
    onRead: fails(refusing(429)),
    is: { ...ended('account-unread'), cause: { code: 'account-unread' } },
  },
  'whose account may not be read yet waits': { onRead: fails(limitOf('read', 12_000)), is: again(12_000, 'reads') },
  'waits for its turn': { app: turnIn(40_000), is: again(40_000, 'writes') },
  'that is refused because of the limit waits for its next turn': {
    onWrite() {
      throw limitOf('write', 40_000, true)
    },
    is: { ...again(40_000, 'writes'), writes: 1 },
  },
  'ends half an hour after its approval if the limit was used up': {
    signed: { agoMs: 30 * minutes },
    app: turnIn(40_000),
    is: ended('limit-used-up'),
  },
}

const emergencies = (['emergency', 'break-glass'] as const).flatMap((how) => {
  const rule: Partial<PolicyRule> = how === 'emergency' ? { emergency: true } : { breakGlass: true }
  const ofHow: Record<string, Case> = {
    'waits for a freeze that began after its approval because data was lost': {
      signed: { agoMs: 1_000 },
      since: loseData,
      is: held('freeze'),
    },
    'passes such a freeze if it was approved after it': { before: loseData, is: sent },
    'waits for such a freeze although the clock of the Redis that took over is behind its approval': {
      signed: { agoMs: -minutes },
      since: ({ app }) => app.freezes.stopAll('set-back'),
      is: held('freeze'),
    },
    'waits while the record of the freeze cannot be trusted': {
      before: freeze,
      since: ({ redis, keys }) => redis.set(keys.freeze, '{"forged":true}'),
      is: held('freeze'),
    },
    'waits if somebody has removed the record of the freeze since': {
      before: (moves) => freeze(moves).then(() => moves.app.freezes.lift({})),
      signed: { agoMs: minutes },
      since: ({ redis, keys }) => redis.del(keys.freeze),
      is: held('freeze'),
    },
  }
  return Object.entries(ofHow).map(([what, of]): [string, Case] => [
    `approved as ${how} ${what}`,
    { ...of, rule, signed: { ...of.signed, how } },
  ])
})

test.each([...Object.entries(cases), ...emergencies])('a move %s', async (_, { signed, before, since, app, is, ...world }) => {
  const moves = startMoves(world)
  await before?.(moves)
  const request = await moves.record(signed)
  await since?.(moves, request)
  expect(await moves.run(request, app?.(moves))).toEqual(is)
})

describe('a write', () => {
  test('is claimed within 20 s of the read of the account, or the move is due again at once', async () => {
    const { record, run, store } = startMoves()
    const request = await record()
    const now = await store.now()
    let latest = 0
    const take: Store['take'] = (of, name, data = {}) => {
      latest = data.notAfter ?? 0
      return store.take(of, name, { ...data, notAfter: now - 1 })
    }
    expect(await run(request, { store: { ...store, take } })).toEqual(again(0))
    expect(latest - now).toBeCloseTo(20_000, -4)
  })

  test('has a turn for 2 s after it asked for it. After that it waits for its next turn', async () => {
    const turns: boolean[] = []
    const onWrite = () => {
      const inTime = (useTakenTurn()?.leftMs() ?? 0) > 0
      turns.push(inTime)
      if (!inTime) throw limitOf('write', 0)
    }
    const [quick, slow] = [startMoves({ onWrite }), startMoves({ onWrite })]
    expect(await quick.run(await quick.record())).toEqual(sent)
    const takeWrite = async () => {
      jump(2_000)
      return 0
    }
    const late = await slow.run(await slow.record(), { budget: { ...slow.app.budget, takeWrite } })
    expect([turns, late]).toEqual([[true, false], { ...again(0, 'writes'), writes: 1 }])
    expect(slow.woken).toEqual([20])
  })

  test('is no reason to wait if Redis could not count the read, and none to tell that the account API failed', async () => {
    const { record, run, said, find } = startMoves({ onRead: fails(new StoreUnavailableError('Redis: no answer')) })
    const request = await record()
    await expect(run(request)).rejects.toThrow(StoreUnavailableError)
    expect([said, await find(request.id)]).toEqual([[], request])
  })

  test('of which two workers begin at the same moment is sent once, which is told to nobody', async () => {
    const { app, record, writes, find, said } = startMoves()
    const request = await record(come)
    await Promise.all(Array.from({ length: 8 }, () => send(app, request)))
    expect(writes).toHaveLength(1)
    expect((await find(request.id)).state).toBe('tracking')
    expect(said.filter((each) => each.startsWith('distrust'))).toEqual([])
  })

  test('for which Redis was away while it was checked is sent once Redis is back', async () => {
    const { app, record, run } = startMoves()
    const request = await record()
    const read = () => app.freezes.read().finally(() => jump(60_000))
    expect(await run(request, { freezes: { ...app.freezes, read } })).toEqual(sent)
  })
})

const waiting: Record<string, Omit<Case, 'is'>> = {
  'its start': { signed: { startInMs: hour } },
  'its window': { rule: { windows: [closed] } },
  'the end of a freeze': { before: freeze },
  'an answer of Slack to who may still do it': { right: 'no-answer', signed: come },
  'an answer of the account API': { onRead: fails(refusing(429)) },
  'its turn': { app: turnIn(40_000) },
}
test.each(Object.entries(waiting))(
  'while a move waits for %s, its message says so once, and the audit is not read again and again',
  async (_, { signed, before, app, ...world }) => {
    const moves = startMoves(world)
    await before?.(moves)
    const request = await moves.record(signed)
    await moves.run(request, app?.(moves))
    const { revision } = await moves.find(request.id)
    const read = vi.spyOn(moves.redis, 'xrevrange')

    for (let looks = 0; looks < 3; looks += 1)
      expect(await moves.run(request, app?.(moves))).toMatchObject({ writes: 0, state: 'approved' })

    expect(read).not.toHaveBeenCalled()
    expect((await moves.find(request.id)).revision).toBe(revision)
  },
)

describe('somebody who writes to Redis', () => {
  type Forgery = [string, (moves: Moves, request: Request) => Promise<unknown>, object]
  const forged = ended('approvals-not-genuine')
  const changed = ended('record-changed')
  const sentOnce = { ...ended('already-sent'), writes: 1 }
  /** Approvals or a decision of another request, which had an emergency. */
  const ofAnother = (moves: Moves, how: Signed['how']) => moves.record({ resource: 'other', how })
  const later = Date.now() + hour

  /** What a move is, what holds it, and the forgeries that do not get it sent. */
  const tables: Record<string, { rule: Partial<PolicyRule>; signed: Signed; before?: Case['before']; at: object; forgeries: Forgery[] }> = {
    'a scheduled move sent earlier': {
      rule: { breakGlass: true },
      signed: { startInMs: hour },
      at: held('start'),
      forgeries: [
        ['another start', ({ put, now }, request) => put(request, { start: now - 1 }), changed],
        ['no start', ({ redis, keys }, { id }) => redis.hdel(keys.record(id), 'start'), changed],
        [
          'another start with a hash that fits',
          ({ put, now }, request) => put(request, { start: now - 1, hash: payloadHash({ ...request, start: now - 1 }) }),
          changed,
        ],
        ['a start now without a signature', ({ put, now }, request) => put(request, { startNow: { ...byBen, at: now } }), held('start')],
        ['a start now that they signed', ({ put, startNow }, of) => put(of, { startNow: startNow(of, theirs) }), held('start')],
        [
          'the start now of another request',
          async ({ put, record, startNow }, of) => put(of, { startNow: startNow(await record({ resource: 'other', startInMs: hour })) }),
          held('start'),
        ],
        ['an approval as its start now', ({ put }, request) => put(request, { startNow: request.approvals[0] }), held('start')],
        ['nothing that it waits for', ({ put }, request) => put(request, { waits: { for: 'account' }, decidedAt: 1 }), held('start')],
        ['an emergency', ({ put }, of) => put(of, { decision: { ...of.decision, ...byBen, breakGlass: true } }), forged],
        [
          'its state before it was withdrawn, when it could start now',
          async ({ letStartNow, store, redis, keys }, request) => {
            await letStartNow(request)
            const before = await redis.hgetall(keys.record(request.id))
            await takeSteps(store, request.id, 'withdraw')
            await redis.del(keys.record(request.id))
            return redis.hset(keys.record(request.id), before)
          },
          ended('already-ended'),
        ],
      ],
    },
    'a move that needs no approval pass a freeze': {
      rule: { approve: undefined, breakGlass: true },
      signed: { needsApproval: false },
      before: freeze,
      at: held('freeze'),
      forgeries: [
        [
          'an emergency that nobody had',
          ({ put, now }, of) => put(of, { decision: { ...byBen, breakGlass: true, at: now } }),
          held('freeze'),
        ],
        [
          'the emergency of another request',
          async (moves, of) => moves.put(of, { decision: (await ofAnother(moves, 'break-glass')).decision }),
          held('freeze'),
        ],
      ],
    },
    'an approved move pass a freeze': {
      rule: { emergency: true },
      signed: {},
      before: freeze,
      at: held('freeze'),
      forgeries: [
        [
          'its own approval as an emergency',
          ({ put }, of) => put(of, { approvals: of.approvals.map((each) => ({ ...each, emergency: true as const })) }),
          forged,
        ],
        [
          'the emergency approval of another request',
          async (moves, of) => moves.put(of, { approvals: (await ofAnother(moves, 'emergency')).approvals }),
          forged,
        ],
        [
          'one more approval that it copies from another request',
          async (moves, of) => moves.put(of, { approvals: [...of.approvals, ...(await ofAnother(moves, 'emergency')).approvals] }),
          forged,
        ],
        [
          'an emergency approval that it signs with another key',
          ({ put, now }, of) =>
            put(of, { approvals: [theirs.signApproval(of, { ...byBen, emergency: true, reason: 'web-1 is dead', at: now })] }),
          held('freeze'),
        ],
      ],
    },
    // The search for the first write goes back in time. It must not end at an entry that claims to be old.
    'a move sent a second time': {
      rule: {},
      signed: {},
      at: sent,
      forgeries: [
        ['its state before the write', async () => {}, sentOnce],
        [
          'an entry that claims to be old',
          ({ redis, keys }) => redis.xadd(keys.auditIntake, '*', 'note', JSON.stringify({ version: 1, act: 'request' }), 'at', '0'),
          sentOnce,
        ],
        ['entries that look older than the approval', (moves) => rewriteAudit(moves, (text) => text, 1), sentOnce],
        [
          'its id spelled with escapes, in a chain that is computed again',
          (moves, { id }) =>
            rewriteAudit(moves, (text) => text.replaceAll(id, `\\u${id.charCodeAt(0).toString(16).padStart(4, '0')}${id.slice(1)}`)),
          sentOnce,
        ],
      ],
    },
    'an approval last longer': {
      rule: {},
      signed: { agoMs: 40 * minutes },
      at: {},
      forgeries: [
        ['a later decision', ({ put }, request) => put(request, { decidedAt: later, expiresAt: later }), missed],
        ['something that it waits for', ({ put }, request) => put(request, { waits: { for: 'freeze', until: later } }), missed],
      ],
    },
    'an exemption last longer': {
      rule: { approve: undefined, breakGlass: true },
      signed: { needsApproval: false, agoMs: 41 * minutes, ttlMs: 5 * minutes },
      at: {},
      forgeries: [
        ['a later approval', ({ put }, request) => put(request, { approvals: [{ ...byBen, at: later }] }), missed],
        ['a later emergency', ({ put }, request) => put(request, { decision: { ...byBen, breakGlass: true, at: later } }), missed],
        ['a later decision', ({ put }, request) => put(request, { decidedAt: later, expiresAt: later }), missed],
      ],
    },
  }
  const all = Object.entries(tables).flatMap(([goal, { forgeries, ...of }]) =>
    forgeries.map(([how, forge, is]) => ({ goal, how, forge, is, ...of })),
  )
  test.each(all)('cannot have $goal with $how', async ({ rule, signed, before, at, forge, is }) => {
    const moves = startMoves({ rule })
    const request = await moves.record(signed)
    await before?.(moves)
    if ('writes' in at) expect(await moves.run(request)).toEqual(at)

    await forge(moves, await moves.find(request.id))
    if (at === sent) await moves.put(request, { state: 'approved' })

    expect(await moves.run(request)).toEqual(is)
  })

  /** Writes the chain again with other texts and correct hashes. */
  async function rewriteAudit({ redis, keys, entries }: Moves, spell: (text: string) => string, firstId = Date.now()): Promise<void> {
    await entries()
    const found = await redis.xrange(keys.audit, '-', '+')
    await redis.del(keys.audit)
    let last = ''
    for (const [index, [, [, entry = '']]] of found.entries()) {
      const text = spell(JSON.stringify({ ...JSON.parse(entry), prev: last }))
      last = hashOf(text)
      await redis.xadd(keys.audit, `${firstId + index}-0`, 'entry', text, 'hash', last)
    }
    await redis.hset(keys.auditHead, 'hash', last)
  }
})

describe('a freeze', () => {
  test('that begins at its time while the account is read holds a move', async () => {
    const moves = startMoves({ onRead: () => delay(600) })
    const request = await moves.record()
    await moves.app.freezes.set({ ...freezing, from: Date.now() + 400 })
    expect(await moves.run(request)).toMatchObject({ writes: 0, state: 'approved' })
    expect(await moves.run(request)).toEqual(held('freeze'))
  })

  /** Sets it at a moment of the check: the number of a call. `isSet`: there was such a moment. */
  async function freezeAt(moment: number) {
    let calls = 0
    const atMoment = async () => {
      calls += 1
      if (calls === moment) await freeze(moves)
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

  test('holds a move at whatever moment of its check it is set', async () => {
    let moment = 1
    for (; ; moment += 1) {
      const { moves, request, first, isSet } = await freezeAt(moment)
      if (!isSet) break
      expect(first.writes, `at moment ${moment}`).toBe(0)
      expect(await moves.run(request), `at moment ${moment}`).toEqual(held('freeze'))
    }
    expect(moment).toBeGreaterThan(5)
  })

  test('that is lifted while a move notes that it is held lets the move start at once', async () => {
    const moves = startMoves()
    const { app, record, run, woken } = moves
    await freeze(moves)
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
})

describe('of two moves of the same thing, after Redis lost the lock of the first', () => {
  test('the first is not sent while the other is open, and after its end', async () => {
    const { record, store, redis, keys, run } = startMoves()
    const first = await record({ startInMs: -1, agoMs: 20 * minutes })
    await redis.del(keys.resource(first.resource))
    const other = await store.create(newRequestFor())
    expect(await run(first)).toMatchObject({ writes: 0, state: 'approved' })
    await takeSteps(store, other.id, 'reject')
    expect(await run(first)).toEqual(sent)
  })

  test('one is sent, if both were held by a freeze', async () => {
    const moves = startMoves()
    const { app, record, redis, keys, writes, find } = moves
    await freeze(moves)
    const one = await record({ agoMs: minutes })
    expect(await moves.run(one)).toEqual(held('freeze'))
    await redis.del(keys.resource(one.resource))
    const second = await record()
    expect(await moves.run(second)).toEqual(held('freeze'))
    await app.freezes.lift({})

    for (let round = 0; round < 2; round += 1) await Promise.all([one, second].map(async ({ id }) => send(app, await find(id))))

    expect(writes).toHaveLength(1)
    const states = await Promise.all([one, second].map(async ({ id }) => (await find(id)).state))
    expect(states.toSorted()).toEqual(['approved', 'tracking'])
  })
})
