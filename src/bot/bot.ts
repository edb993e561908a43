import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import packageFile from '../../package.json' with { type: 'json' }
import { createAccountApi } from '../account-api/client.ts'
import { createInventory } from '../account-api/inventory.ts'
import type { AuditNote } from '../audit/entry.ts'
import { createAudit } from '../audit/intake.ts'
import { createSeenHead } from '../audit/seen-head.ts'
import type { Config } from '../config/config.ts'
import type { Request } from '../domain/request.ts'
import { type Timings, usualTimings } from '../domain/timings.ts'
import { settleWithin } from '../domain/within.ts'
import type { Feature } from '../features/feature.ts'
import { createFeatures } from '../features/index.ts'
import { createApiErrorHandler } from '../ops/log/api-error-handler.ts'
import { createAuditLog } from '../ops/log/audit-log.ts'
import { createErrorReports } from '../ops/log/error-reports.ts'
import { type Log, slackLogger, throttled } from '../ops/log/log.ts'
import { scrub } from '../ops/log/safe-value.ts'
import { createChecks } from '../ops/pages/checks.ts'
import { startHealth } from '../ops/pages/health.ts'
import { createMetrics } from '../ops/pages/metrics.ts'
import { createStatus } from '../ops/pages/status.ts'
import { createRedisCheck, findRedisFaults } from '../redis/check.ts'
import { closeRedis, connectRedis, guardStore, holdCommands } from '../redis/connect.ts'
import { createKeys } from '../redis/key-names.ts'
import { createAccess } from '../requests/access/access.ts'
import { createCatalog } from '../requests/catalog.ts'
import { createDeliveries } from '../requests/interactions/deliveries.ts'
import { createHome } from '../requests/interactions/home.ts'
import { createInteractions } from '../requests/interactions/interactions.ts'
import { createLastHeard } from '../requests/interactions/last-heard.ts'
import { createRequests } from '../requests/lifecycle/requests.ts'
import { createAsk } from '../requests/lifecycle/submit.ts'
import { fitsOnCard } from '../requests/messages/card.ts'
import { refusedKey } from '../requests/messages/words.ts'
import { createRenderer } from '../requests/outbox/render.ts'
import { createTellOperators } from '../requests/outbox/tell-operators.ts'
import { asDraft, type TakenStep } from '../requests/store/store.ts'
import { createCensus } from '../requests/worker/counts.ts'
import { createEpoch } from '../requests/worker/data-loss-mark.ts'
import { createProgress } from '../requests/worker/progress.ts'
import { createWatch } from '../requests/worker/worker.ts'
import { notice } from '../slack/blocks/notice.ts'
import { createFormOpener } from '../slack/commands/form.ts'
import { listen } from '../slack/listen/listen.ts'
import { createDirectory } from '../slack/people/directory.ts'
import { createBoltApp, webClientOptions } from '../slack/receive/app.ts'
import { fetchIdentity, type Identity } from '../slack/web-api/identity.ts'
import { measuredFetch, measuredResponseFetch, type OnSlackCall } from '../slack/web-api/measured-fetch.ts'
import { createMessenger } from '../slack/web-api/messenger.ts'
import { createResponder, responseOrigins } from '../slack/web-api/response-url.ts'
import { createSetupProbe } from '../slack/web-api/setup-probe.ts'
import { createShowSecret } from '../slack/web-api/show-secret.ts'
import { decisionOf } from './decision-of.ts'
import { createLifecycle } from './lifecycle.ts'

export interface Outlets {
  log: Log
  /** Where the audit's lines go; standard output unless told. */
  printAudit?: (line: string) => void
  timings?: Timings
}

/** Builds the whole bot from its configuration: the one place that knows every part. */
export function createBot(config: Config, { log, printAudit = createAuditLog(), timings = usualTimings }: Outlets) {
  const keys = createKeys(config.redis.prefix)
  let redisProblem: string | undefined
  let isRedisChecked = false
  const warnOfRedis = throttled(() => log.warn({ problem: redisProblem }, 'Redis does not answer'))
  const onRedisError = (problem: string) => {
    redisProblem = problem
    // Until then the start says so at each attempt.
    if (isRedisChecked) warnOfRedis(undefined)
  }
  const prompt = connectRedis(config.redis.url, 'prompt', onRedisError)
  const patient = connectRedis(config.redis.url, 'patient', onRedisError)
  const letCommandsPass = holdCommands(prompt)

  const logger = slackLogger(log) as Logger
  const metrics = createMetrics({ snapshot: () => progress.snapshot() })
  const errorReports = createErrorReports({ log, count: metrics.error })
  const onSlackCall: OnSlackCall = ({ method, status, ms }) => metrics.slackCall(method, status, ms)
  const client = new WebClient(config.slack.botToken.reveal(), webClientOptions(config.slack.apiUrl, logger, onSlackCall))
  let identity: Identity | undefined
  const respond = createResponder({
    allowedOrigins: responseOrigins(config.slack.apiUrl),
    fetch: measuredResponseFetch(onSlackCall),
  })
  const messenger = createMessenger({ client, botUserId: () => identity?.botUserId })

  const accountApi = createAccountApi({
    baseUrl: config.infra.url,
    key: config.infra.key,
    onCall: (call) => {
      metrics.apiCall(call.operation, call.status, call.ms)
      log.debug(call, 'account API')
    },
    onSkipped: (skipped) => log.warn(skipped, 'items of a list did not fit the schema and were left out'),
  })
  const operators = createTellOperators({
    redis: prompt,
    keys,
    messenger,
    channelId: config.opsChannel,
    log: (text) => log.error(text),
    onError: errorReports.each('operators'),
  })
  const tellOperators = operators.tell
  const onApiError = createApiErrorHandler({
    log,
    count: () => metrics.error('account-api'),
    onRefusedKey: (error) => void tellOperators(`api-key-${error.status}`, notice(refusedKey(error))),
  })

  const seenHead = createSeenHead()
  const auditOver = (redis: typeof prompt) =>
    createAudit({ redis, keys, print: printAudit, clean: scrub, onError: errorReports.throttled('audit'), seenHead })
  const audits = { people: auditOver(prompt), jobs: auditOver(patient) }
  /** What was refused stays refused when it cannot be written down. */
  const noteRefusal = (note: AuditNote) => {
    metrics.decision(note.kind ?? 'none', 'refused')
    return audits.people.note(note).catch(errorReports.each('audit'))
  }

  const directory = createDirectory({ client })
  const catalog = createCatalog(() => features.flatMap((feature) => feature.changes ?? []))
  const access = createAccess({
    people: directory,
    policy: config.policy,
    homeTeamId: () => identity?.teamId,
    catalog,
    noteRefusal,
  })
  const { environment, moveTimeoutMs } = config
  const render = createRenderer({ catalog, ruleOf: access.ruleOf, environment, moveTimeoutMs })
  const shared = {
    keys,
    messenger,
    catalog,
    render,
    tellOperators,
    pollIntervalMs: config.movePollIntervalMs,
    lateAfterMs: moveTimeoutMs,
    timings,
    onApiError,
    onQueueError: errorReports.throttled('queue'),
    onStep,
  }
  function onStep({ step, kind, to, tookMs }: TakenStep): void {
    metrics.transition(kind, to)
    const decision = decisionOf(step)
    if (decision) metrics.decision(kind, decision)
    if (catalog.changeIfKnown(kind)?.takesTime && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  }

  const forPeople = createRequests({ ...shared, redis: prompt, audit: audits.people })
  const forJobs = createRequests({ ...shared, redis: patient, audit: audits.jobs })

  const { store, deliver, queues } = forPeople
  const progress = createProgress({ store, queues, census: createCensus({ redis: prompt, keys }), catalog })
  const ask = createAsk({
    store,
    access,
    deliver,
    wake: queues.wake,
    names: directory.names,
    fitsOnCard: (request) => fitsOnCard(render.view(asDraft(request))),
  })
  const usesSockets = config.slack.appToken !== undefined
  const lastHeard = createLastHeard({ redis: prompt, keys })
  const features: Feature[] = createFeatures({
    accountApi,
    inventory: createInventory(accountApi),
    ask,
    store,
    catalog,
    access,
    audit: audits.people,
    linkTo,
    setup: {
      probe: createSetupProbe({ client, apiUrl: config.slack.apiUrl, fetch: measuredFetch(onSlackCall) }),
      members: directory.members,
      showHome: async (viewer) => home.show(viewer, undefined),
      lastHeard,
      redisFaults: async () => findRedisFaults(await guardStore(() => prompt.info())),
      opsChannel: config.opsChannel,
      running: { ...config, version: packageFile.version, rules: config.policy.rules.length },
      usesSockets,
    },
    ownLastSlice: config.infra.key.reveal().slice(-5),
  })
  const home = createHome({ store, access, messenger, view: render.view, linkTo, onError: errorReports.each('people') })
  const openForm = createFormOpener(messenger)
  const interactions = createInteractions({
    features,
    requests: forPeople,
    catalog,
    access,
    ask,
    home,
    openForm,
    showSecret: createShowSecret({ respond, messenger }),
    timings,
    onApiError,
    onError: errorReports.each('people'),
  })
  const epoch = createEpoch({ redis: patient, keys, tellOperators, seenHead, catalog })
  const watch = createWatch({ ...forJobs, keys, epoch, onError: errorReports.each('jobs'), onTick: metrics.tick })

  /** The address of a request's card. */
  function linkTo({ origin, cardTs }: Request): string | undefined {
    const { workspaceUrl } = identity ?? {}
    return workspaceUrl && cardTs ? `${workspaceUrl}archives/${origin.channelId}/p${cardTs.replace('.', '')}` : undefined
  }

  function createListener(known: Identity) {
    const { app, start } = createBoltApp(config.slack, known, logger, { onCall: onSlackCall, respond, onUnhandled: errorReports.unhandled })
    const listening = listen(app, {
      handlers: interactions,
      authorize: async (origin, what) => void (await access.authorize(origin, { to: 'read', what })),
      messenger,
      openForm,
      respond,
      onReceived: lastHeard.note,
      onUnhandled: errorReports.unhandled,
      isFirstDelivery: createDeliveries({ redis: prompt, keys }),
      onError: errorReports.shownToPerson,
    })
    app.error(async (error) => errorReports.each('slack')(error))
    const stop = async () => {
      await app.stop()
      await listening.settle()
    }
    return { start, stop }
  }

  async function reachSlack(): Promise<Identity> {
    identity = await fetchIdentity(client, config.slack.apiUrl)
    return identity
  }

  const checkRedis = createRedisCheck({
    redis: patient,
    allowVolatile: config.redis.allowVolatile,
    problem: () => redisProblem,
    warn: (fault) => log.warn(fault),
  })
  async function reachRedis(): Promise<void> {
    await checkRedis()
    isRedisChecked = true
    letCommandsPass()
    // Report a rejected key right after the start. It does not stop the start, because moves in flight wait for a valid key.
    void accountApi.apiKeys.list({ signal: AbortSignal.timeout(10_000) }).catch(onApiError)
    await epoch.check()
  }

  const status = createStatus({
    log,
    checks: createChecks({
      redis: () => prompt.ping(),
      slack: () => fetchIdentity(client, config.slack.apiUrl),
      accountApi: () => accountApi.apiKeys.list({ signal: AbortSignal.timeout(1_900) }),
      worker: progress.check,
    }),
  })

  const lifecycle = createLifecycle({
    role: config.role,
    about: { transport: usesSockets ? 'socket mode' : 'http' },
    log,
    openOperations: (whyNotReady) =>
      startHealth({ port: config.opsPort, log, whyNotReady, pages: { '/status': status.page, '/metrics': metrics.page } }),
    slack: { name: 'Slack', reach: reachSlack, longestPauseMs: 15_000, note: (problem) => void status.note('slack', problem) },
    redis: { name: 'Redis', reach: reachRedis, longestPauseMs: 3_000, note: (problem) => void status.note('redis', problem) },
    createListener,
    worker: watch,
    async workerProblem() {
      const verdict = await status.run('worker')
      return verdict.ok ? undefined : verdict.problem
    },
    async disconnect() {
      await settleWithin(1_000, [audits.people.settle(), audits.jobs.settle()])
      await settleWithin(1_000, [forPeople.queues.close(), forJobs.queues.close(), accountApi.close()])
      await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
    },
  })

  async function stop(): Promise<void> {
    operators.stop()
    await lifecycle.stop()
  }

  return { start: lifecycle.start, stop, interactions, commands: features.flatMap((feature) => feature.commands) }
}
export type Bot = ReturnType<typeof createBot>
