import { setTimeout as pause } from 'node:timers/promises'
import { settleWithin } from '../domain/within.ts'
import type { Log } from '../ops/log/log.ts'
import type { RepeatedLines } from '../ops/log/repeated-lines.ts'
import type { Health } from '../ops/pages/health.ts'
import { createShutdown } from '../ops/process/shutdown.ts'
import { createReach, type Dependency } from './dependency.ts'

/** How long each side waits for the dependency of the other side, so that a usual start never shows people a bot that works only in part. */
const graceMs = 2_000

/** How long a stop waits for running work. The next process repeats or resumes the rest. */
const shutdownMs = 6_500

/** The ports on which a process listens for people and for alerts. */
interface Ports {
  slackPort: number | undefined
  alertsPort?: number
}

interface LifecycleParts<Identity> {
  role: 'all' | 'web' | 'worker'
  /** Fields for the log lines of the start. */
  about: Record<string, string>
  log: Pick<Log, 'info'>
  lines: RepeatedLines
  openOperations: (whyNotReady: () => Promise<string | undefined>) => Promise<Pick<Health, 'port' | 'close'>>
  slack: Dependency<Identity>
  redis: Dependency<void>
  createListener: (identity: Identity) => { start: () => Promise<number | undefined>; stop: () => Promise<void> }
  /** Takes alerts. Returns its port. Absent if it is off. */
  alerts?: { start: () => Promise<number>; stop: () => Promise<void> } | undefined
  worker: { start: () => Promise<void>; stop: () => Promise<void> }
  /** Returns the problem of the worker as a sentence, or undefined if it has none. */
  workerProblem: () => Promise<string | undefined>
  /** Called after the listener and the worker have stopped. */
  disconnect: () => Promise<void>
}

/** Creates the start and the stop of a process, each with its order. */
export function createLifecycle<Identity>({
  role,
  about,
  log,
  lines,
  openOperations,
  slack,
  redis,
  createListener,
  alerts,
  worker,
  workerProblem,
  disconnect,
}: LifecycleParts<Identity>) {
  const shutdown = createShutdown()
  const { reach, missing } = createReach({ dependencies: [slack, redis], shutdown, lines })
  let isServing = false

  /**
   * Opens the operations port first, and then each side as soon as it is useful: people get answers while Redis is away, and moves are
   * tracked while Slack is away. Resolves with the ports once both sides run. Throws StartError with what to do if it cannot start, and if
   * `stop` interrupts it.
   */
  async function start(): Promise<Ports & { opsPort: number }> {
    const operations = await openOperations(whyNotReady)
    await shutdown.closeLast(operations.close)
    const opsPort = operations.port
    log.info({ role, ...about, opsPort }, 'Lockkeeper is starting')

    const slackReached = reach(slack)
    const redisReached = reach(redis)
    const working = role === 'web' ? undefined : startWorking(slackReached, redisReached)
    const listening = role === 'worker' ? undefined : startListening(slackReached, working ?? redisReached)
    const serving = Promise.resolve(listening ?? working).then((ports) => {
      isServing = true
      log.info({ role, ...about, ...ports, opsPort }, 'Lockkeeper is ready')
    })
    await Promise.all([slackReached, redisReached, listening, working, serving])
    return { opsPort, slackPort: undefined, ...(await listening) }
  }

  async function startListening(slackReached: Promise<Identity>, others: Promise<void>): Promise<Ports> {
    const identity = await slackReached
    await waitBriefly(others)
    const listener = createListener(identity)
    await shutdown.closeOnStop(listener.stop)
    const slackPort = await shutdown.unlessStopping(listener.start())
    if (!alerts) return { slackPort }
    await shutdown.closeOnStop(alerts.stop)
    return { slackPort, alertsPort: await shutdown.unlessStopping(alerts.start()) }
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
   * Returns the reason for orchestrators, or undefined if this process is ready. After the start, an outage of Slack, Redis or the account API
   * is no reason: it would take all replicas out of service together, and nobody would get an answer.
   */
  async function whyNotReady(): Promise<string | undefined> {
    if (shutdown.signal.aborted) return 'stopping'
    if (!isServing) return missing.size > 0 ? `starting: waiting for ${[...missing].join(' and ')}` : 'starting'
    return role === 'worker' ? workerProblem() : undefined
  }

  /** Stops accepting work, waits for running work, and closes everything. The next process resumes the rest. Interrupts a start. */
  async function stop(): Promise<void> {
    const { first, last } = shutdown.begin()
    await settleWithin(
      shutdownMs,
      first.map((close) => close()),
    )
    await disconnect()
    lines.flush()
    await Promise.all(last.map((close) => close()))
  }

  return { start, stop }
}
