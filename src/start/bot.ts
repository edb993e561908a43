import type { App } from '../app.ts'
import { createBolt } from '../bolt/app.ts'
import { listen } from '../bolt/listen.ts'
import { formButtons } from '../bolt/open-forms.ts'
import { gatherHandlers } from '../buttons/handlers.ts'
import { createHome } from '../buttons/home.ts'
import { plainWords } from '../checks/check.ts'
import { otherStateKey } from '../checks/redis.ts'
import { type Config, ConfigError } from '../config/config.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { rulesOfKind } from '../domain/policy.ts'
import { createKeyring } from '../domain/signing.ts'
import { abilities, ownChanges, ports } from '../features/index.ts'
import type { Ability, Feature, Setup } from '../kit/ability.ts'
import { createDataLossMark, createRedisWatch, createTimer, createWorkerWatch, type Watch } from '../life/self-checks.ts'
import { applyPolicy } from '../life/waiting.ts'
import { createWorker, progressFigures, type Work } from '../life/worker.ts'
import { atMostEvery, createMetricsPage, createStatus, type Snapshot, startHealth } from '../ops/health.ts'
import { onApiError } from '../outbox/operators.ts'
import { isFrozenAt } from '../record/freeze.ts'
import { clockAheadOfRedisMs, readRedisMemory } from '../redis/connections.ts'
import { markSigningKey } from '../redis/sealed.ts'
import { pagesServer } from '../slack/http-receiver.ts'
import { buildApps, disconnect, type Outlets } from './apps.ts'
import { createLifecycle } from './lifecycle.ts'
import { clockProblem, statusChecks } from './status.ts'

export function createBot(config: Config, outlets: Outlets) {
  const { people, jobs, newestHead } = buildApps(config, outlets)
  const dataLossMark = createDataLossMark(jobs, newestHead)
  const sections = abilities.flatMap((ability) => ability.home ?? [])
  const home = createHome(people, () => formButtons(interactions.commands), sections)
  const setup: Setup = { showHome: home.show, ownChanges }
  const features = abilities.map(({ create }) => create(people, setup))
  people.catalog.register(features.flatMap(({ changes }) => changes ?? []))
  people.metrics.expectKinds(people.catalog.kinds())
  const interactions = gatherHandlers(people, features, home)

  const worker = createWorker(jobs, {
    dataLossMark,
    redisWatch: createRedisWatch(jobs),
    works: repeatedOf(abilities, people, setup),
    repeatMs: outlets.timings?.repeatMs,
  })
  const workerWatch = createWorkerWatch(people, { checkMs: outlets.timings?.workerCheckMs })
  // Workers check it, too, but what Redis lost may be what this process alone has written.
  const lossWatch = createTimer(dataLossMark.check, outlets.timings?.workerCheckMs ?? 5_000, jobs.errors.of('jobs'))
  const status = createStatus(statusChecks(people), people.log)
  const pages = { '/status': status.page, '/metrics': createMetricsPage(people.metrics.registry, () => sharedFigures(people)) }

  const webPages = abilities.flatMap(({ pages }) => pages?.(people) ?? [])
  const { appToken, host, port } = config.slack
  const ofPages = appToken === undefined || webPages.length === 0 ? undefined : pagesServer(webPages)

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: config.slack.appToken === undefined ? 'http' : 'socket mode' },
    log: people.log,
    lines: people.lines,
    openOperations: (whyNotReady) => startHealth({ host: config.opsHost, port: config.opsPort, lines: people.lines, whyNotReady, pages }),
    slack: {
      name: 'Slack',
      async reach() {
        const identity = await people.slack.identity.reach()
        await requireKnownIds(features, people.log)
        // Nothing waits for it: it only warns.
        void people.opsChannel?.check()
        return identity
      },
      longestPauseMs: 15_000,
    },
    redis: { name: 'Redis', reach: () => reachRedis(people, dataLossMark), longestPauseMs: 3_000 },
    createListener(identity) {
      const { bolt, start } = createBolt(people, identity, webPages)
      const { settle } = listen(bolt, people, interactions)
      bolt.error(async (error) => people.errors.of('slack')(error))
      return {
        async start() {
          const port = await start()
          // A process that listens to people also watches that a worker is running.
          workerWatch.start()
          if (config.role === 'web') lossWatch.start()
          return port
        },
        async stop() {
          // Does not wait for it: while Redis is away, it waits for that.
          void lossWatch.stop()
          await workerWatch.stop()
          await bolt.stop()
          await settle()
          await home.stop()
        },
      }
    },
    ports: [
      ...Object.entries(ports).flatMap(([name, create]) => {
        const port = create(people)
        return port ? [{ name, ...port }] : []
      }),
      // Slack needs no port in Socket Mode, and browsers do.
      ...(ofPages ? [{ name: 'pagesPort', start: () => ofPages.start({ host, port }), stop: ofPages.stop }] : []),
    ],
    worker: {
      async start() {
        await worker.start()
        applyPolicy(jobs).catch(jobs.errors.of('jobs'))
      },
      stop: worker.stop,
    },
    async workerProblem() {
      const result = await status.run('worker')
      return result.ok ? undefined : `Workers: ${result.problem}`
    },
    clockProblem: atMostEvery(10_000, () => clockProblem(people)),
    disconnect: () => disconnect({ people, jobs }),
  })

  return { start: lifecycle.start, stop: lifecycle.stop, interactions, commands: interactions.commands }
}
export type Bot = ReturnType<typeof createBot>

/** A configuration with people whom Slack does not have ends in requests that nobody can approve. A Slack that is away is only a warning. */
async function requireKnownIds(features: Feature[], log: App['log']): Promise<void> {
  for (const { checkStart } of features) {
    const { wrong, warnings } = (await checkStart?.()) ?? { wrong: [], warnings: [] }
    if (wrong.length > 0) throw new ConfigError(wrong)
    for (const warning of warnings) log.warn({ code: 'configuration-warning' }, warning)
  }
}

/** Returns the work of the abilities that the policy lets people use. One that changes nothing needs no rule. */
export function repeatedOf(all: Pick<Ability, 'kinds' | 'repeated'>[], app: App, setup: Setup): Work[] {
  const { policy } = app.config
  const channels = ['', ...policy.rules.flatMap((rule) => rule.channels ?? [])]
  const isPermitted = (kind: string) =>
    channels.some((channelId) => rulesOfKind(policy, { kind, channelId, hasProject: app.catalog.hasProject(kind) }).length > 0)
  return all.flatMap(({ kinds = [], repeated }) => (kinds.length === 0 || kinds.some(isPermitted) ? (repeated?.(app, setup) ?? []) : []))
}

async function reachRedis(app: App, dataLossMark: Watch): Promise<void> {
  const { connections, config, keys, log } = app
  await connections.reach()
  // Report a rejected key right after the start. It does not stop the start, because moves in flight wait for a valid key.
  void checkKey(app).catch((error: unknown) => onApiError(app, error))
  try {
    await dataLossMark.check()
    const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })
    if (!(await markSigningKey(connections.patient, keys, keyring))) return
  } catch (error) {
    throw error instanceof StoreUnavailableError ? connections.startProblem(error) : error
  }
  log.warn({ code: 'signing-keys-differ' }, plainWords(otherStateKey))
}

async function checkKey(app: App): Promise<void> {
  await inLane('background', () => app.account.apiKeys.list({ signal: AbortSignal.timeout(10_000) }))
}

async function sharedFigures(app: App): Promise<Snapshot> {
  const readFrozen = async () => isFrozenAt(await app.freezes.read(), await app.store.now())
  // A Redis that refuses writes still has the other figures.
  const [figures, budget, isFrozen, memory, clockAheadMs] = await Promise.all([
    progressFigures(app),
    app.budget.figures().catch(() => []),
    readFrozen().catch(() => undefined),
    readRedisMemory(app).catch(() => undefined),
    clockAheadOfRedisMs(app).catch(() => undefined),
  ])
  return { ...figures, budget, isFrozen, memory, clockAheadMs }
}
