import { expect, test } from 'vitest'
import type { AlertList } from '../../../src/features/alerts/alert-list.ts'
import { deliver } from '../../../src/outbox/outbox.ts'
import { jump } from '../../given/jump.ts'
import { outboxApp } from '../../given/outbox-app.ts'
import { connectTestRedis } from '../../given/redis.ts'

test('an update that is too late does not show which alerts had resolved before it was', async () => {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  const list = { channelId: 'C0OPS00001', command: '/infra', kind: 'ip.evacuate', listedAt: 1, alerts: [] } satisfies AlertList
  await redis.hset(keys.message('list'), { facts: JSON.stringify(list), cardTs: '"1.1"' })
  await redis.hset(keys.message('update'), 'facts', JSON.stringify({ updates: 'list' }))
  const { app, calls } = outboxApp(shared)
  const alerts = () => {
    jump(60_000)
    return [{ channelId: list.channelId }]
  }
  // This is read after what has resolved.
  Object.defineProperty(app.config.policy, 'alerts', { get: alerts })

  expect(await deliver(app, 'update', 'alerts')).toEqual({ is: 'later' })
  expect(calls).toEqual([])
})
