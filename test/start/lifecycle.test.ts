import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { AwayError, StartError } from '../../src/domain/errors.ts'
import { createRepeatedLines } from '../../src/ops/log.ts'
import { createLifecycle } from '../../src/start/lifecycle.ts'

interface Scene {
  role?: 'all' | 'web' | 'worker'
  /** The answer of each dependency. Default: at once. */
  slack?: () => Promise<string>
  redis?: () => Promise<void>
  workerProblem?: string
  clockProblem?: string
  firstPauseMs?: number
}

/** A lifecycle whose parts only record their calls, in order. `readiness` reads the answer for orchestrators. */
function arrange({
  role = 'all',
  slack = async () => 'U1',
  redis = async () => {},
  workerProblem,
  clockProblem,
  firstPauseMs = 1_000,
}: Scene = {}) {
  const happened: string[] = []
  const happens = (what: string) => async () => void happened.push(what)
  const lines: unknown[][] = []
  const write = (...line: unknown[]) => void lines.push(line)
  let readiness: () => Promise<string | undefined> = async () => 'not open yet'
  const lifecycle = createLifecycle({
    role,
    about: { transport: 'http' },
    log: { info: write },
    lines: createRepeatedLines({ info: write, warn: write, error: write }),
    async openOperations(whyNotReady) {
      happened.push('operations opened')
      readiness = whyNotReady
      return { port: 9464, close: happens('operations closed') }
    },
    slack: { name: 'Slack', reach: slack, longestPauseMs: 8 * firstPauseMs },
    redis: { name: 'Redis', reach: redis, longestPauseMs: 8 * firstPauseMs },
    createListener: (identity) => ({
      async start() {
        happened.push(`listening as ${identity}`)
        return 3_000
      },
      stop: async () => void happened.push(`listener stopped while ${await readiness()}`),
    }),
    worker: { start: happens('worker started'), stop: happens('worker stopped') },
    workerProblem: async () => workerProblem,
    clockProblem: async () => clockProblem,
    disconnect: happens('disconnected'),
    firstPauseMs,
  })
  return { ...lifecycle, happened, lines, readiness: () => readiness() }
}

const away = (name: string) => async (): Promise<never> => {
  throw new AwayError(`${name} does not answer`)
}
const never = () => new Promise<never>(() => {})

describe('a start', () => {
  test('opens the operations port, then starts the worker, then the listener', async () => {
    const { start, happened, readiness } = arrange()

    expect(await start()).toEqual({ opsPort: 9464, slackPort: 3_000 })

    expect(happened).toEqual(['operations opened', 'worker started', 'listening as U1'])
    expect(await readiness()).toBeUndefined()
  })

  test.each([
    ['web', ['operations opened', 'listening as U1']],
    ['worker', ['operations opened', 'worker started']],
  ] as const)('with ROLE=%s starts only its side', async (role, expected) => {
    const { start, happened } = arrange({ role })
    await start()
    expect(happened).toEqual(expected)
  })

  test('reports what it waits for at the operations port, and logs each problem', async () => {
    const { start, stop, readiness, lines } = arrange({ slack: away('Slack'), redis: away('Redis') })
    const started = start()
    await expect.poll(() => lines.length).toBeGreaterThan(2)

    expect(await readiness()).toBe('starting: waiting for Slack and Redis')
    expect(lines).toContainEqual([{ code: 'dependency-away', nextTryInMs: 1_000 }, 'Slack does not answer'])

    await Promise.all([stop(), expect(started).rejects.toThrow('Stopped during')])
  })

  test('tries again with pauses that double up to the longest, and not before the time that an error names', async () => {
    const triedAt: number[] = []
    const { start } = arrange({
      role: 'worker',
      firstPauseMs: 5,
      async slack() {
        const tries = triedAt.push(performance.now())
        if (tries < 7) throw new AwayError('Slack does not answer', tries === 6 ? { retryInMs: 100 } : {})
        return 'U1'
      },
    })

    await start()

    const pauses = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0))
    // A timer may fire up to 1 ms early.
    for (const [index, shortest] of [5, 10, 20, 40, 40, 100].entries()) expect(pauses[index]).toBeGreaterThan(shortest - 1.5)
  })

  test('starts the listener while Redis is away, and the worker while Slack is away', async () => {
    const withoutRedis = arrange({ redis: never })
    const withoutSlack = arrange({ slack: never })
    for (const { start } of [withoutRedis, withoutSlack]) start().catch(() => {})

    await expect.poll(() => withoutRedis.happened).toEqual(['operations opened', 'listening as U1'])
    await expect.poll(() => withoutSlack.happened).toEqual(['operations opened', 'worker started'])
    expect(await withoutRedis.readiness()).toBeUndefined()
    expect(await withoutSlack.readiness()).toBe('starting: waiting for Slack')

    await Promise.all([withoutRedis.stop(), withoutSlack.stop()])
  })

  test.each<[string, Scene]>([
    ['Slack', { slack: () => Promise.reject(new StartError('rejected')) }],
    ['Redis', { redis: () => Promise.reject(new StartError('rejected')) }],
  ])('that %s rejects fails, and starts neither side', async (_, scene) => {
    const { start, happened } = arrange(scene)

    await expect(start()).rejects.toThrow('rejected')

    expect(happened).toEqual(['operations opened'])
  })
})

describe('readiness', () => {
  test('depends on the worker only with ROLE=worker', async () => {
    const workerProblem = 'No worker has run for 30 s'
    const [worker, all] = [arrange({ role: 'worker', workerProblem }), arrange({ workerProblem })]
    await Promise.all([worker.start(), all.start()])

    expect(await worker.readiness()).toBe(workerProblem)
    expect(await all.readiness()).toBeUndefined()
  })

  test('depends on the clock unless ROLE=worker, because a worker gets no requests', async () => {
    const clockProblem = 'the clock is 10 min ahead of Slack'
    const [worker, web] = [arrange({ role: 'worker', clockProblem }), arrange({ role: 'web', clockProblem })]
    await Promise.all([worker.start(), web.start()])

    expect([await worker.readiness(), await web.readiness()]).toEqual([undefined, clockProblem])
  })

  test('of a worker does not depend on Slack', async () => {
    const { start, stop, readiness } = arrange({ role: 'worker', slack: never })
    start().catch(() => {})

    await expect.poll(readiness).toBeUndefined()

    await stop()
  })
})

describe('a stop', () => {
  test('is reported before anything closes, and closes the operations port last', async () => {
    const { start, stop, happened, readiness } = arrange()
    await start()
    const before = happened.length

    const stopped = stop()
    expect(await readiness()).toBe('stopping')
    await stopped

    const closed = happened.slice(before)
    expect(closed.slice(0, 2).toSorted()).toEqual(['listener stopped while stopping', 'worker stopped'])
    expect(closed.slice(2)).toEqual(['disconnected', 'operations closed'])
  })

  test('interrupts a start that waits, and nothing more is opened', async () => {
    let reached = (_: string) => {}
    const slack = () => new Promise<string>((resolve) => (reached = resolve))
    const { start, stop, happened, readiness } = arrange({ slack, redis: never })
    const started = start()
    started.catch(() => {})
    await delay(10)

    await stop()
    reached('U1')

    await expect(started).rejects.toThrow('Stopped during the start.')
    await delay(10)
    expect(happened).toEqual(['operations opened', 'disconnected', 'operations closed'])
    expect(await readiness()).toBe('stopping')
  })
})
