import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKeyring } from '../../../src/domain/signing/keyring.ts'
import { Secret } from '../../../src/domain/signing/secret.ts'
import type { Keys } from '../../../src/redis/key-names.ts'
import { createNotifyOperators } from '../../../src/requests/outbox/notify-operators.ts'
import { mrkdwn } from '../../../src/slack/text/text.ts'
import type { SearchResult } from '../../../src/slack/web-api/find-message.ts'
import type { Posted } from '../../../src/slack/web-api/messenger.ts'
import { connectLossyRedis, connectTestRedis } from '../redis-for-test.ts'

const keyring = createKeyring([new Secret('a-secret-of-at-least-32-characters!!')], { purpose: 'notices', prefix: 'lockkeeper' })

const alarm = mrkdwn`Look at this.`
const sent: Posted = { is: 'sent', ts: '1.1', channelId: 'C1' }
const lost: Posted = { is: 'unknown', problem: 'HTTP status 503' }

/** A process that notifies the operators. `answers`: what Slack answers to its posts in turn; the last one is repeated. */
function notifier(
  { redis, keys }: { redis: Redis; keys: Keys },
  answers: Posted[],
  { waitsMs = [20, 20, 20], leftAfterMs = 0, fields = [] as object[], found = { is: 'absent' } as SearchResult } = {},
) {
  const posts: number[] = []
  const texts: string[] = []
  const log: string[] = []
  const messenger = {
    post: async (_: unknown, { text }: { text: string }) => {
      posts.push(performance.now())
      texts.push(text)
      return answers[Math.min(posts.length, answers.length) - 1] ?? sent
    },
  }
  const searches: string[] = []
  const operators = createNotifyOperators({
    redis,
    keys,
    messenger: {
      ...messenger,
      async find({ key }) {
        searches.push(key)
        return found
      },
    },
    channelId: 'C1',
    keyring,
    log: {
      info: (_, text) => void log.push(`info: ${text}`),
      warn: (_, text) => void log.push(`warn: ${text}`),
      error: (of, text) => {
        fields.push(of)
        log.push(text)
      },
    },
    onError: (error) => log.push(String(error)),
    waitsMs,
    leftAfterMs,
  })
  onTestFinished(operators.stop)
  return { ...operators, posts, texts, log, searches }
}

describe('the operators', () => {
  test('read in a notice which error it is and where it is explained, and the line of the log has the code', async () => {
    const lines: object[] = []
    const one = notifier(connectTestRedis(), [sent], { fields: lines })

    await one.notify('record-not-genuine', alarm, { requestId: 'b7e2', about: 'record-changed:b7e2' })

    expect(one.texts).toEqual(['Look at this. More: `record-not-genuine` in docs/alerts-and-errors.md.'])
    expect(lines).toEqual([{ code: 'record-not-genuine', requestId: 'b7e2' }])
  })

  test('are notified again if the same error is about something else', async () => {
    const one = notifier(connectTestRedis(), [sent])

    for (const about of ['401', '401', '403']) await one.notify('api-key-rejected', alarm, { about })

    expect(one.posts).toHaveLength(2)
  })

  test('are notified once if several processes have the same problem', async () => {
    const shared = connectTestRedis()
    const [one, other] = [notifier(shared, [sent]), notifier(shared, [sent])]

    await one.notify('api-key-rejected', alarm)
    await one.notify('api-key-rejected', alarm)
    await other.notify('api-key-rejected', alarm)
    await sleep(60)

    expect([one.posts.length, other.posts.length]).toEqual([1, 0])
    expect(other.log).toEqual(['Look at this.'])
    expect(await shared.redis.pttl(shared.keys.notice('api-key-rejected'))).toBeGreaterThan(3_500_000)
  })

  test.for<Posted>([lost, { is: 'refused', error: 'not_in_channel' }])('are notified at the next try after %j', async (failure) => {
    const one = notifier(connectTestRedis(), [failure, failure, sent])

    await one.notify('api-key-rejected', alarm)
    expect(one.posts).toHaveLength(1)

    await expect.poll(() => one.posts.length).toBe(3)
    await sleep(60)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toEqual(['Look at this.', `Error: could not notify the operators' channel yet: ${JSON.stringify(failure)}`])
  })

  test('are notified after the wait that Slack asks for', async () => {
    const one = notifier(connectTestRedis(), [{ is: 'rate-limited', retryInMs: 300 }, sent])

    await one.notify('api-key-rejected', alarm)
    await expect.poll(() => one.posts.length).toBe(2)

    expect((one.posts[1] ?? 0) - (one.posts[0] ?? 0)).toBeGreaterThanOrEqual(295)
  })

  test('are notified by another process if the first one failed or died', async () => {
    const shared = connectTestRedis()
    const failing = notifier(shared, [lost], { waitsMs: [60_000] })
    await failing.notify('api-key-rejected', alarm)
    const other = notifier(shared, [sent])
    await other.notify('api-key-rejected', alarm)
    expect(other.posts).toHaveLength(1)

    await shared.redis.set(shared.keys.notice('redis-unsafe'), 'token of a dead process', 'PX', 1_000)
    await other.notify('redis-unsafe', alarm)
    expect(other.posts).toHaveLength(1)
    await expect.poll(() => other.posts.length).toBe(2)
  })

  test.each<[string, (key: string) => string]>([
    ['that is as long as a mark', () => 'notified'],
    ['of a process that never ends', () => 'c2a1f3de-0000-4000-8000-000000000000'],
    ['with the signature of another notice', (other) => other],
  ])('are notified although somebody who can write to Redis has set a mark %s', async (_, forged) => {
    const shared = connectTestRedis()
    const one = notifier(shared, [sent])
    await one.notify('redis-unsafe', alarm)
    const other = (await shared.redis.get(shared.keys.notice('redis-unsafe'))) ?? ''
    await shared.redis.set(shared.keys.notice('record-not-genuine:x'), forged(other))

    await one.notify('record-not-genuine', alarm, { about: 'x' })

    await expect.poll(() => one.posts.length).toBe(2)
    expect(await shared.redis.pttl(shared.keys.notice('record-not-genuine:x'))).toBeGreaterThan(3_500_000)
  })

  test.each([
    ['an hour ago', -3_700_000],
    ['by a clock that was ahead', 3_700_000],
  ])('are notified again although somebody keeps the mark of a notice in Redis that was sent %s', async (_, ms) => {
    const shared = connectTestRedis()
    const at = Date.now() + ms
    const mark = `${at} ${keyring.sign({ signed: 'notice', key: 'record-not-genuine:x', at })}`
    await shared.redis.set(shared.keys.notice('record-not-genuine:x'), mark)
    const one = notifier(shared, [sent])

    await one.notify('record-not-genuine', alarm, { about: 'x' })

    await expect.poll(() => one.posts.length).toBe(1)
  })

  test('are notified by one process if two fail at first', async () => {
    const shared = connectTestRedis()
    const notifiers = [
      notifier(shared, [lost, sent], { waitsMs: [20, 20, 20, 20, 20] }),
      notifier(shared, [lost, sent], { waitsMs: [50, 20, 20, 20, 20] }),
    ]

    await Promise.all(notifiers.map(({ notify }) => notify('api-key-rejected', alarm)))

    await expect.poll(() => shared.redis.get(shared.keys.notice('api-key-rejected'))).toMatch(/^\d+ [0-9a-f]{8}\./)
    const posts = () => notifiers.flatMap((each) => each.posts).length
    const before = posts()
    await sleep(150)
    expect(posts()).toBe(before)
  })

  test('are notified if an answer of Redis is lost', async () => {
    const { keys } = connectTestRedis()
    const { redis, proxy } = await connectLossyRedis('prompt')
    const one = notifier({ redis, keys }, [sent], { waitsMs: [] })

    proxy.loseNextReply()
    await one.notify('api-key-rejected', alarm)

    expect(proxy.fired.lostReplies).toBe(1)
    expect(one.posts).toHaveLength(1)
  })

  test('are notified while Redis is away', async () => {
    const { redis, keys } = connectTestRedis()
    redis.disconnect()
    const one = notifier({ redis, keys }, [lost, sent])

    await one.notify('api-key-rejected', alarm)

    await expect.poll(() => one.posts.length).toBe(2)
  })

  test('are not notified after the last try, and the log says so', async () => {
    const shared = connectTestRedis()
    const one = notifier(shared, [lost], { waitsMs: [10, 10] })

    await one.notify('api-key-rejected', alarm)

    await expect.poll(() => one.log.at(-1)).toMatch(/stopped trying: .*503/)
    await sleep(50)
    expect(one.posts).toHaveLength(3)
    expect(one.log).toHaveLength(3)
    expect(await shared.redis.exists(shared.keys.notice('api-key-rejected'))).toBe(0)
    // The next occurrence starts again.
    await one.notify('api-key-rejected', alarm)
    expect(one.posts).toHaveLength(4)
  })

  test('are not notified by a process that has stopped', async () => {
    const one = notifier(connectTestRedis(), [lost])

    await one.notify('api-key-rejected', alarm)
    one.stop()
    await sleep(60)

    expect(one.posts).toHaveLength(1)
  })
})

/** A process that dies in the middle of its first post. */
function dyingNotifier(shared: { redis: Redis; keys: Keys }) {
  const one = notifier(shared, [{ is: 'unknown', problem: 'no answer' }])
  return async (code: 'redis-unsafe' | 'record-not-genuine', about: string) => {
    await one.owe(code, alarm, { about })
    one.stop()
    // The claim of a dead process runs out.
    await shared.redis.del(shared.keys.notice(`${code}:${about}`))
  }
}

describe('a notice of a process that died', () => {
  test('is posted and logged by another process, once', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const next = notifier(shared, [sent])

    await next.resume()
    await next.resume()

    expect(next.texts).toEqual(['Look at this. More: `redis-unsafe` in docs/alerts-and-errors.md.'])
    expect(next.log).toEqual(next.texts)
    expect(next.searches).toEqual(['notice/redis-unsafe:x'])
    expect(await shared.redis.exists(shared.keys.owedNotices)).toBe(0)
  })

  test('is not posted again if Slack has it', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const next = notifier(shared, [sent], { found: { is: 'found', ts: '1.1' } })

    await next.resume()

    expect(next.posts).toEqual([])
    expect(await shared.redis.exists(shared.keys.owedNotices)).toBe(0)
  })

  test('says that it may be a repeat if Slack allows no search', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const next = notifier(shared, [sent], { found: { is: 'cannot-search' } })

    await next.resume()

    expect(next.texts).toEqual([expect.stringMatching(/^Look at this\..*\nPossible duplicate: Slack didn't confirm the first one\.$/)])
  })

  test('waits while Slack does not answer the search, but not for ever', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const next = notifier(shared, [sent], { found: { is: 'unknown', problem: 'no answer' }, waitsMs: [10, 10, 10, 10, 10, 10] })

    await next.resume()
    expect(next.posts).toEqual([])

    await expect.poll(() => next.posts.length).toBe(1)
    expect(next.searches).toHaveLength(6)
  })

  test('is not posted if somebody who can write to Redis wrote or changed it', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const genuine = (await shared.redis.hget(shared.keys.owedNotices, 'redis-unsafe:x')) ?? ''
    await shared.redis.hset(shared.keys.owedNotices, {
      'redis-unsafe:x': genuine.replaceAll('Look at this', 'Send your password'),
      'redis-unsafe:y': genuine,
      'redis-unsafe:z': 'not a notice',
    })
    const next = notifier(shared, [sent])

    await next.resume()

    expect(next.posts).toEqual([])
    expect(await shared.redis.exists(shared.keys.owedNotices)).toBe(0)
  })

  test('is left alone for as long as its process may still be sending it', async () => {
    const shared = connectTestRedis()
    await dyingNotifier(shared)('redis-unsafe', 'x')
    const next = notifier(shared, [sent], { leftAfterMs: 60_000 })

    await next.resume()

    expect(next.posts).toEqual([])
    expect(await shared.redis.hlen(shared.keys.owedNotices)).toBe(1)
  })
})

test('a notice that Slack has is no longer owed, and one that this process posts is not posted twice', async () => {
  const shared = connectTestRedis()
  const one = notifier(shared, [lost, sent])

  await one.owe('redis-unsafe', alarm)
  await one.resume()
  await expect.poll(() => shared.redis.exists(shared.keys.owedNotices)).toBe(0)

  expect(one.posts).toHaveLength(2)
})
