import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Requester } from '../../src/domain/approval.ts'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import { isGenuine, type Request } from '../../src/domain/request.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { submit } from '../../src/life/submit.ts'
import { toUserMessage } from '../../src/slack/errors.ts'
import { startJobs } from '../given/jobs.ts'
import { moveFacts, newRequestFor, recordRequest, requestFor } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'

const { origin, input } = newRequestFor()

const requester: Requester = {
  person: { userId: origin.userId, standing: 'member', teamIds: [String(origin.teamId)] },
  place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
  membership: new Map(),
}

interface Setup {
  rule?: Partial<PolicyRule>
  /** A request that a new one undoes or repeats. */
  earlier?: Request
  /** Called in place of recording it, or right after that. */
  create?: () => Promise<never>
  onCreated?: () => unknown
}

/** Submits Ada's move over a real Redis, and records its checks in order. */
function setUp({ rule, earlier, create, onCreated }: Setup = {}) {
  const checks: string[] = []
  async function preflight() {
    checks.push('preflight')
    return { facts: moveFacts, unchecked: [], incomplete: false }
  }
  const change = { ...moveChange({} as never), preflight }
  const jobs = startJobs([change], {
    rule,
    people: {
      async person(userId, { fresh = false } = {}) {
        if (fresh) checks.push('gate')
        return { userId, standing: 'member', teamIds: ['T0NIMBUS01'] }
      },
      async members(ids) {
        if (ids.length > 0) checks.push('approvers')
        return new Map(ids.map((id) => [id, new Set(['U0BEN00001'])]))
      },
    },
  })
  const { store } = jobs
  const app = jobs.appWith({
    config: { ...jobs.app.config, openRequestsPerPerson: 10 },
    errors: { of: () => () => {} },
    store: {
      ...store,
      ...(earlier && { find: async () => earlier }),
      create: create ?? ((...of) => store.create(...of).finally(async () => void (await onCreated?.()))),
    },
  })
  const recorded = async () => (await store.findOpen()).requests
  async function submitMove(more: Partial<Parameters<typeof submit>[1]> = {}) {
    return submit(app, { change: change as never, input, origin, reason: undefined, deliveryKey: 'd1', ...more })
  }
  return { ...jobs, app, submit: submitMove, checks, recorded }
}

describe('a request', () => {
  test('is checked at the gate before the account is read, and then under the rule of its project', async () => {
    const { submit, checks } = setUp()
    await submit()
    expect(checks).toEqual(['gate', 'preflight', 'approvers'])
  })

  test('is not checked at the gate again if its command was', async () => {
    const { submit, checks } = setUp()
    await submit({ requester })
    expect(checks).toEqual(['preflight', 'approvers'])
  })

  test('is refused before the account is read', async () => {
    const { submit, checks, recorded } = setUp({ rule: { request: toGroup(['U0BEN00001']) } })
    await expect(submit()).rejects.toMatchObject({ code: 'not-a-requester' })
    expect([checks, await recorded()]).toEqual([['gate'], []])
  })

  test('has the reason without the white space around it, and none if it shows nothing', async () => {
    async function reasonOf(reason: string, rule?: Partial<PolicyRule>) {
      const { submit, recorded } = setUp({ rule })
      await submit({ reason })
      return (await recorded()).map((request) => request.reason)
    }
    const strict = { reason: [{ rule: 'production', pattern: '^OPS-123$' }] }
    expect(await reasonOf(' OPS-123 \n')).toEqual(['OPS-123'])
    expect(await reasonOf(' OPS-123 \n', strict)).toEqual(['OPS-123'])
    expect(await reasonOf(' \u200b ')).toEqual([undefined])
  })

  test('is refused if its reason is longer than a form takes', async () => {
    const { submit, recorded } = setUp()
    await expect(submit({ reason: 'x'.repeat(501) })).rejects.toThrow(
      'Not requested: a reason can have up to 500 characters. This one has 501.',
    )
    expect(await recorded()).toEqual([])
  })

  test('that Redis may have recorded says so, and one that it refused does not', async () => {
    const refusedWith = async (code?: string) => {
      const { submit } = setUp({ create: async () => Promise.reject(new StoreUnavailableError('Redis: no answer', code)) })
      return toUserMessage(await submit().catch((error: unknown) => error))
    }
    expect(await refusedWith()).toBe(
      "Lockkeeper's database (Redis) isn't responding. Your request may be recorded: look in the channel before you try again.",
    )
    expect(await refusedWith('OOM')).toMatch(/Your last step wasn't stored/)
  })

  test('for what a child still holds after the tracking of its parent was stopped raises no alarm about their records', async () => {
    const child = 'c'.repeat(32)
    const busy = async () => ({ outcome: 'busy', locked: [{ resource: moveFacts.elasticIpId, by: child }] }) as never
    const { submit, store, redis, keys, said } = setUp({ create: busy })
    const parent = await recordRequest(store, signedBy(signatures, newRequestFor({ resource: 'evacuation:sv_1' })))
    await recordRequest(store, signedBy(signatures, newRequestFor({ id: child, resource: 'elastic_ip:eip_9' })))
    await redis.hset(keys.record(child), 'parent', JSON.stringify({ id: parent.id, kind: parent.kind }))

    await expect(submit()).rejects.toMatchObject({ code: 'locked' })
    await delay(50)
    expect(said.filter((each) => each.startsWith('distrust'))).toEqual([])
  })

  test('whose message was sent while Redis went away is recorded, and its outbox finds out about the message', async () => {
    const { submit, redis } = setUp({ onCreated: () => redis.disconnect() })
    expect(await submit()).toMatchObject({ is: 'card-delayed', isNew: true })
  })

  test.each([
    ['resolved', true],
    ['began to fire', false],
  ])('says of an alert about its target that it %s after the check', async (_, isFirst) => {
    const since = Date.now()
    const change = () =>
      isFirst
        ? setup.redis.del(setup.keys.alertsAbout(moveFacts.to.id))
        : setup.redis.zadd(setup.keys.alertsAbout(moveFacts.to.id), since, `x@${since}`)
    const setup = setUp({ onCreated: change })
    if (isFirst) await setup.redis.zadd(setup.keys.alertsAbout(moveFacts.to.id), since, `x@${since}`)

    await setup.submit()

    const told = { code: 'target-alerted', target: moveFacts.to.name, since, ...(isFirst && { until: expect.any(Number) }) }
    expect(await setup.recorded()).toMatchObject([{ newWarnings: [told] }])
  })

  test('whose message Slack refused is kept, and not told as refused, if another process has just posted it', async () => {
    const { app, submit, redis, keys, store, recorded } = setUp()
    const discard: typeof store.discard = async (request, cause) => {
      await redis.hset(keys.record(request.id), 'cardTs', '"1.1"')
      return store.discard(request, cause)
    }
    const post = async () => ({ is: 'refused' as const, error: 'invalid_auth' })
    Object.assign(app, { store: { ...app.store, discard }, slack: { ...app.slack, messenger: { ...app.slack.messenger, post } } })

    expect(await submit()).toMatchObject({ is: 'card-delayed' })
    expect(await recorded()).toHaveLength(1)
  })

  test.each(['undoes', 'repeats'] as const)('names the request that it %s, signed with everything else', async (how) => {
    const { from, to } = moveFacts
    const back = { input: { ...(input as object), serverId: from.id }, facts: { ...moveFacts, from: to, to: from } }
    const earlier = requestFor(how === 'undoes' ? { ...back, state: 'done' } : { input, facts: moveFacts, state: 'failed' })
    const named = { id: earlier.id, channelId: earlier.origin.channelId, cardTs: earlier.cardTs ?? '' }
    const { submit, recorded } = setUp({ earlier })
    await submit({ [how]: earlier.id })

    const [request] = await recorded()
    if (!request) throw new Error('nothing was recorded')
    expect(request[how]).toEqual(named)
    const forged = { ...request, [how]: { ...named, cardTs: '1795010400.000200' } }
    expect([isGenuine(request), isGenuine(forged)]).toEqual([true, false])
    expect([signatures.verifyRequest(request), signatures.verifyRequest(forged)]).toEqual(['genuine', 'forged'])
  })
})
