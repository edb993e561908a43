import { hostname } from 'node:os'
import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { createAccountBudget } from '../account/budget.ts'
import { createAccountApi } from '../account/client.ts'
import { createInventory, type ListName } from '../account/inventory.ts'
import type { App } from '../app.ts'
import { createAudit } from '../audit/audit.ts'
import { createNewestHead } from '../audit/intake.ts'
import { webClientOptions } from '../bolt/app.ts'
import type { Config } from '../config/config.ts'
import { currentRequest } from '../domain/lane.ts'
import { createRequestSignatures } from '../domain/request-signature.ts'
import { createKeyring, type Purpose } from '../domain/signing.ts'
import { type Timings, usualTimings } from '../domain/timings.ts'
import { settleWithin } from '../domain/within.ts'
import { confirmationsOf, ports, senders } from '../features/index.ts'
import { submit } from '../life/submit.ts'
import { assignmentsRefused, damagedAudit, freezeOfUnknownKey } from '../messages/operator-notices.ts'
import {
  createAuditLog,
  createErrorReports,
  createRepeatedLines,
  type Log,
  type RepeatedLines,
  type Shown,
  slackLogger,
} from '../ops/log.ts'
import { createMetrics, type Metrics } from '../ops/metrics.ts'
import { notifyOperators } from '../outbox/notices.ts'
import { checkOpsChannel, onShownError } from '../outbox/operators.ts'
import { createCatalog } from '../record/catalog.ts'
import { createFreezes, type FreezeMemory } from '../record/freeze.ts'
import { decisionOf } from '../record/steps.ts'
import { createStore, type TakenStep } from '../record/store.ts'
import { createAssignments } from '../redis/assignments.ts'
import type { Redis } from '../redis/connect.ts'
import { createRedisConnections } from '../redis/connections.ts'
import { createQueues } from '../redis/queues.ts'
import { createDirectory } from '../slack/people.ts'
import { createResponder, responseOrigins } from '../slack/respond.ts'
import { nameInAll } from '../slack/text.ts'
import {
  createMessenger,
  createSetupProbe,
  createSlackIdentity,
  fetchIdentity,
  measuredFetch,
  type OnSlackCall,
  rejectedTokenErrors,
} from '../slack/web-api.ts'

export interface Outlets {
  log: Log
  /** Prints the lines of the audit. Default: to standard output. */
  printAudit?: (line: string) => void
  timings?: Timings
}

/** It sends nothing yet, and waits for nothing. */
export function buildApps(config: Config, { log, printAudit = createAuditLog(), timings = usualTimings }: Outlets) {
  const metrics = createMetrics(config.role)
  const lines = createRepeatedLines(log)
  const errors = createErrorReports(log, lines, metrics.error)
  const connections = createRedisConnections(config, { log, lines })
  const { keys, prompt, patient } = connections
  const keyringFor = (purpose: Purpose) => createKeyring(config.signingSecrets, { purpose, prefix: config.redis.prefix })

  const { slack, client } = buildSlack(config, { log, lines, onCall: slackCallReporter({ metrics, lines }) })
  const directory = createDirectory({ client })
  const catalog = createCatalog()
  const signatures = createRequestSignatures(keyringFor('requests'))
  const recordKeyring = keyringFor('records')

  const budget = createAccountBudget({
    redis: prompt,
    keys,
    readsPerMinute: config.infra.readsPerMinute,
    writesPerMinute: config.infra.writesPerMinute,
    pollBudget: config.movePollBudget,
    windowMs: timings.accountWindowMs,
    // By this, others notice who lists in unusual number.
    onShareSpent(userId, reads) {
      metrics.readRefusedByShare()
      const text = 'A person has read as often in a minute as one person may, and waits'
      lines.write({ fields: { code: 'reads-share-spent', userId, reads }, text, about: userId })
    },
  })
  const accountSeen: App['accountSeen'] = {}
  const account = createAccountApi({
    baseUrl: config.infra.url,
    key: config.infra.key,
    turns: budget,
    elasticIpReads: {
      onComplete: (all) => void assignments.note(all).catch(errors.of('jobs')),
      onOne: (one) => void assignments.noteOne(one).catch(errors.of('jobs')),
    },
    onCall(call) {
      const { operation, status, ms } = call
      accountSeen.last = { status, at: performance.now() }
      // After a write. Without Redis, the copies of the lists are at most 10 s old anyway.
      if (!/\.(list|get)$/.test(operation)) void lists.forget(operation.split('.')[0] as ListName).catch(() => {})
      metrics.apiCall(operation, status, ms)
      log.debug({ ...call, requestId: currentRequest() }, 'Called the account API')
    },
    onSkipped({ operation, count }) {
      const text = "Left out items of a list that don't have the documented form"
      lines.write({ fields: { code: 'list-items-left-out', operation, left: count }, text, about: operation })
    },
  })
  const lists = createInventory({
    minuteMs: timings.accountWindowMs,
    accountApi: account,
    redis: prompt,
    keys,
    keyring: recordKeyring,
  })
  const assignments = createAssignments({
    redis: prompt,
    keys,
    keyring: recordKeyring,
    onRefused: (problem) => notifyOperators(people, 'assignments-refused', assignmentsRefused(problem), { about: problem }),
  })

  const keyring = keyringFor('audit')
  const newestHead = createNewestHead()

  const freezeMemory: FreezeMemory = { seen: 0 }

  function over(redis: Redis) {
    const audit = createAudit({
      redis,
      keys,
      print: printAudit,
      keyring,
      onError: errors.of('audit'),
      newestHead,
      onNotGenuine: () => metrics.notGenuine('audit-note'),
      onDamaged: (fault, areRemoved) => notifyOperators(people, 'audit-damaged', damagedAudit(fault, areRemoved), { about: fault }),
    })
    const onStep = (step: TakenStep) => noteStep({ catalog, metrics, log }, step)
    const store = createStore({ redis, keys, audit, signatures, onStep })
    const queues = createQueues({ redis, keys, pollIntervalMs: config.movePollIntervalMs, onError: errors.of('queue') })
    const freezes = createFreezes({ redis, keys, audit, store }, recordKeyring, {
      memory: freezeMemory,
      opsChannel: config.opsChannel,
      onUnknownKey: () =>
        void notifyOperators(people, 'freeze-not-trusted', freezeOfUnknownKey(hostname(), keys.freeze), { about: 'unknown-key' }),
      onDistrust: (why) =>
        log.error({ code: 'freeze-not-trusted', why }, 'The record of freezes cannot be believed, so everything is frozen'),
    })
    return { redis, audit, store, queues, freezes }
  }
  const ofPeople = over(prompt)

  const { opsChannel } = config
  const shared = {
    config,
    timings,
    log,
    lines,
    metrics,
    errors: {
      ...errors,
      shownToPerson(error: unknown, shown: Shown) {
        errors.shownToPerson(error, shown)
        onShownError(people, error)
      },
    },
    keys,
    connections,
    account,
    budget,
    accountSeen,
    lists,
    assignments,
    ownLastSlice: config.infra.key.reveal().slice(-5),
    slack,
    directory,
    opsChannel: opsChannel === undefined ? undefined : { id: opsChannel, check: () => checkOpsChannel(people, opsChannel) },
    catalog,
    senders,
    ports: Object.keys(ports),
    signatures,
    recordKeyring,
  }
  const people: App = {
    ...shared,
    ...ofPeople,
    submit: (requested) => submit(people, requested),
    confirmations: {},
  }
  const jobs: App = {
    ...shared,
    ...over(patient),
    submit: (requested) => submit(jobs, requested),
    confirmations: {},
  }
  for (const app of [people, jobs]) app.confirmations = confirmationsOf(app)
  return { people, jobs, newestHead }
}

/** Closes every connection after the work on it has ended. Waits at most two seconds for that work. */
export async function disconnect({ people, jobs }: { people: App; jobs: App }): Promise<void> {
  await settleWithin(1_000, [people.audit.settle(), jobs.audit.settle()])
  await settleWithin(1_000, [people.queues.close(), jobs.queues.close(), people.account.close()])
  await people.connections.close()
}

function buildSlack(config: Config, { log, lines, onCall }: { log: Log; lines: RepeatedLines; onCall: OnSlackCall }) {
  const { botToken, apiUrl } = config.slack
  const logger = slackLogger(log, lines) as Logger
  const client = new WebClient(botToken.reveal(), webClientOptions(apiUrl, logger, onCall))
  const identity = createSlackIdentity(() => fetchIdentity(client, apiUrl))
  const named = <Sent extends object>(sent: Sent) => nameInAll(config, sent)
  const fetch = measuredFetch(onCall, { isResponseUrl: true })
  return {
    client,
    slack: {
      messenger: createMessenger({ client, named, botUserId: () => identity.current()?.botUserId }),
      respond: createResponder({ allowedOrigins: responseOrigins(apiUrl), named, fetch }),
      identity,
      probe: createSetupProbe(client, apiUrl, measuredFetch(onCall)),
      logger,
      onCall,
      signature: { isWrong: false },
    },
  }
}

/** Calls whose callers report a rejected token: the start, the check of `/status`, and the opening of Socket Mode with its own token. */
const reportedElsewhere = new Set(['auth.test', 'apps.connections.open'])

/** Counts the calls of Slack. Logs a rejected token: without that line, a log shows only that each person gets a refusal, and not why. */
export function slackCallReporter({ metrics, lines }: { metrics: Metrics; lines: Pick<RepeatedLines, 'write'> }): OnSlackCall {
  return ({ method, ms, status, error }) => {
    const isTokenRejected = error !== undefined && rejectedTokenErrors.has(error)
    metrics.slackCall(method, isTokenRejected ? 'token-rejected' : status, ms)
    if (!isTokenRejected || reportedElsewhere.has(method)) return
    metrics.error('slack')
    const problem = `Slack rejects SLACK_BOT_TOKEN (${error})`
    const text = `${problem}. Nobody gets answers until it is valid`
    lines.write({ fields: { code: 'slack-token-rejected', problem }, text, level: 'error' })
  }
}

/** Logs and counts a step that this process took. Names and reasons are in the audit alone. */
function noteStep({ catalog, metrics, log }: Pick<App, 'catalog' | 'metrics' | 'log'>, taken: TakenStep): void {
  const { step, requestId, item, kind, requestKind = kind, to, tookMs, sinceApprovalMs } = taken
  metrics.transition(kind, to)
  const decision = decisionOf(step)
  if (decision) metrics.decision(kind, decision)
  if (sinceApprovalMs !== undefined) metrics.writeSent(requestKind, sinceApprovalMs)
  const change = catalog.changeIfKnown(kind)
  // A request of several counts as its items do, each at its own end.
  if (change?.takesTime && !change.items && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  log.info({ requestId, item, kind, step, state: to, sinceApprovalMs, tookMs }, 'Took a step of a request')
}
