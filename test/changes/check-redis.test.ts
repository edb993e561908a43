import type { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { createRedisCheck, findRedisFaults } from '../../src/changes/check-redis.ts'
import { AwayError, StartError } from '../../src/domain/errors.ts'

const good = '# Server\r\nredis_version:7.4.2\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n'

test('a Redis that keeps everything has no faults', () => {
  expect(findRedisFaults(good)).toEqual([])
})

test('one that forgets has each of them told', () => {
  const bad = good.replace('7.4.2', '6.2.1').replace('noeviction', 'allkeys-lru').replace('aof_enabled:1', 'aof_enabled:0')
  expect(findRedisFaults(bad)).toMatchInlineSnapshot(`
    [
      "Redis is version 6.2.1, and 7 or newer is needed: update it.",
      "Redis evicts keys when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction.",
      "Redis does not write what it is told to disk (appendonly no): set appendonly yes.",
    ]
  `)
})

test('a Valkey is taken for the Redis that it says it is compatible with, and has to keep everything, too', () => {
  const valkey = good.replace('redis_version:7.4.2', 'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1')

  expect(findRedisFaults(valkey)).toEqual([])
  expect(findRedisFaults(valkey.replace('noeviction', 'volatile-ttl'))).toEqual([
    'Redis evicts keys when its memory is full (maxmemory-policy volatile-ttl): set it to noeviction.',
  ])
})

test('one that hides what it is set to is not accused', () => {
  expect(findRedisFaults('redis_version:8.0.0\r\n')).toEqual([])
})

/** The check over a Redis whose answers come when the test gives them; `asked` counts what was asked. */
function arrange({ problem, allowVolatile = false }: { problem?: string; allowVolatile?: boolean } = {}) {
  const answers = Promise.withResolvers<string>()
  const warnings: string[] = []
  let asked = 0
  const info = () => {
    asked += 1
    return answers.promise
  }
  const check = createRedisCheck({
    redis: { info } as unknown as Redis,
    allowVolatile,
    problem: () => problem,
    warn: (fault) => warnings.push(fault),
    attemptMs: 10,
  })
  const outcome = () => check().catch((error: unknown) => error)
  return { answers, warnings, asked: () => asked, outcome }
}

describe('a Redis that does not answer', () => {
  test('can be asked again, with what the connection has met with', async () => {
    const error = await arrange({ problem: 'ECONNREFUSED' }).outcome()

    expect(error).toBeInstanceOf(AwayError)
    expect((error as Error).message).toMatch(/^Redis does not answer at REDIS_URL \(ECONNREFUSED\)\. Check /)
  })

  test('can be asked again while it reads its files', async () => {
    const { answers, outcome } = arrange()
    answers.resolve(`${good}loading:1\r\n`)

    expect(await outcome()).toMatchObject({ name: 'AwayError', message: expect.stringContaining('(LOADING)') })
  })

  test('is asked one question, however often somebody tries, and is checked by its answer', async () => {
    const { answers, asked, outcome } = arrange()
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await outcome()).toBeInstanceOf(AwayError)

    const last = outcome()
    answers.resolve(good)

    expect(await last).toBeUndefined()
    expect(asked()).toBe(1)
  })
})

describe('a Redis that rejects us', () => {
  test.each(['WRONGPASS', 'NOAUTH'])('ends the start by what the connection has met with: %s', async (problem) => {
    const error = await arrange({ problem }).outcome()

    expect(error).toBeInstanceOf(StartError)
    expect((error as Error).message).toBe(
      `Redis rejects the user or the password in REDIS_URL (${problem}). Correct them, then start again.`,
    )
  })

  test('ends the start by its answer, without the rest of it', async () => {
    const { answers, outcome } = arrange()
    answers.reject(new Error("NOPERM User hunter2 has no permissions to run the 'info' command"))

    expect(String(await outcome())).toBe(
      'StartError: Redis rejects the user or the password in REDIS_URL (NOPERM). Correct them, then start again.',
    )
  })

  test('is away, and no more, where it breaks off', async () => {
    const { answers, outcome } = arrange()
    answers.reject(new Error('Connection is closed.'))

    expect(await outcome()).toBeInstanceOf(AwayError)
  })
})

test('one that would lose requests ends the start, or only warns where that is allowed', async () => {
  const volatile = good.replace('aof_enabled:1', 'aof_enabled:0')
  const [strict, lenient] = [arrange(), arrange({ allowVolatile: true })]
  for (const { answers } of [strict, lenient]) answers.resolve(volatile)

  expect(await strict.outcome()).toBeInstanceOf(StartError)
  expect(await lenient.outcome()).toBeUndefined()
  expect(lenient.warnings).toEqual(['Redis does not write what it is told to disk (appendonly no): set appendonly yes.'])
})
