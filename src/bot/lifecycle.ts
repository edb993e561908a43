import { setTimeout as pause } from 'node:timers/promises'
import { settleWithin } from '../domain/within.ts'
import type { Log } from '../ops/log/log.ts'
import type { Health } from '../ops/pages/health.ts'
import { retryWhileAway } from '../ops/process/retry-while-away.ts'
import { createShutdown } from '../ops/process/shutdown.ts'

/** Each side waits this long for the other one's dependency, so that in a usual start nobody meets a bot that works only by half. */
const graceMs = 2_000

/** Work that was handed over, or that others repeat, is not waited for longer than this. */
const shutdownMs = 6_500

/** What the bot needs, and waits for while it is away. */
interface Dependency<T> {
  name: 'Slack' | 'Redis'
  /** Throws AwayError while it does not answer, and StartError where waiting does not help. */
  reach: () => Promise<T>
  longestPauseMs: number
  /** Called after each attempt with what is wrong, in words; with undefined once it is reached. */
  note: (problem: string | undefined) => void
}

interface LifecycleParts<Identity> {
  role: 'all' | 'web' | 'worker'
  /** For the log: what starts. */
  about: Record<string, string>
  log: Pick<Log, 'info' | 'warn'>
  openOperations: (whyNotReady: () => Promise<string | undefined>) => Promise<Pick<Health, 'port' | 'close'>>
  slack: Dependency<Identity>
  redis: Dependency<void>
  /** Builds what people talk to. */
  createListener: (identity: Identity) => { start: () => Promise<number | undefined>; stop: () => Promise<void> }
  worker: { start: () => Promise<void>; stop: () => Promise<void> }
  /** Why the work stands still, in words; undefined when it goes on. */
  workerProblem: () => Promise<string | undefined>
  /** Called at the end, after what listens and works was stopped. */
  disconnect: () => Promise<void>
}

/** The order in which a process starts and stops. */
export function createLifecycle<Identity>({
  role,
  about,
  log,
  openOperations,
  slack,
  redis,
  createListener,
  worker,
  workerProblem,
  disconnect,
}: LifecycleParts<Identity>) {
  const shutdown = createShutdown()
  const missing = new Set<string>([slack.name, redis.name])
  let isServing = false

  /**
   * Opens the operations port first, then each side as soon as it is useful: people are answered while Redis is away, and moves are tracked while
   * Slack is. Resolves with the ports once everything is in place. Throws StartError with what to do where it cannot start, and when `stop` cuts
   * it short.
   */
  async function start(): Promise<{ opsPort: number; slackPort: number | undefined }> {
    const operations = await openOperations(whyNotReady)
    await shutdown.closeLast(operations.close)
    const opsPort = operations.port
    log.info({ role, ...about, opsPort }, 'Lockkeeper is starting')

    const slackReached = reach(slack)
    const redisReached = reach(redis)
    const working = role === 'web' ? undefined : startWorking(slackReached, redisReached)
    const listening = role === 'worker' ? undefined : startListening(slackReached, working ?? redisReached)
    const serving = Promise.resolve(listening ?? working).then((slackPort) => {
      isServing = true
      log.info({ role, ...about, slackPort, opsPort }, 'Lockkeeper is ready')
    })
    await Promise.all([slackReached, redisReached, listening, working, serving])
    return { opsPort, slackPort: await listening }
  }

  async function reach<T>({ name, reach: attempt, longestPauseMs, note }: Dependency<T>): Promise<T> {
    const onAway = ({ message }: Error, nextTryInMs: number) => {
      note(message)
      log.warn({ nextTryInMs }, message)
    }
    const reached = await shutdown.unlessStopping(retryWhileAway(attempt, { signal: shutdown.signal, longestPauseMs, onAway }))
    missing.delete(name)
    note(undefined)
    return reached
  }

  async function startListening(slackReached: Promise<Identity>, others: Promise<void>): Promise<number | undefined> {
    const identity = await slackReached
    await waitBriefly(others)
    const listener = createListener(identity)
    await shutdown.closeOnStop(listener.stop)
    return shutdown.unlessStopping(listener.start())
  }

  async function startWorking(slackReached: Promise<unknown>, redisReached: Promise<void>): Promise<void> {
    await redisReached
    await waitBriefly(slackReached)
    await shutdown.closeOnStop(worker.stop)
    await shutdown.unlessStopping(worker.start())
  }

  async function waitBriefly(others: Promise<unknown>): Promise<void> {
    await shutdown.unlessStopping(Promise.race([others, pause(graceMs, undefined, { ref: false })]))
  }

  /**
   * For orchestrators. Slack, Redis and the account API do not count once the bot listens: all replicas would go out of service together, and nobody
   * would be answered.
   */
  async function whyNotReady(): Promise<string | undefined> {
    if (shutdown.signal.aborted) return 'stopping'
    if (!isServing) return missing.size > 0 ? `starting: waiting for ${[...missing].join(' and ')}` : 'starting'
    return role === 'worker' ? workerProblem() : undefined
  }

  /** Takes nothing new, lets running work end for a few seconds, and leaves the rest to the next process. Cuts a start short. */
  async function stop(): Promise<void> {
    const { first, last } = shutdown.begin()
    await settleWithin(
      shutdownMs,
      first.map((close) => close()),
    )
    await disconnect()
    await Promise.all(last.map((close) => close()))
  }

  return { start, stop }
}
