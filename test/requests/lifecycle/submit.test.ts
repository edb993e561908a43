import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Change } from '../../../src/domain/change.ts'
import type { Finding } from '../../../src/domain/finding.ts'
import type { Requester } from '../../../src/domain/people.ts'
import { createSubmit } from '../../../src/requests/lifecycle/submit.ts'
import type { NewRequest } from '../../../src/requests/store/new-requests.ts'
import { Refusal } from '../../../src/slack/errors.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import { description, requestedAt, ruleFor } from '../request-for-test.ts'
import { signatures } from '../signatures-for-test.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function requesterOf(userId: string): Requester {
  return {
    person: { userId, standing: 'member', teamId: origin.teamId },
    place: { channelId: origin.channelId, teamId: origin.teamId, standing: 'usual' },
    membership: new Map(),
  }
}

/** Submits Ada's request, and records the calls in order. */
function setUp({ mayRequest = true, unchecked = [] as Finding[] } = {}) {
  const done: unknown[] = []
  const created: NewRequest[] = []
  const change: Change<{ id: string }, { id: string }> = {
    kind: 'ip.move',
    label: 'moving an Elastic IP',
    eventActions: ['move'],
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
    describe: () => description,
    observe: async () => ({ is: 'done' }),
    doneSentence: () => ['It was moved.'],
  }
  const submit = createSubmit({
    signatures,
    store: {
      now: async () => requestedAt,
      lastChangeOf: async () => undefined,
      create: async (request: NewRequest) => {
        created.push(request)
        return { outcome: 'created', id: request.id }
      },
    } as never,
    access: {
      gate: async (_: unknown, kind: string) => {
        done.push({ gate: kind })
        if (!mayRequest) throw new Refusal(mrkdwn`You are not among the people who may ask for this here.`)
        return requesterOf('from the gate')
      },
      admit: async (_: unknown, { requester }: { requester: Requester }) => {
        done.push({ admitted: requester.person.userId })
        return { rule: ruleFor(), unchecked: unchecked.map((code) => ({ code })) }
      },
    } as never,
    deliver: async () => ({ is: 'sent' }) as never,
    wake: async () => {},
    names: async () => new Map(),
    mostUndecided: 10,
    fitsOnCard: () => true,
  })
  const requested = { change, input: { id: 'eip_1' }, origin, reason: undefined, deliveryKey: 'd1' }
  return { submit, requested, done, created }
}

describe('a request', () => {
  test('is checked at the gate before the account is read, and then under the rule of its project', async () => {
    const { submit, requested, done } = setUp()

    await submit(requested)

    expect(done).toEqual([{ gate: 'ip.move' }, 'preflight', { admitted: 'from the gate' }])
  })

  test('is not checked at the gate again if its command was', async () => {
    const { submit, requested, done } = setUp()

    await submit({ ...requested, requester: requesterOf('from the command') })

    expect(done).toEqual(['preflight', { admitted: 'from the command' }])
  })

  test('is refused before the account is read', async () => {
    const { submit, requested, done, created } = setUp({ mayRequest: false })

    await expect(submit(requested)).rejects.toThrow('You are not among the people')

    expect(done).toEqual([{ gate: 'ip.move' }])
    expect(created).toEqual([])
  })

  test('records what could not be checked', async () => {
    const { submit, requested, created } = setUp({ unchecked: [{ code: 'approvers-unknown' }, { code: 'channel-unreadable' }] })

    await submit(requested)

    expect(created[0]?.unchecked).toMatchInlineSnapshot(`
      [
        {
          "code": {
            "code": "approvers-unknown",
          },
        },
        {
          "code": {
            "code": "channel-unreadable",
          },
        },
      ]
    `)
  })
})
