import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Origin } from '../../src/domain/approval.ts'
import type { Change } from '../../src/domain/change.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
import { newKeyChange } from '../../src/features/keys/create.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { startNow } from '../../src/life/decide.ts'
import { heldByFreeze } from '../../src/life/send.ts'
import { judgeAgain, waitForHandover } from '../../src/life/waiting.ts'
import { approvedByYou, tooLate, unknownRequest } from '../../src/messages/why-not.ts'
import type { NewRequest } from '../../src/record/store.ts'
import { type Fake, fakeApp, noPolicy } from '../fake-app.ts'
import { decideWith } from '../given/decide-with.ts'
import { startJobs } from '../given/jobs.ts'
import { minutes, newRequestFor, recordRequest } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'
import { type PlannedStep, takeSteps, untilTracking } from '../given/take-steps.ts'

const ada: Origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const ben = { ...ada, userId: 'U0BEN00001' }
const chiara = { ...ada, userId: 'U0CHI00001' }

const approveBy = (approvals: number, ...people: Origin[]) => ({
  anyOf: toGroup(people.map(({ userId }) => userId)),
  allOf: [],
  approvals,
})

const key = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
const newKey = { kind: 'key.create', input: key, facts: key, resource: 'api_key_name:ci-deploy' } as const

/** Decisions over a real Redis. Ada requests; Ben and Chiara approve, unless the rule says otherwise. */
function startDecide(rule: Partial<PolicyRule> = {}, ofKey: Partial<Change> = {}) {
  const attempted: (string | undefined)[] = []
  const changes = [moveChange({} as never), { ...newKeyChange(fakeApp({})), ...ofKey }] as Change[]
  const { appWith, store, redis, keys, find, said, woken } = startJobs(changes, { rule: { approve: approveBy(1, ben, chiara), ...rule } })
  const app = appWith({
    audit: { noteOnce: async (note) => void attempted.push(note.attempted) },
    errors: { of: () => (error) => expect.fail(String(error)) },
  })
  const decide = decideWith(app)

  /** Ada's request, after these steps. */
  async function record(more: Partial<NewRequest> = {}, ...steps: PlannedStep[]): Promise<Request> {
    const { id } = await recordRequest(store, signedBy(signatures, newRequestFor(more)))
    return takeSteps(store, id, ...steps)
  }

  const now = ({ id }: Request) => find(id)

  /** Changes the record as if its deadline had passed. */
  const letExpire = ({ id }: Request) => redis.hset(keys.record(id), 'expiresAt', '1')
  const remove = ({ id }: Request) => redis.del(keys.record(id))
  return { app, decide, store, record, now, letExpire, remove, said, woken, attempted }
}

describe('an approval', () => {
  test('of a key gives the requester the full time to create it', async () => {
    const { decide, record, now, store, woken } = startDecide()
    const request = await record({ ...newKey, ttlMs: 60 * minutes })

    await decide.approve(request, ben)

    const left = (await now(request)).expiresAt - (await store.now())
    expect(Math.abs(left - 60 * minutes)).toBeLessThan(5_000)
    expect(woken).toEqual([30 * minutes])
  })

  test('of a key whose button works for a shorter time calls its requester only at the times that are left', async () => {
    const end = Date.now() + 20 * minutes
    const { decide, record, now, woken } = startDecide({}, { tooLateAt: () => end })
    const request = await record({ ...newKey, ttlMs: 60 * minutes })

    await decide.approve(request, ben)

    expect((await now(request)).reminded).toBe(1)
    expect(Math.abs((woken[0] ?? 0) - 14 * minutes)).toBeLessThan(5_000)
  })

  test('after the deadline, before a worker has expired the request, expires it', async () => {
    const { decide, record, now, letExpire, said, woken } = startDecide()
    const request = await record()
    await letExpire(request)

    const approve = decide.approve(request, ben)

    await expect(approve).rejects.toThrow(tooLate({ ...request, state: 'expired' }, ben.userId).message)
    expect((await now(request)).state).toBe('expired')
    expect([said, woken]).toEqual([['sends card', 'sends ended'], []])
  })

  test('of a request that is gone is refused', async () => {
    const { decide, record, remove } = startDecide()
    const request = await record()
    await remove(request)

    await expect(decide.approve(request, ben)).rejects.toThrow(unknownRequest('/infra').text)
  })
})

describe('an approved key that a window holds', () => {
  const days = [((new Date().getUTCDay() + 2) % 7) + 1]
  const window = { name: 'far', days, from: '09:00', to: '17:00', zone: 'UTC' }
  async function approved(ttlMs: number) {
    const { app, decide, record, now, woken } = startDecide({ windows: [window] })
    const request = await record({ ...newKey, ttlMs })
    await decide.approve(request, ben)
    const rules = app.config.policy.rules.map((rule) => ({ ...rule, windows: undefined }))
    const other = fakeApp(app as Fake<App>, { config: { policy: { ...noPolicy, rules } } })
    return { app, other, woken, now: () => now(request) }
  }

  test('gets another deadline by each process with another policy, and not again at once', async () => {
    const { app, other, woken, now } = await approved(60 * minutes)
    const left = async () => (await now()).expiresAt - Date.now()
    expect(await left()).toBeGreaterThan(24 * 60 * minutes)
    await waitForHandover(other, await now())
    expect(await left()).toBeLessThanOrEqual(60 * minutes)
    await waitForHandover(app, await now())
    expect(await left()).toBeGreaterThan(24 * 60 * minutes)
    expect(Math.min(...woken)).toBeGreaterThan(29 * minutes)
  })

  test('expires once a policy without that window is read, if its time would be over', async () => {
    const { other, now } = await approved(60 * minutes)
    await waitForHandover(fakeApp(other as Fake<App>, { store: { now: async () => Date.now() + 61 * minutes } }), await now())
    expect((await now()).state).toBe('expired')
  })
})

describe('one of several approvals', () => {
  test('is counted together with an approval that another person gave since the record was read', async () => {
    const { decide, record, now, woken } = startDecide({ approve: approveBy(2, ben, chiara) })
    const request = await record()

    const answers = await Promise.all([decide.approve(request, ben), decide.approve(request, chiara)])

    expect(answers.map(({ missing }) => missing).toSorted()).toEqual([0, 1])
    const approved = await now(request)
    expect(approved.state).toBe('approved')
    expect(approved.approvals.map(({ by }) => by).toSorted()).toEqual([ben.userId, chiara.userId])
    expect(woken).toEqual([0])
  })

  test('is counted once per person, also from a card that is older than the first click', async () => {
    const { decide, record, now } = startDecide({ approve: approveBy(2, ben, chiara) })
    const request = await record()
    await decide.approve(request, ben)

    for (const read of [request, await now(request)]) await expect(decide.approve(read, ben)).rejects.toThrow(approvedByYou(1).text)

    expect((await now(request)).approvals).toHaveLength(1)
    // A rejection by the other one counts, also from that card.
    await decide.reject(request, chiara, 'Not today')
    expect((await now(request)).state).toBe('rejected')
  })

  test('is enough with a second press once the rule asks for fewer', async () => {
    const { app, decide, record, now } = startDecide({ approve: approveBy(2, ben, chiara) })
    const request = await record()
    await decide.approve(request, ben)
    const rules = app.config.policy.rules.map((rule) => ({ ...rule, approve: approveBy(1, ben, chiara) }))
    const other = fakeApp(app as Fake<App>, { config: { policy: { ...noPolicy, rules } } })

    expect(await decideWith(other).approve(await now(request), ben)).toMatchObject({ missing: 0 })

    const { state, approvals } = await now(request)
    expect([state, approvals.map(({ by }) => by)]).toEqual(['approved', [ben.userId]])
  })

  test('that was given in an emergency is completed by another approver then, so that what it passes stays passed', async () => {
    const { app, decide, record, now } = startDecide({ approve: approveBy(2, ben, chiara), emergency: true })
    const request = await record()
    await decide.approve(request, ben, { emergency: 'customers cannot reach the shop' })
    const rules = app.config.policy.rules.map((rule) => ({ ...rule, approve: approveBy(1, ben, chiara) }))
    const other = fakeApp(app as Fake<App>, { config: { policy: { ...noPolicy, rules } } })

    await expect(decideWith(other).approve(await now(request), ben)).rejects.toThrow(/another approver presses \*Approve\*/)
    await decideWith(other).approve(await now(request), chiara)

    const { state, approvals } = await now(request)
    expect([state, approvals.map(({ by, emergency }) => [by, emergency])]).toEqual([
      'approved',
      [
        [ben.userId, true],
        [chiara.userId, undefined],
      ],
    ])
  })

  test('is counted although another policy has the approvals counted again at the same moment', async () => {
    const dora = { ...ada, userId: 'U0DOR00001' }
    const { app, decide, record, now } = startDecide({ approve: approveBy(3, ben, chiara, dora) })
    const request = await record()
    await decide.approve(request, ben)
    const before = await app.store.findOpen()
    await decide.approve(request, chiara)

    await judgeAgain(fakeApp(app as Fake<App>, { store: { findOpen: async () => before } }))

    const { approvals, missing } = await now(request)
    expect([approvals.length, missing]).toEqual([2, 1])
  })
})

test('a refused attempt is noted with the button, and as an emergency approval only if its form was sent', async () => {
  const { decide, record, attempted } = startDecide({ breakGlass: true })
  const request = await record()

  await expect(decide.approve(request, ada)).rejects.toThrow()
  for (const to of ['decide', 'break-glass'] as const) await expect(decide.mayDecide(request, ada, to)).rejects.toThrow()
  await expect(decide.reject(request, ada, 'not tonight')).rejects.toThrow()
  await expect(decide.breakGlass(request, ada, 'web-1 is down')).rejects.toThrow()

  expect(attempted).toEqual(['request-approve', 'request-reject', 'request-approve', 'request-reject', 'break-glass'])
})

test('a change does not start before its start once somebody freezes, also right before the step', async () => {
  const { app, record, now, store } = startDecide()
  const until = (await store.now()) + 60 * minutes
  const held = { set: { waits: { for: 'start', until } } } as const
  const request = await record({ start: until, ttlMs: 60 * minutes }, 'approve', ['wait-for-start', held])
  const { freezes } = app
  const read: typeof freezes.read = async () => {
    const found = await freezes.read()
    if (!found.record) await freezes.set({ by: chiara.userId, reason: 'the sale' })
    return found
  }

  await expect(startNow(Object.assign(Object.create(app), { freezes: { ...freezes, read } }), request, ben)).rejects.toThrow(
    "It can't start now",
  )

  expect((await now(request)).startNow).toBeUndefined()
})

test('what a planned freeze holds as well does not start once the other one is lifted', async () => {
  const { app, record, store } = startDecide()
  const request = await record({}, 'approve')
  const frozen = { by: chiara.userId, reason: 'the sale' }
  await app.freezes.set(frozen)
  expect((await heldByFreeze(app)).map(({ id }) => id)).toEqual([request.id])
  await app.freezes.lift(frozen)
  const from = (await store.now()) + 500
  await app.freezes.set({ ...frozen, from })
  await app.freezes.set(frozen)
  while ((await store.now()) < from) await wait(5)
  expect(await heldByFreeze(app)).toEqual([])
})

describe('the tracking', () => {
  test('can be stopped and started again, and the time in between is counted each time', async () => {
    const { decide, record, now } = startDecide()
    const request = await record({}, ...untilTracking)
    for (const [stops, starts] of [
      [ada, ben],
      [ben, ada],
    ] as const) {
      await decide.stopTracking(await now(request), stops)
      const { stoppedBy, untrackedMs: before = 0, endedAt: stoppedAt = 0 } = await now(request)
      expect(stoppedBy).toBe(stops.userId)
      await decide.trackAgain(await now(request), starts)
      const { state, untrackedMs = 0 } = await now(request)
      expect(state).toBe('tracking')
      expect(untrackedMs - before).toBeLessThanOrEqual(Date.now() - stoppedAt)
      expect(untrackedMs).toBeGreaterThanOrEqual(before)
    }
  })

  test('of a key does not start again, because looking for the key would delete it', async () => {
    const { decide, record, now } = startDecide()
    const request = await record(newKey, 'approve', 'issue', 'distrust')

    await expect(decide.trackAgain(request, ada)).rejects.toThrow(tooLate(request, ada.userId).message)

    expect((await now(request)).state).toBe('untracked')
  })

  test('starts again once another request for the same resource has ended', async () => {
    const { decide, record, now, store } = startDecide()
    const request = await record({}, ...untilTracking, 'stop-tracking')
    const other = await record()

    await expect(decide.trackAgain(request, ada)).rejects.toThrow(
      `Not tracked again: request ${other.id.slice(0, 8)} about the same is still open. Press the button again once it has ended.`,
    )
    expect((await now(request)).state).toBe('untracked')

    await takeSteps(store, other.id, ...untilTracking, 'finish')
    await decide.trackAgain(request, ada)
    expect((await now(request)).state).toBe('tracking')
  })
})
