import { setTimeout as pause } from 'node:timers/promises'
import { type Config, ConfigError, ifNoKeyIsMinted } from '../config/config.ts'
import { readKeyProblem } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { type Policy, rulesNaming, rulesOfKind } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { createKeyring } from '../domain/signing.ts'
import { settleWithin } from '../domain/within.ts'
import { statusChecks } from '../features/doctor.ts'
import type { Feature } from '../features/feature.ts'
import { createFeatures } from '../features/index.ts'
import { createAlertReceiver } from '../inbound/alert-receiver.ts'
import { takeDelivery } from '../inbound/alerts.ts'
import { unsuitableReadKey } from '../messages/operator-notices.ts'
import { createMetricsPage, createStatus, type Health, startHealth } from '../ops/health.ts'
import type { Log, RepeatedLines } from '../ops/log.ts'
import { createShutdown, retryWhileAway, type Shutdown } from '../ops/process.ts'
import { sweepOutbox } from '../outbox/outbox.ts'
import { markSigningKey } from '../redis/signed-list.ts'
import { createBundles } from '../requests/bundle.ts'
import { gatherHandlers } from '../requests/clicks.ts'
import { createHome, type Home } from '../requests/home.ts'
import { reconcile } from '../requests/reconcile.ts'
import { track } from '../requests/track.ts'
import { createDataLossMark, createRedisWatch, createWorkerWatch } from '../requests/watches.ts'
import { checkProgress, createRepeatedWork, createWorker, progressFigures, type Work } from '../requests/worker.ts'
import { createBolt } from '../slack/app.ts'
import { formButtons } from '../slack/forms.ts'
import { createLastReceived, type LastReceived, listen } from '../slack/listen.ts'
import type { Identity } from '../slack/web-api.ts'
import { createFoundation, type Foundation, type Outlets } from './foundation.ts'

/** Creates the port that takes alerts, and makes requests of them. Undefined if it is off. */
function createAlertsSide({ config, people, requests }: Foundation) {
  if (!config.alerts || !requests.catalog.changeOfAlerts()) return undefined
  return createAlertReceiver(people, config.alerts, (alerts, signal) => takeDelivery(people, alerts, { submit: people.submit, signal }))
}

/** A service that the bot needs, and waits for while it is away. */
interface Dependency<T> {
  name: 'Slack' | 'Redis'
  /** Throws AwayError while the service does not answer, and StartError if waiting does not help. */
  reach: () => Promise<T>
  longestPauseMs: number
  /** Called after each attempt: with the problem as a sentence, or with undefined once the service is reached. */
  note: (problem: string | undefined) => void
}

interface ReachParts {
  dependencies: Pick<Dependency<unknown>, 'name'>[]
  shutdown: Pick<Shutdown, 'signal' | 'unlessStopping'>
  lines: Pick<RepeatedLines, 'write' | 'end'>
}

/** Creates the function that tries to reach a dependency until it answers or the process stops. `missing` holds those not reached yet. */
function createReach({ dependencies, shutdown, lines }: ReachParts) {
  const missing = new Set<string>(dependencies.map(({ name }) => name))

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

  return { reach, missing }
}

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

/** Creates the operations side: the health, status and metrics pages, on a port for operators and orchestrators. */
function createOperationsSide({ config, telemetry, clients, people }: Foundation) {
  const { log, lines, metrics } = telemetry
  const status = createStatus({
    log,
    checks: statusChecks(people, () => checkProgress(people)),
  })
  const snapshot = async () => {
    // A Redis that refuses writes still has the other figures.
    const [figures, budget] = await Promise.all([progressFigures(people), clients.budget.figures().catch(() => [])])
    return { ...figures, budget }
  }
  const pages = {
    '/status': status.page,
    '/metrics': createMetricsPage({ registry: metrics.registry, snapshot }),
  }

  /** Opens the operations port. Throws StartError if Lockkeeper cannot listen there. */
  function open(whyNotReady: () => Promise<string | undefined>) {
    return startHealth({ host: config.opsHost, port: config.opsPort, lines, whyNotReady, pages })
  }

  /** Returns the problem of the worker as a sentence, or undefined if it has none. */
  async function workerProblem(): Promise<string | undefined> {
    const result = await status.run('worker')
    return result.ok ? undefined : result.problem
  }

  return { open, note: status.note, workerProblem }
}

interface FeatureNeeds {
  home: Home
  lastReceived: LastReceived
}

/** Creates every feature. */
function buildFeatures(foundation: Foundation, { home, lastReceived }: FeatureNeeds): Feature[] {
  const { people } = foundation
  return createFeatures({
    ...people,
    app: people,
    accountApi: people.account,
    inventory: people.lists,
    seen: people.assignments,
    linkTo: people.slack.identity.linkTo,
    writesPerMinute: people.config.infra.writesPerMinute,
    setup: { showHome: (viewer: Origin) => home.show(viewer), lastReceived },
  })
}

/** Creates the people side: commands, buttons, forms and the Home tab in Slack, over the prompt connection. */
function createPeopleSide(foundation: Foundation) {
  const { people, config, telemetry, requests } = foundation
  const { catalog } = requests
  const home = createHome(people, () => formButtons(interactions.commands))
  const lastReceived = createLastReceived(people)
  const features = buildFeatures(foundation, { home, lastReceived })
  catalog.register(features.flatMap(({ changes }) => changes ?? []))
  // Such a button changes the account in the process that gets the click.
  const minting = catalog.kinds().find((kind) => catalog.changeIfKnown(kind)?.handover && rulesNaming(config.policy, kind).length > 0)
  if (!config.infra.key && minting)
    throw new ConfigError([
      `INFRA_API_KEY is missing: with ROLE=web it can be left out only ${ifNoKeyIsMinted}. The policy allows ${minting}`,
    ])
  telemetry.metrics.expectKinds(catalog.kinds())

  const interactions = gatherHandlers(people, features, home)
  const workerWatch = createWorkerWatch(people, { checkMs: foundation.timings.workerCheckMs })

  /** Runs after the start has read the bot's identity from Slack. */
  function createListener(slackIdentity: Identity) {
    const { bolt, start } = createBolt(people, slackIdentity)
    const { settle } = listen(bolt, people, { handlers: interactions, onReceived: lastReceived.note })
    bolt.error(async (error) => telemetry.errorReports.of('slack')(error))

    async function stop(): Promise<void> {
      await bolt.stop()
      await settle()
      await home.stop()
    }

    return withWatch({ start, stop }, workerWatch)
  }

  return { interactions, features, createListener }
}

interface Listener {
  start: () => Promise<number | undefined>
  stop: () => Promise<void>
}

/** A process that listens to people also watches that a worker is running. */
function withWatch(listener: Listener, watch: ReturnType<typeof createWorkerWatch>): Listener {
  return {
    start: async () => {
      const port = await listener.start()
      watch.start()
      return port
    },
    stop: async () => {
      await watch.stop()
      await listener.stop()
    },
  }
}

/** Returns the work of the features that the policy lets people use. A feature that changes nothing needs no rule. */
export function repeatedOf(features: Pick<Feature, 'changes' | 'repeated'>[], policy: Policy): Work[] {
  const channels = ['', ...policy.rules.flatMap((rule) => rule.channels ?? [])]
  const isPermitted = ({ kind, project }: Change) =>
    channels.some((channelId) => rulesOfKind(policy, { kind, channelId, hasProject: project !== undefined }).length > 0)
  return features.flatMap(({ changes = [], repeated = [] }) => (changes.length === 0 || changes.some(isPermitted) ? repeated : []))
}

/** Creates the worker side, which handles requests without a person, over the patient connection. */
function createWorkerSide(foundation: Foundation, features: Feature[]) {
  const { jobs, requests } = foundation
  const dataLossMark = createDataLossMark(jobs, requests.newestHead)
  const worker = createWorker(jobs, {
    ...createJobs(foundation),
    dataLossMark,
    redisWatch: createRedisWatch(jobs),
    sweepOutbox: (onRefusedCard) => sweepOutbox(jobs, onRefusedCard),
  })
  const repeatedWork = createRepeatedWork(jobs, repeatedOf(features, foundation.config.policy))
  return { worker: together(worker, repeatedWork), dataLossMark }
}

interface Started {
  start(): Promise<void>
  stop(): Promise<void>
}

function together(...all: Started[]): Started {
  return {
    async start() {
      for (const each of all) await each.start()
    },
    async stop() {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
}

/** Creates the functions that the worker runs for requests. */
function createJobs({ jobs }: Foundation) {
  const carryOn = createBundles(jobs)
  return {
    reconcile: (id: string) => reconcile(jobs, carryOn, id),
    track: (requests: Request[]) => track(jobs, requests),
  }
}

/** Creates the whole bot from its configuration, each part from the parts above it. */
export function createBot(config: Config, outlets: Outlets) {
  const foundation = createFoundation(config, outlets)
  const people = createPeopleSide(foundation)
  const { worker, dataLossMark } = createWorkerSide(foundation, people.features)
  const alerts = createAlertsSide(foundation)
  const operations = createOperationsSide(foundation)

  const { redis, clients, operators, opsChannel, disconnect } = foundation

  const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })

  async function reachSlack(): Promise<Identity> {
    const identity = await clients.slack.identity.reach()
    // Nothing waits for it: it only warns.
    void opsChannel?.check()
    return identity
  }

  async function reachRedis(): Promise<void> {
    await redis.reach()
    // Report a rejected or unsuitable key right after the start. It does not stop the start, because moves in flight wait for a valid key.
    void checkKeys().catch(operators.onApiError)
    await checkData().catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? redis.startProblem(error) : error
    })
  }

  async function checkKeys(): Promise<void> {
    const list = () => clients.accountApi.apiKeys.list({ signal: AbortSignal.timeout(10_000) })
    const problem = readKeyProblem(await inLane('background', list), clients.ownLastSlices)
    if (problem) await operators.owe('read-key-unsuitable', unsuitableReadKey(problem), { about: problem, level: 'warn' })
  }

  async function checkData(): Promise<void> {
    await dataLossMark.check()
    if (!(await markSigningKey(redis.patient, redis.keys, keyring))) return
    const text = 'The process that started last with this REDIS_PREFIX signs with a key that this process does not have'
    outlets.log.warn({ code: 'signing-keys-differ' }, text)
  }

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: config.slack.appToken === undefined ? 'http' : 'socket mode' },
    log: outlets.log,
    lines: foundation.telemetry.lines,
    openOperations: operations.open,
    slack: {
      name: 'Slack',
      reach: reachSlack,
      longestPauseMs: 15_000,
      note: (problem) => void operations.note('slack', problem),
    },
    redis: { name: 'Redis', reach: reachRedis, longestPauseMs: 3_000, note: (problem) => void operations.note('redis', problem) },
    createListener: people.createListener,
    alerts,
    worker,
    workerProblem: operations.workerProblem,
    disconnect,
  })

  return { start: lifecycle.start, stop: lifecycle.stop, interactions: people.interactions, commands: people.interactions.commands }
}
export type Bot = ReturnType<typeof createBot>
