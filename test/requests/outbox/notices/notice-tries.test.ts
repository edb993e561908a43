import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKeyring, Secret } from '../../../../src/domain/signing.ts'
import { createNoticeTries, createOwedNotices } from '../../../../src/outbox/notices.ts'
import type { Keys } from '../../../../src/redis/key-names.ts'
import type { Posted } from '../../../../src/slack/web-api.ts'
import { connectLossyRedis, connectTestRedis } from '../../redis-for-test.ts'
import { lost, sent, slackFor } from './slack-for-notices.ts'

const keyring = createKeyring([new Secret('a-secret-of-at-least-32-characters!!')], { purpose: 'notices', prefix: 'lockkeeper' })

/** A process that posts notices. `answers`: what Slack answers to its posts in turn; the last one is repeated. */
function poster({ redis, keys }: { redis: Redis; keys: Keys }, answers: Posted[], { waitsMs = [20, 20, 20] } = {}) {
  const errors: string[] = []
  const { messenger, posts } = slackFor(answers)
  const tries = createNoticeTries({
    redis,
    keys,
    messenger,
    channelId: 'C1',
    keyring,
    owed: createOwedNotices({ redis, keys, keyring }),
    onError: (error) => errors.push(String(error)),
    waitsMs,
  })
  onTestFinished(tries.stop)

  /** Resolves after the first try. */
  async function post(key: string) {
    const message = { text: 'Look at this.', blocks: [] }
    const { firstTry } = await tries.begin(key, { code: 'redis-unsafe', level: 'error', message, at: Date.now() })
    await firstTry
  }
  return { ...tries, post, posts, errors }
}

describe('a notice', () => {
  test.for<Posted>([lost, { is: 'refused', error: 'not_in_channel' }])('is posted again at the next try after %j', async (failure) => {
    const one = poster(connectTestRedis(), [failure, failure, sent])

    await one.post('redis-unsafe')
    expect(one.posts).toHaveLength(1)

    await expect.poll(() => one.posts.length).toBe(3)
    await sleep(60)
    expect(one.posts).toHaveLength(3)
    expect(one.errors).toEqual([`Error: could not notify the operators' channel yet: ${JSON.stringify(failure)}`])
  })

  test('is under way until Slack has it', async () => {
    const one = poster(connectTestRedis(), [lost, sent])

    await one.post('redis-unsafe')
    expect(one.isSending('redis-unsafe')).toBe(true)

    await expect.poll(() => one.isSending('redis-unsafe')).toBe(false)
    expect(one.posts).toHaveLength(2)
  })

  test('is posted again after the wait that Slack asks for', async () => {
    const one = poster(connectTestRedis(), [{ is: 'rate-limited', retryInMs: 300 }, sent])

    await one.post('redis-unsafe')
    await expect.poll(() => one.posts.length).toBe(2)

    expect((one.posts[1] ?? 0) - (one.posts[0] ?? 0)).toBeGreaterThanOrEqual(295)
  })

  test('is posted by another process if the first one failed or died', async () => {
    const shared = connectTestRedis()
    const failing = poster(shared, [lost], { waitsMs: [60_000] })
    await failing.post('api-key-rejected')
    const other = poster(shared, [sent])
    await other.post('api-key-rejected')
    expect(other.posts).toHaveLength(1)

    await shared.redis.set(shared.keys.notice('redis-unsafe'), 'token of a dead process', 'PX', 1_000)
    await other.post('redis-unsafe')
    expect(other.posts).toHaveLength(1)
    await expect.poll(() => other.posts.length).toBe(2)
  })

  test('is posted by one process if two fail at first', async () => {
    const shared = connectTestRedis()
    const posters = [
      poster(shared, [lost, sent], { waitsMs: [20, 20, 20, 20, 20] }),
      poster(shared, [lost, sent], { waitsMs: [50, 20, 20, 20, 20] }),
    ]

    await Promise.all(posters.map(({ post }) => post('redis-unsafe')))

    await expect.poll(() => shared.redis.get(shared.keys.notice('redis-unsafe'))).toMatch(/^\d+ [0-9a-f]{8}\./)
    const posts = () => posters.flatMap((each) => each.posts).length
    const before = posts()
    await sleep(150)
    expect(posts()).toBe(before)
  })

  test('is posted if an answer of Redis is lost', async () => {
    const { keys } = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = poster({ redis, keys }, [sent], { waitsMs: [] })

    proxy.loseNextReply()
    await one.post('redis-unsafe')

    expect(proxy.fired.lostReplies).toBe(1)
    expect(one.posts).toHaveLength(1)
  })

  test('is posted while Redis is away', async () => {
    const { redis, keys } = connectTestRedis()
    redis.disconnect()
    const one = poster({ redis, keys }, [lost, sent])

    await one.post('redis-unsafe')

    await expect.poll(() => one.posts.length).toBe(2)
  })

  test('is not posted after the last try, which is an error, and the next occurrence starts again', async () => {
    const shared = connectTestRedis()
    const one = poster(shared, [lost], { waitsMs: [10, 10] })

    await one.post('redis-unsafe')

    await expect.poll(() => one.errors.at(-1)).toMatch(/stopped trying: .*503/)
    await sleep(50)
    expect(one.posts).toHaveLength(3)
    expect(one.errors).toHaveLength(2)
    expect(await shared.redis.exists(shared.keys.notice('redis-unsafe'))).toBe(0)
    await one.post('redis-unsafe')
    expect(one.posts).toHaveLength(4)
  })

  test('is not posted by a process that has stopped', async () => {
    const one = poster(connectTestRedis(), [lost])

    await one.post('redis-unsafe')
    one.stop()
    await sleep(60)

    expect(one.posts).toHaveLength(1)
  })
})

describe('a mark in Redis that a notice was posted', () => {
  test.each<[string, (key: string) => string]>([
    ['that is as long as a mark', () => 'notified'],
    ['of a process that never ends', () => 'c2a1f3de-0000-4000-8000-000000000000'],
    ['with the signature of another notice', (other) => other],
  ])('%s stops no notice if somebody who can write to Redis has set it', async (_, forged) => {
    const shared = connectTestRedis()
    const one = poster(shared, [sent])
    await one.post('redis-unsafe')
    const other = (await shared.redis.get(shared.keys.notice('redis-unsafe'))) ?? ''
    await shared.redis.set(shared.keys.notice('record-not-genuine:x'), forged(other))

    await one.post('record-not-genuine:x')

    await expect.poll(() => one.posts.length).toBe(2)
    expect(await shared.redis.pttl(shared.keys.notice('record-not-genuine:x'))).toBeGreaterThan(3_500_000)
  })

  test.each([
    ['an hour ago', -3_700_000],
    ['by a clock that was ahead', 3_700_000],
  ])('stops no notice if it was made %s and somebody keeps it', async (_, ms) => {
    const shared = connectTestRedis()
    const at = Date.now() + ms
    const mark = `${at} ${keyring.sign({ signed: 'notice', key: 'record-not-genuine:x', at })}`
    await shared.redis.set(shared.keys.notice('record-not-genuine:x'), mark)
    const one = poster(shared, [sent])

    await one.post('record-not-genuine:x')

    await expect.poll(() => one.posts.length).toBe(1)
  })
})
