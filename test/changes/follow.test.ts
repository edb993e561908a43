import { expect, test } from 'vitest'
import { createCatalog } from '../../src/changes/catalog.ts'
import { createFollow } from '../../src/changes/follow.ts'
import { createStore } from '../../src/changes/store.ts'
import { usualTimings } from '../../src/domain/timings.ts'
import { createMoveChange } from '../../src/features/move-elastic-ip/change.ts'
import { connectTestRedis, noAudit } from './redis-for-test.ts'

const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'moving', server: { id: 'sv_2', hostname: 'web-2' } }
const facts = { elasticIpId: 'eip_1', address: '203.0.113.10', from: { id: 'sv_1', name: 'web-1' }, to: { id: 'sv_2', name: 'web-2' } }

test('a move that was stopped, and is followed again while an old look at it hangs, is followed on', async () => {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
  const id = 'a'
  await store.create({
    id,
    kind: 'ip.move',
    input: { elasticIpId: 'eip_1', serverId: 'sv_2' },
    facts,
    resource: 'elastic_ip:eip_1',
    sentence: 'Move 203.0.113.10 from web-1 to web-2',
    hash: 'f'.repeat(64),
    rule: 'APPROVERS',
    unchecked: [],
    origin: { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' },
    needsApproval: true,
    ttlMs: 3_600_000,
  })
  const now = async () => {
    const request = await store.find(id)
    if (!request) throw new Error('the record is gone')
    return request
  }
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: answer, resolve: letAnswer } = Promise.withResolvers<void>()
  const get = async () => {
    ask()
    await answer
    return elasticIp
  }
  const accountApi = { elasticIps: { get } } as unknown as Parameters<typeof createMoveChange>[0]
  const { follow } = createFollow({
    store,
    catalog: createCatalog(() => [createMoveChange(accountApi)]),
    pollIntervalMs: 5_000,
    lateAfterMs: 600_000,
    timings: usualTimings,
    onApiError: () => {},
  })
  await store.transition(await now(), { name: 'accept', from: ['waiting'], to: 'following', stamp: ['sentAt'], dueInMs: 0 })
  const due = await now()

  await store.transition(due, { name: 'stop', from: ['following'], to: 'unwatched', stamp: ['endedAt'] })
  const looking = follow([due])
  await Promise.race([asked, looking])
  await store.transition(await now(), { name: 'watch-again', from: ['unwatched'], to: 'following', dueInMs: 0 })
  letAnswer()
  await looking

  expect(await store.due(10)).toEqual([id])
})
