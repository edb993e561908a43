import { describe, expect, test } from 'vitest'
import { AwayError, StartError } from '../../src/domain/errors.ts'
import { retryWhileAway } from '../../src/ops/process.ts'

/** Retries an attempt that throws these errors one after another and then succeeds. */
function arrange(errors: Error[], firstPauseMs = 5) {
  const end = new AbortController()
  const pauses: number[] = []
  const attempts: number[] = []
  async function attempt(): Promise<string> {
    attempts.push(performance.now())
    const error = errors.shift()
    if (error) throw error
    return 'there'
  }
  const outcome = retryWhileAway(attempt, {
    signal: end.signal,
    firstPauseMs,
    longestPauseMs: firstPauseMs * 8,
    onAway: (_, nextTryInMs) => pauses.push(nextTryInMs),
  })
  outcome.catch(() => {})
  return { attempts, end, pauses, outcome }
}

const away = (retryInMs?: number) => new AwayError('Slack does not answer', retryInMs === undefined ? {} : { retryInMs })

describe('a dependency that is away', () => {
  test('is tried again until it answers, with pauses that double up to the longest', async () => {
    const { outcome, pauses } = arrange(Array.from({ length: 6 }, () => away()))

    expect(await outcome).toBe('there')
    expect(pauses).toEqual([5, 10, 20, 40, 40, 40])
  })

  test('is not tried again before the time that it names', async () => {
    const { outcome, attempts } = arrange([away(100)])

    expect(await outcome).toBe('there')
    const [first = 0, second = 0] = attempts
    // A timer may fire up to 1 ms early.
    expect(second - first).toBeGreaterThan(95)
  })

  test('is not tried again after a stop was requested, and the stop does not wait for the pause', async () => {
    const { outcome, attempts, end } = arrange([away(), away()], 60_000)
    await expect.poll(() => attempts).toHaveLength(1)

    end.abort(new StartError('ended'))

    await expect(outcome).rejects.toThrow('ended')
    expect(attempts).toHaveLength(1)
  })
})

test('any other error is thrown at once', async () => {
  const { outcome, attempts } = arrange([new StartError('Slack rejects the token')])

  await expect(outcome).rejects.toThrow('Slack rejects the token')
  expect(attempts).toHaveLength(1)
})
