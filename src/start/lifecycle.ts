import { setTimeout as pause } from 'node:timers/promises'
import { AwayError, StartError } from '../domain/errors.ts'
import { settleWithin, unlessAborted } from '../domain/within.ts'
import type { Health } from '../ops/health.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'

/** How long each side waits for the dependency of the other side, so that a usual start never shows people a bot that works only in part. */
const graceMs = 2_000

/** How long a stop waits for running work. The next process repeats or resumes the rest. */
const shutdownMs = 6_500

interface Dependency<T> {
  name: 'Slack' | 'Redis'
  /** Throws AwayError while the service does not answer, and StartError if waiting does not help. */
  reach: () => Promise<T>
  longestPauseMs: number
}

interface Part<Started = void> {
  start: () => Promise<Started>
  stop: () => Promise<void>
}

interface LifecycleParts<Identity> {
  role: 'all' | 'web' | 'worker'
  about: Record<string, string>
  log: Pick<Log, 'info'>
  lines: RepeatedLines
  openOperations: (whyNotReady: () => Promise<string | undefined>) => Promise<Pick<Health, 'port' | 'close'>>
  slack: Dependency<Identity>
  redis: Dependency<void>
  createListener: (identity: Identity) => Part<number | undefined>
  /** Of abilities, each with the name of its number in the log and in what the start returns. */
  ports?: (Part<number> & { name: string })[]
  worker: Part
  workerProblem: () => Promise<string | undefined>
  clockProblem: () => Promise<string | undefined>
  disconnect: () => Promise<void>
  firstPauseMs?: number
}

export type Ports = { opsPort: number; slackPort: number | undefined } & Record<string, number | undefined>

export function createLifecycle<Identity>(parts: LifecycleParts<Identity>) {
  const { role, about, log, lines, worker, ports = [], firstPauseMs = 1_000 } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const missing = new Set<string>(['Slack', 'Redis'])
  const opened: Part<unknown>[] = []
  let operations: Pick<Health, 'port' | 'close'> | undefined
  let isServing = false

  /** Each side starts as soon as it is useful: people get answers while Redis is away, and moves are tracked while Slack is away. */
  async function start(): Promise<Ports> {
    operations = await parts.openOperations(whyNotReady)
    if (signal.aborted) await operations.close()
    signal.throwIfAborted()
    const opsPort = operations.port
    log.info({ role, ...about, opsPort }, 'Lockkeeper is starting')

    const slackReached = reach(parts.slack)
    const redisReached = reach(parts.redis)
    const working = role === 'web' ? undefined : startWorking(slackReached, redisReached)
    const listening = role === 'worker' ? undefined : startListening(slackReached, working ?? redisReached)
    const serving = Promise.resolve(listening ?? working).then((ports) => {
      isServing = true
      log.info({ role, ...about, ...ports, opsPort }, 'Lockkeeper is ready')
    })
    await Promise.all([slackReached, redisReached, listening, working, serving])
    return { opsPort, slackPort: undefined, ...(await listening) }
  }

  /** The pauses double, and are at least as long as the error says. */
  async function reach<T>({ name, reach: attempt, longestPauseMs }: Dependency<T>): Promise<T> {
    const code = 'dependency-away'
    const problems = new Set<string>()
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const reached = await unlessAborted(signal, attempt())
        for (const message of problems) lines.end(code, `${name} responds`, message)
        missing.delete(name)
        return reached
      } catch (error) {
        if (!(error instanceof AwayError)) throw error
        const { message, retryInMs = 0 } = error
        const nextTryInMs = Math.max(pauseMs, retryInMs)
        problems.add(message)
        lines.write({ fields: { code, nextTryInMs }, text: message, about: message })
        await unlessAborted(signal, pause(nextTryInMs, undefined, { signal }))
      }
    }
  }

  async function startListening(slackReached: Promise<Identity>, others: Promise<void>) {
    const identity = await slackReached
    await waitBriefly(others)
    const slackPort = await open(parts.createListener(identity))
    const opened: Record<string, number> = {}
    for (const port of ports) opened[port.name] = await open(port)
    return { slackPort, ...opened }
  }

  async function startWorking(slackReached: Promise<unknown>, redisReached: Promise<void>): Promise<void> {
    await redisReached
    await waitBriefly(slackReached)
    await open(worker)
  }

  async function waitBriefly(others: Promise<unknown>): Promise<void> {
    await unlessAborted(signal, Promise.race([others, pause(graceMs, undefined, { ref: false })]))
  }

  async function open<T>(part: Part<T>): Promise<T> {
    signal.throwIfAborted()
    opened.push(part)
    return unlessAborted(signal, part.start())
  }

  /** After the start, what all replicas share is no reason: it would take them out of service together, and nobody would get an answer. */
  async function whyNotReady(): Promise<string | undefined> {
    if (signal.aborted) return 'stopping'
    if (!isServing) return missing.size > 0 ? `starting: waiting for ${[...missing].join(' and ')}` : 'starting'
    return role === 'worker' ? parts.workerProblem() : parts.clockProblem()
  }

  /** The next process resumes the rest. Interrupts a start. */
  async function stop(): Promise<void> {
    stopping.abort(new StartError('Stopped during the start.'))
    await settleWithin(
      shutdownMs,
      opened.map((part) => part.stop()),
    )
    await parts.disconnect()
    await operations?.close()
  }

  return { start, stop }
}
