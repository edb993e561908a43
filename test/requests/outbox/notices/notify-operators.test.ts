import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKeyring, Secret } from '../../../../src/domain/signing.ts'
import { createNotifyOperators } from '../../../../src/outbox/notices.ts'
import type { Keys } from '../../../../src/redis/key-names.ts'
import { mrkdwn } from '../../../../src/slack/text.ts'
import type { Posted, SearchResult } from '../../../../src/slack/web-api.ts'
import { connectTestRedis } from '../../redis-for-test.ts'
import { lost, sent, slackFor } from './slack-for-notices.ts'

const keyring = createKeyring([new Secret('a-secret-of-at-least-32-characters!!')], { purpose: 'notices', prefix: 'lockkeeper' })

const alarm = mrkdwn`Look at this.`

/** A process that notifies the operators. `answers`: what Slack answers to its posts in turn; the last one is repeated. */
function notifier(
  { redis, keys }: { redis: Redis; keys: Keys },
  answers: Posted[],
  { waitsMs = [20, 20, 20], leftAfterMs = 0, fields = [] as object[], found = undefined as SearchResult | undefined } = {},
) {
  const log: string[] = []
  const { messenger, ...seen } = slackFor(answers, found)
  const operators = createNotifyOperators({
    redis,
    keys,
    messenger,
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
  return { ...operators, ...seen, log }
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
