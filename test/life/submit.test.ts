import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Requester } from '../../src/domain/approval.ts'
import type { Change } from '../../src/domain/change.ts'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import { isGenuine, type Request } from '../../src/domain/request.ts'
import type { RequestedChange } from '../../src/domain/requested-change.ts'
import { submit } from '../../src/life/submit.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { asRecorded, type NewRequest } from '../../src/record/store.ts'
import { toUserMessage } from '../../src/slack/errors.ts'
import { fakeApp, noPolicy, notFrozen } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { connectTestRedis } from '../given/redis.ts'
import { description, requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { signatures } from '../given/signatures.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

const requester: Requester = {
  person: { userId: origin.userId, standing: 'member', teamIds: [String(origin.teamId)] },
  place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
  membership: new Map(),
}

interface Setup {
  mayRequest?: boolean
  /** What the rule requires of it. */
  reason?: PolicyRule['reason']
  /** A request that a new one undoes or repeats. */
  earlier?: Request
  /** In place of recording it. */
  create?: () => Promise<never>
}

/** Submits Ada's request, and records the calls in order. */
function setUp({ mayRequest = true, reason = [], earlier, create }: Setup = {}) {
  // Redis owes no message.
  const { redis, keys } = connectTestRedis()
  const done: unknown[] = []
  const created: NewRequest[] = []
  const change: Change<{ id: string }, { id: string }> = {
    kind: 'ip.move',
    label: 'moving an Elastic IP',
    input: z.object({ id: z.string() }),
    facts: z.object({ id: z.string() }),
    resource: ({ id }) => `elastic_ip:${id}`,
    project: () => 'none',
    preflight: async (input) => {
      done.push('preflight')
      return { facts: input, unchecked: [], incomplete: false }
    },
    differences: () => [],
    explain: () => undefined,
    subject: () => '203.0.113.10',
    describe: () => description,
    observe: async () => ({ is: 'done' }),
    doneSentence: () => ['It was moved.'],
    reverse: (input, facts) => ({ input, facts, label: 'Move back' }),
  }
  const people: Partial<People> = {
    person: async (userId, { fresh = false } = {}) => {
      if (fresh) done.push('gate')
      return { userId, standing: 'member', teamIds: [origin.teamId] }
    },
    members: async (ids) => {
      if (ids.length > 0) done.push('approvers')
      return new Map(ids.map((id) => [id, new Set(['U0BEN00001'])]))
    },
  }
  const rules = [ruleFor({ reason, request: mayRequest ? undefined : toGroup(['U0BEN00001']) })]
  const app = fakeApp(judging({}, people), {
    signatures,
    store: {
      find: async () => earlier,
      now: async () => requestedAt,
      lastChangesOf: async () => new Map(),
      create:
        create ??
        (async (request: NewRequest) => {
          created.push(request)
          return { outcome: 'created', id: request.id }
        }),
    } as never,
    ...notFrozen,
    redis,
    keys,
    queues: { wake: async () => {} },
    errors: { of: () => () => {} },
    directory: { names: async () => new Map() },
    slack: {
      identity: { linkTo: () => 'https://nimbus.slack.com/archives/C0OPS00001/p1', addressOf: () => undefined, profileOf: () => undefined },
    },
    catalog: createCatalog([change as never]),
    config: {
      policy: { ...noPolicy, rules },
      openRequestsPerPerson: 10,
      environment: undefined,
      infra: { writesPerMinute: 20 },
      moveTimeoutMs: 900_000,
    },
  })
  const requested = { change, input: { id: 'eip_1' }, origin, reason: undefined as string | undefined, deliveryKey: 'd1' }
  return {
    submit: (more: typeof requested & Partial<RequestedChange<{ id: string }, { id: string }>>) => submit(app, more),
    requested,
    done,
    created,
    redis,
  }
}

describe('a request', () => {
  test('is checked at the gate before the account is read, and then under the rule of its project', async () => {
    const { submit, requested, done } = setUp()

    await submit(requested)

    expect(done).toEqual(['gate', 'preflight', 'approvers'])
  })

  test('is not checked at the gate again if its command was', async () => {
    const { submit, requested, done } = setUp()

    await submit({ ...requested, requester: requester })

    expect(done).toEqual(['preflight', 'approvers'])
  })

  test('is refused before the account is read', async () => {
    const { submit, requested, done, created } = setUp({ mayRequest: false })

    await expect(submit(requested)).rejects.toMatchObject({ code: 'not-a-requester' })

    expect(done).toEqual(['gate'])
    expect(created).toEqual([])
  })

  test('has the reason without the white space around it, and none if it shows nothing', async () => {
    const { submit, requested, created } = setUp()
    const strict = setUp({ reason: [{ rule: 'production', pattern: '^OPS-123$' }] })

    for (const bot of [{ submit }, strict]) await bot.submit({ ...requested, reason: ' OPS-123 \n' })
    await submit({ ...requested, reason: ' \u200b ' })

    expect([...created, ...strict.created].map(({ reason }) => reason)).toEqual(['OPS-123', undefined, 'OPS-123'])
  })

  test('is refused if its reason is longer than a form takes', async () => {
    const { submit, requested, created } = setUp()

    await expect(submit({ ...requested, reason: 'x'.repeat(501) })).rejects.toThrow(
      'Not requested: a reason can have up to 500 characters. This one has 501.',
    )
    expect(created).toEqual([])
  })

  test('that Redis may have recorded says so, and one that it refused does not', async () => {
    const refusedWith = async (code?: string) => {
      const { submit, requested } = setUp({ create: async () => Promise.reject(new StoreUnavailableError('Redis: no answer', code)) })
      return toUserMessage(await submit(requested).catch((error: unknown) => error))
    }

    expect(await refusedWith()).toBe(
      "Lockkeeper's database (Redis) isn't responding. Your request may be recorded: look in the channel before you try again.",
    )
    expect(await refusedWith('OOM')).toMatch(/Your last step wasn't stored/)
  })

  test('whose message was sent while Redis went away is recorded, and its outbox finds out about the message', async () => {
    const { submit, requested, redis } = setUp()
    redis.disconnect()

    const { is, isNew } = await submit(requested)

    expect({ is, isNew }).toEqual({ is: 'card-delayed', isNew: true })
  })

  test.each(['undoes', 'repeats'] as const)('names the request that it %s, signed with everything else', async (how) => {
    const content = { input: { id: 'eip_1' }, facts: { id: 'eip_1' } }
    const earlier = requestFor({ ...content, state: how === 'undoes' ? 'done' : 'failed' })
    const named = { id: earlier.id, channelId: earlier.origin.channelId, cardTs: earlier.cardTs ?? '' }
    const { submit, requested, created } = setUp({ earlier })

    await submit({ ...requested, [how]: earlier.id })
    await submit(requested)

    expect(created.map((request) => request[how])).toEqual([named, undefined])
    const [request] = created.map(asRecorded)
    if (!request) throw new Error('nothing was created')
    const forged = { ...request, [how]: { ...named, cardTs: '1795010400.000200' } }
    expect([isGenuine(request), isGenuine(forged)]).toEqual([true, false])
    expect([signatures.verifyRequest(request), signatures.verifyRequest(forged)]).toEqual(['genuine', 'forged'])
  })
})
