import { describe, expect, test } from 'vitest'
import { unknownState } from '../../src/domain/request.ts'
import { cardActions } from '../../src/messages/request-message.ts'
import { deliver } from '../../src/outbox/outbox.ts'
import { renderCard, viewOf } from '../../src/outbox/render.ts'
import { createStore } from '../../src/record/store.ts'
import { auditWriting, trusting } from '../given/audit.ts'
import { outboxApp } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { newRequestFor, requestFor } from '../given/request.ts'

/** Records a request, and sets a field as another version of Lockkeeper would. */
async function withRecord(field: string, value: string) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: auditWriting(() => '{}'), signatures: trusting })
  const { id, facts } = requestFor()
  await store.create(newRequestFor({ id, facts }))
  await redis.hset(keys.record(id), field, value)
  return { redis, keys, store, id }
}

describe('a request that another version of Lockkeeper wrote', () => {
  test.each([
    ['a state', 'state', '"waiting-for-weather"', { state: unknownState }],
    ['a field', 'weather', '"rain"', { state: 'waiting' }],
    ['a finding', 'causes', '[{"code":"rain","mm":3}]', { causes: [{ code: 'rain', mm: 3 }] }],
    ['a later version of the record', 'version', '7', { version: 7 }],
  ])('is read and listed if it has %s that is not known', async (_, field, value, expected) => {
    const { store, id } = await withRecord(field, value)

    expect(await store.find(id)).toMatchObject(expected)
    expect((await store.findOpen()).requests.map((request) => request.id)).toEqual([id])
  })

  test('is changed by no step and stays due', async () => {
    const { store, redis, keys, id } = await withRecord('state', '"waiting-for-weather"')
    const request = await store.find(id)
    if (!request) throw new Error('the record is gone')

    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'lost' })
    expect(await store.take(request, 'late')).toMatchObject({ outcome: 'lost' })
    expect(await redis.hget(keys.record(id), 'state')).toBe('"waiting-for-weather"')
    expect(await redis.zscore(keys.due, id)).not.toBeNull()
  })

  test('is shown with its state and its findings, without buttons', () => {
    const { app } = outboxApp(connectTestRedis())
    const view = viewOf(app, requestFor({ state: unknownState, causes: [{ code: 'rain' }] }))

    expect(view.isKnown).toBe(false)
    expect(view.ending).toMatchObject({ why: 'rain.' })
    expect(cardActions(view)).toEqual([])
    expect(JSON.stringify(renderCard(app, requestFor({ state: unknownState })))).toContain(
      "In a state that this version of Lockkeeper doesn't know",
    )
  })

  test('keeps the card of the other version, and its messages stay in the outbox', async () => {
    const { redis, keys, id } = await withRecord('state', '"waiting-for-weather"')
    const { app, calls } = outboxApp({ redis, keys })

    expect(await deliver(app, id, 'card')).toEqual({ is: 'later' })
    expect(calls).toEqual([])
    expect(await redis.zscore(keys.outbox, `${id}/card`)).not.toBeNull()
  })
})
