import { describe, expect, test } from 'vitest'
import { createStore, type NewRequest, noteOfVerified } from '../../src/record/store.ts'
import { auditWriting, trusting } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'
import { moveFacts, newRequestFor, recordRequest, requestFor } from '../given/request.ts'
import { takeSteps } from '../given/take-steps.ts'

const notPosted = { code: 'not-posted', error: 'is_archived' }
const answer = { operation: 'elasticIps.move', status: 202 }

describe('the audit', () => {
  /** A recorded request, with the notes in the audit intake, oldest first. */
  async function withAudit(more: Partial<NewRequest> = {}) {
    const { redis, keys } = connectTestRedis()
    const audit = auditWriting((note) => JSON.stringify(note))
    const store = createStore({ redis, keys, audit, signatures: trusting })
    const request = await recordRequest(store, { reason: 'web-1 is being replaced', hash: 'f'.repeat(64), ...more })
    const noted = async () => {
      const items = await redis.xrange(keys.auditIntake, '-', '+')
      return items.map(([, [, note = '', , at, ...states]]) => ({
        ...JSON.parse(note),
        at: Number(at),
        ...Object.fromEntries(states.flatMap((name, index) => (index % 2 === 0 ? [[name, states[index + 1]]] : []))),
      }))
    }
    return { redis, keys, store, request, noted }
  }
  const subject = {
    kind: 'ip.move',
    resource: 'elastic_ip:eip_1GijF7NsZe3bN',
    facts: moveFacts,
    channelId: 'C0OPS00001',
    teamId: 'T0NIMBUS01',
    payload: expect.stringMatching(/^[0-9a-f]{64}$/),
  }

  test('notes requester, change, place and reason of a new request', async () => {
    const { request, noted } = await withAudit()
    expect(await noted()).toEqual([
      {
        ...subject,
        act: 'request',
        requestId: request.id,
        by: 'U0ADA00001',
        rule: 'APPROVERS',
        reason: 'web-1 is being replaced',
        at: expect.any(Number),
        to: 'waiting',
      },
    ])
  })

  test('notes a request that is delivered twice once, and a busy one not at all', async () => {
    const { store, request, noted } = await withAudit()
    await store.create(newRequestFor({ id: request.id }))
    await store.create(newRequestFor())
    expect(await noted()).toHaveLength(1)
  })

  test('notes each step with its state, by Redis’ clock, and without what the request’s note says', async () => {
    const { store, request, noted } = await withAudit()
    await store.take(request, 'reject', { audit: { by: 'UBEN', rule: 'APPROVERS', via: 'UBEN', reason: 'Not today' } })
    const [, note] = await noted()
    expect(note).toEqual({
      act: 'reject',
      requestId: request.id,
      by: 'UBEN',
      rule: 'APPROVERS',
      via: 'UBEN',
      reason: 'Not today',
      to: 'rejected',
      at: (await store.find(request.id))?.endedAt,
    })
  })

  test('notes the answer of the account API and the causes that a step carries', async () => {
    const { store, request, noted } = await withAudit()
    await takeSteps(store, request.id, ['approve', { audit: { answer } }], ['void', { set: { causes: [notPosted] } }])
    expect((await noted()).slice(1)).toMatchObject([
      { act: 'approve', answer },
      { act: 'void', causes: [notPosted] },
    ])
  })

  test('notes a repeated step once, and a refused step not at all', async () => {
    const { store, request, noted } = await withAudit()
    await store.take(request, 'count-approval', {}, 'mine')
    await store.take(request, 'count-approval', {}, 'mine')
    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'changed' })
    expect(await store.take(request, 'finish')).toMatchObject({ outcome: 'lost' })
    expect((await noted()).map(({ act }) => act)).toEqual(['request', 'count-approval'])
  })

  test.each(['send', 'void', 'drop'])(
    'notes for a child that takes %s what its parent’s note does not say: which address, and what was to change',
    (act) => {
      const child = requestFor({ facts: moveFacts, parent: { id: 'a'.repeat(32), kind: 'ip.evacuate' } })
      const { resource, facts } = child
      expect(noteOfVerified(child, act, {})).toEqual({ act, requestId: 'a'.repeat(32), item: 'eip_1GijF7NsZe3bN', resource, facts })
      expect(noteOfVerified(child, 'accept', {}).facts).toBeUndefined()
    },
  )

  test('notes a discarded request once, with the cause, and a kept one not at all', async () => {
    const { store, request, noted } = await withAudit()
    await store.discard(request, notPosted)
    await store.discard(request, notPosted)
    expect((await noted())[1]).toMatchObject({
      act: 'discard',
      requestId: request.id,
      causes: [notPosted],
    })
    expect(await noted()).toHaveLength(2)

    const kept = await withAudit()
    await kept.store.take(kept.request, 'approve')
    await kept.store.discard(kept.request, notPosted)
    expect((await kept.noted()).map(({ act }) => act)).toEqual(['request', 'approve'])
  })
})
