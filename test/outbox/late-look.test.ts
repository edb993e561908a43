import { expect, test } from 'vitest'
import { oweText } from '../../src/outbox/notices.ts'
import { lease, settle } from '../../src/outbox/once.ts'
import { deliver, sweepOutbox } from '../../src/outbox/outbox.ts'
import { encodeFields } from '../../src/record/store.ts'
import type { SearchResult } from '../../src/slack/web-api.ts'
import { lost, outboxApp } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'
import { minutes, moveFacts, requestFor } from '../given/request.ts'

type Options = NonNullable<Parameters<typeof outboxApp>[1]>

const twice: SearchResult = { is: 'found', ts: '10.1', all: ['10.1', '9.9', '11.1'] }

/** A request with a message that was posted after a search that found nothing, so that a look is owed. */
async function withLook(name: 'card' | 'ended', options: Options = {}) {
  const shared = connectTestRedis()
  const { redis, keys } = shared
  const request = requestFor({
    facts: moveFacts,
    state: name === 'card' ? 'waiting' : 'done',
    ...(name === 'card' && { cardTs: undefined }),
  })
  const owed = { id: request.id, name }
  const key = `${request.id}/${name}`
  await redis.hset(keys.record(request.id), {
    ...encodeFields(request),
    [`outbox:${name}`]: JSON.stringify({ status: 'unsure', token: 'x' }),
  })
  await redis.zadd(keys.outbox, 1, key)
  const { searches = [twice], ...rest } = options
  const parts = outboxApp(shared, {
    posts: [{ is: 'sent', ts: '11.1', channelId: 'C0OPS00001' }],
    searches: [{ is: 'absent' }, ...searches],
    ...rest,
  })
  await deliver(parts.app, request.id, name)
  const look = `late-look:${key}/late-look`
  const dueInMs = async () => Number((await redis.zscore(keys.outbox, look)) ?? Number.NaN) - (await parts.app.store.now())
  const isOwed = async () => (await redis.zscore(keys.outbox, look)) !== null
  /** Lets only the look be due. */
  const sweep = async () => {
    await redis.zadd(keys.outbox, 1, look)
    await sweepOutbox(parts.app, () => {})
  }
  const removed = () => parts.calls.filter((call) => call.startsWith('remove'))
  return { ...shared, ...parts, request, owed, key, look, dueInMs, isOwed, sweep, removed }
}

test('a message that was posted after an empty search is looked for 30 to 60 s later, also if its process ends right after the post', async () => {
  const { dueInMs } = await withLook('ended', { posts: [lost] })
  expect(await dueInMs()).toBeGreaterThan(30_000)
  expect(await dueInMs()).toBeLessThan(60_000)
})

test('all but the oldest message with the key of a report are deleted', async () => {
  const { sweep, removed, isOwed, found, key, log } = await withLook('ended')
  await sweep()
  expect(removed()).toEqual(['remove 10.1 from C0OPS00001', 'remove 11.1 from C0OPS00001'])
  expect(found.at(-1)).toMatchObject({ channelId: 'C0OPS00001', threadTs: requestFor().cardTs, key, wantsAll: true })
  expect(await isOwed()).toBe(false)
  expect(log).toEqual(Array(2).fill('info: Deleted the second copy of a message'))
})

test('of request messages, the one that the record names stays', async () => {
  const { sweep, removed, isOwed } = await withLook('card')
  await sweep()
  expect(removed()).toEqual(['remove 9.9 from C0OPS00001', 'remove 10.1 from C0OPS00001'])
  expect(await isOwed()).toBe(false)
})

test('a notice that is meant to repeat stays, however late the look is', async () => {
  const shared = connectTestRedis()
  const { app, found, sweep } = outboxApp(shared, { searches: [{ is: 'absent' }] })
  const owed = { id: 'no-worker', name: 'notice' as const }
  const { redis, keys } = shared
  await oweText(app, owed, { words: 'x' })
  await redis.hset(keys.message(owed.id), 'outbox:notice', JSON.stringify({ status: 'unsure', token: 'x' }))
  await sweep()

  await sweep()

  const { latestMs } = found.at(-1) as { latestMs: number }
  expect(latestMs).toBeGreaterThan(Date.now() + 5 * minutes)
  // The next notice about the same comes an hour after this one at the earliest.
  expect(latestMs).toBeLessThan(Date.now() + 30 * minutes)
})

test('a message that is there once, or not at all, stays as it is', async () => {
  for (const searches of [[{ is: 'found', ts: '9.9', all: ['9.9'] }], [{ is: 'absent' }]] satisfies SearchResult[][]) {
    const { sweep, removed, isOwed } = await withLook('ended', { searches })
    await sweep()
    expect([removed(), await isOwed()]).toEqual([[], false])
  }
})

test('nothing is deleted while a message is not settled, because its next try may find any of them', async () => {
  const { sweep, removed, dueInMs } = await withLook('card', { posts: [lost] })
  await sweep()
  expect(removed()).toEqual([])
  expect(await dueInMs()).toBeGreaterThan(30_000)
})

test('a look that Slack does not allow ends with one line of the log', async () => {
  const { sweep, removed, isOwed, log } = await withLook('ended', { searches: [{ is: 'cannot-search' }] })
  await sweep()
  expect([removed(), await isOwed()]).toEqual([[], false])
  expect(log).toEqual(["info: Couldn't look for a second copy of a message, because Slack allows no search there"])
})

test('a look that fails, or whose process ends, is done again', async () => {
  const { sweep, removed, isOwed, app, redis, keys, look } = await withLook('ended', {
    searches: [{ is: 'unknown', problem: 'x' }, twice],
    removals: [{ is: 'sent' }, { is: 'rate-limited', retryInMs: 1_000 }, { is: 'refused', error: 'message_not_found' }],
  })
  await sweep()
  expect([removed().length, await isOwed()]).toEqual([0, true])
  const id = look.slice(0, -'/late-look'.length)
  expect(await lease(app, { id, name: 'late-look' })).toMatchObject({ is: 'leased' })
  const left = JSON.parse((await redis.hget(keys.message(id), 'outbox:late-look')) ?? '{}')
  await redis.hset(keys.message(id), 'outbox:late-look', JSON.stringify({ ...left, until: 0 }))
  await sweep()
  expect([removed().length, await isOwed()]).toEqual([2, true])
  await sweep()
  expect(await isOwed()).toBe(false)
})

test('a process that lost its lease after it had posted owes a look, and one that had posted nothing does not', async () => {
  for (const hasPosted of [true, false]) {
    const shared = connectTestRedis()
    const { redis, keys } = shared
    const request = requestFor({ facts: moveFacts, state: 'done' })
    const owed = { id: request.id, name: 'ended' as const }
    await redis.hset(keys.record(request.id), { ...encodeFields(request), 'outbox:ended': JSON.stringify({ status: 'queued', owedBy: 4 }) })
    const { app } = outboxApp(shared)
    const slow = await lease(app, owed)
    if (slow.is !== 'leased') throw new Error(slow.is)
    const place = { channelId: 'C0OPS00001', threadTs: '1.1', key: `${request.id}/ended/4` }
    if (hasPosted) slow.lease.posted = { message: { text: 'Done', blocks: [] }, place, sinceMs: 1_000 }
    await redis.hset(keys.record(request.id), 'outbox:ended', JSON.stringify({ status: 'sending', token: 'another', until: 0, owedBy: 4 }))

    expect(await settle(app, owed, slow.lease, { status: 'settled' })).toBe('lost')

    const member = `late-look:${place.key}/late-look`
    expect((await redis.zscore(keys.outbox, member)) !== null).toBe(hasPosted)
  }
})
