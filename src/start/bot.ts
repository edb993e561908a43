import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../app.ts'
import { type Config, ConfigError, ifNoKeyIsMinted } from '../config/config.ts'
import { readKeyProblem } from '../domain/account.ts'
import type { Change } from '../domain/change.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { type Policy, rulesNaming, rulesOfKind } from '../domain/policy.ts'
import { createKeyring } from '../domain/signing.ts'
import { settleWithin } from '../domain/within.ts'
import { createFeatures, type Feature } from '../features/index.ts'
import { createAlertReceiver } from '../inbound/alert-receiver.ts'
import { takeDelivery } from '../inbound/alerts.ts'
import { unsuitableReadKey } from '../messages/operator-notices.ts'
import { createMetricsPage, createStatus, type Health, startHealth } from '../ops/health.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'
import { createShutdown, retryWhileAway } from '../ops/process.ts'
import { notifyOperators } from '../outbox/notices.ts'
import { onApiError } from '../outbox/operators.ts'
import { sweepOutbox } from '../outbox/outbox.ts'
import { markSigningKey } from '../redis/signed-list.ts'
import { createBundles } from '../requests/bundle.ts'
import { gatherHandlers } from '../requests/clicks.ts'
import { createHome } from '../requests/home.ts'
import { reconcile } from '../requests/reconcile.ts'
import { track } from '../requests/track.ts'
import { createDataLossMark, createRedisWatch, createWorkerWatch, type Watch } from '../requests/watches.ts'
import { createRepeatedWork, createWorker, progressFigures, type Work } from '../requests/worker.ts'
import { createBolt } from '../slack/app.ts'
import { formButtons } from '../slack/forms.ts'
import { listen } from '../slack/listen.ts'
import { buildApps, disconnect, type Outlets } from './apps.ts'
import { statusChecks } from './status.ts'

/** Creates the whole bot from its configuration. */
export function createBot(config: Config, outlets: Outlets) {
  const { people, jobs, newestHead } = buildApps(config, outlets)
  const dataLossMark = createDataLossMark(jobs, newestHead)
  const home = createHome(people, () => formButtons(interactions.commands))
  const features = createFeatures(people, { showHome: home.show })
  people.catalog.register(features.flatMap(({ changes }) => changes ?? []))
  requireKeyToMint(people)
  people.metrics.expectKinds(people.catalog.kinds())
  const interactions = gatherHandlers(people, features, home)

  const carryOn = createBundles(jobs)
  const worker = createWorker(jobs, {
    reconcile: (id) => inLane('execute', () => reconcile(jobs, carryOn, id)),
    track: (requests) => track(jobs, requests),
    dataLossMark,
    redisWatch: createRedisWatch(jobs),
    sweepOutbox: (onRefusedCard) => sweepOutbox(jobs, onRefusedCard),
  })
  const repeated = createRepeatedWork(jobs, repeatedOf(features, config.policy))
  const workerWatch = createWorkerWatch(people, { checkMs: outlets.timings?.workerCheckMs })
  const alerts = config.alerts
    ? createAlertReceiver(people, config.alerts, (received, signal) => takeDelivery(people, received, { submit: people.submit, signal }))
    : undefined
  const operations = createOperations(people)

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: config.slack.appToken === undefined ? 'http' : 'socket mode' },
    log: people.log,
    lines: people.lines,
    openOperations: operations.open,
    slack: {
      name: 'Slack',
      async reach() {
        const identity = await people.slack.identity.reach()
        // Nothing waits for it: it only warns.
        void people.opsChannel?.check()
        return identity
      },
      longestPauseMs: 15_000,
      note: (problem) => void operations.note('slack', problem),
    },
    redis: {
      name: 'Redis',
      reach: () => reachRedis(people, dataLossMark),
      longestPauseMs: 3_000,
      note: (problem) => void operations.note('redis', problem),
    },
    createListener(identity) {
      const { bolt, start } = createBolt(people, identity)
      const { settle } = listen(bolt, people, interactions)
      bolt.error(async (error) => people.errors.of('slack')(error))
      return {
        async start() {
          const port = await start()
          // A process that listens to people also watches that a worker is running.
          workerWatch.start()
          return port
        },
        async stop() {
          await workerWatch.stop()
          await bolt.stop()
          await settle()
          await home.stop()
        },
      }
    },
    alerts: people.catalog.changeOfAlerts() && alerts,
    worker: {
      async start() {
        await worker.start()
        await repeated.start()
      },
      stop: async () => void (await Promise.all([worker.stop(), repeated.stop()])),
    },
    workerProblem: operations.workerProblem,
    disconnect: () => disconnect({ people, jobs }),
  })

  return { start: lifecycle.start, stop: lifecycle.stop, interactions, commands: interactions.commands }
}
export type Bot = ReturnType<typeof createBot>

/** *Create key* changes the account in the process that gets the click. */
function requireKeyToMint({ config, catalog }: App): void {
  const minting = catalog.kinds().find((kind) => catalog.changeIfKnown(kind)?.handover && rulesNaming(config.policy, kind).length > 0)
  if (config.infra.key || !minting) return
  throw new ConfigError([
    `INFRA_API_KEY is missing: with ROLE=web it can be left out only ${ifNoKeyIsMinted}. The policy allows ${minting}`,
  ])
}

/** Returns the work of the features that the policy lets people use. A feature that changes nothing needs no rule. */
export function repeatedOf(features: Pick<Feature, 'changes' | 'repeated'>[], policy: Policy): Work[] {
  const channels = ['', ...policy.rules.flatMap((rule) => rule.channels ?? [])]
  const isPermitted = ({ kind, project }: Change) =>
    channels.some((channelId) => rulesOfKind(policy, { kind, channelId, hasProject: project !== undefined }).length > 0)
  return features.flatMap(({ changes = [], repeated = [] }) => (changes.length === 0 || changes.some(isPermitted) ? repeated : []))
}

async function reachRedis(app: App, dataLossMark: Watch): Promise<void> {
  const { connections, config, keys, log } = app
  await connections.reach()
  // Report a rejected or unsuitable key right after the start. It does not stop the start, because moves in flight wait for a valid key.
  void checkKeys(app).catch((error: unknown) => onApiError(app, error))
  try {
    await dataLossMark.check()
    const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })
    if (!(await markSigningKey(connections.patient, keys, keyring))) return
  } catch (error) {
    throw error instanceof StoreUnavailableError ? connections.startProblem(error) : error
  }
  const text = 'The process that started last with this REDIS_PREFIX signs with a key that this process does not have'
  log.warn({ code: 'signing-keys-differ' }, text)
}

async function checkKeys(app: App): Promise<void> {
  const keys = await inLane('background', () => app.account.apiKeys.list({ signal: AbortSignal.timeout(10_000) }))
  const problem = readKeyProblem(keys, app.ownLastSlices)
  if (problem) await notifyOperators(app, 'read-key-unsuitable', unsuitableReadKey(problem), { about: problem, level: 'warn' })
}

/** The port for operators and orchestrators: health, status and metrics. */
function createOperations(app: App) {
  const { config, log, lines, metrics } = app
  const status = createStatus(statusChecks(app), log)
  async function snapshot() {
    // A Redis that refuses writes still has the other figures.
    const [figures, budget] = await Promise.all([progressFigures(app), app.budget.figures().catch(() => [])])
    return { ...figures, budget }
  }
  const pages = { '/status': status.page, '/metrics': createMetricsPage(metrics.registry, snapshot) }
  return {
    note: status.note,
    /** Throws StartError if Lockkeeper cannot listen there. */
    open: (whyNotReady: () => Promise<string | undefined>) =>
      startHealth({ host: config.opsHost, port: config.opsPort, lines, whyNotReady, pages }),
    async workerProblem() {
      const result = await status.run('worker')
      return result.ok ? undefined : result.problem
    },
  }
}

/** How long each side waits for the dependency of the other side, so that a usual start never shows people a bot that works only in part. */
const graceMs = 2_000

/** How long a stop waits for running work. The next process repeats or resumes the rest. */
const shutdownMs = 6_500

/** A service that the bot needs, and waits for while it is away. */
interface Dependency<T> {
  name: 'Slack' | 'Redis'
  /** Throws AwayError while the service does not answer, and StartError if waiting does not help. */
  reach: () => Promise<T>
  longestPauseMs: number
  /** Called after each attempt: with the problem as a sentence, or with undefined once the service is reached. */
  note: (problem: string | undefined) => void
}

interface Part<Started = void> {
  start: () => Promise<Started>
  stop: () => Promise<void>
}

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
  createListener: (identity: Identity) => Part<number | undefined>
  alerts?: Part<number>
  worker: Part
  /** Returns the problem of the worker as a sentence, or undefined if it has none. */
  workerProblem: () => Promise<string | undefined>
  /** Called after the listener and the worker have stopped. */
  disconnect: () => Promise<void>
}

/** Creates the start and the stop of a process, each with its order. */
export function createLifecycle<Identity>(parts: LifecycleParts<Identity>) {
  const { role, about, log, lines, worker, alerts } = parts
  const shutdown = createShutdown()
  const missing = new Set<string>(['Slack', 'Redis'])
  let isServing = false

  /**
   * Opens the operations port first, and then each side as soon as it is useful: people get answers while Redis is away, and moves are
   * tracked while Slack is away. Resolves with the ports once both sides run. Throws StartError with what to do if it cannot start, and if
   * `stop` interrupts it.
   */
  async function start(): Promise<Ports & { opsPort: number }> {
    const operations = await parts.openOperations(whyNotReady)
    await shutdown.closeOnStop(operations.close, 'last')
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

  /** Tries to reach a dependency until it answers or the process stops. */
  async function reach<T>({ name, reach: attempt, longestPauseMs, note }: Dependency<T>): Promise<T> {
    const code = 'dependency-away'
    const problems = new Set<string>()
    const onAway = ({ message }: Error, nextTryInMs: number) => {
      note(message)
      problems.add(message)
      lines.write({ fields: { code, nextTryInMs }, text: message, about: message, over: `${name} responds` })
    }
    const reached = await shutdown.unlessStopping(retryWhileAway(attempt, { signal: shutdown.signal, longestPauseMs, onAway }))
    for (const message of problems) lines.end(code, message)
    missing.delete(name)
    note(undefined)
    return reached
  }

  async function startListening(slackReached: Promise<Identity>, others: Promise<void>): Promise<Ports> {
    const identity = await slackReached
    await waitBriefly(others)
    const listener = parts.createListener(identity)
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
    return role === 'worker' ? parts.workerProblem() : undefined
  }

  /** Stops accepting work, waits for running work, and closes everything. The next process resumes the rest. Interrupts a start. */
  async function stop(): Promise<void> {
    const { first, last } = shutdown.begin()
    await settleWithin(
      shutdownMs,
      first.map((close) => close()),
    )
    await parts.disconnect()
    lines.flush()
    await Promise.all(last.map((close) => close()))
  }

  return { start, stop }
}
