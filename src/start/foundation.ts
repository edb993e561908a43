import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { type AccountBudget, createAccountBudget } from '../account/budget.ts'
import { createAccountApi } from '../account/client.ts'
import type { ElasticIpReads } from '../account/elastic-ips.ts'
import { createInventory, type ListName } from '../account/inventory.ts'
import type { App } from '../app.ts'
import { type Audit, createAudit } from '../audit/audit.ts'
import { createNoteSigner } from '../audit/chain.ts'
import { createNewestHead } from '../audit/intake.ts'
import type { Config } from '../config/config.ts'
import type { ElasticIp, OwnLastSlices } from '../domain/account.ts'
import { currentRequest } from '../domain/lane.ts'
import { createRequestSignatures } from '../domain/request-signature.ts'
import { createKeyring } from '../domain/signing.ts'
import { type Timings, usualTimings } from '../domain/timings.ts'
import { settleWithin } from '../domain/within.ts'
import { assignmentsRefused, damagedAudit } from '../messages/operator-notices.ts'
import { createAuditLog, createErrorReports, createRepeatedLines, type Log, slackLogger } from '../ops/log.ts'
import { createMetrics, type Metrics } from '../ops/metrics.ts'
import { notifyOperators } from '../outbox/notices.ts'
import type { OutboxName } from '../outbox/once.ts'
import { checkOpsChannel, onShownError, operatorsOf } from '../outbox/operators.ts'
import { deliver, show } from '../outbox/outbox.ts'
import { createAssignments } from '../redis/assignments.ts'
import type { Redis } from '../redis/connect.ts'
import { createRedisConnections, type RedisConnections } from '../redis/connections.ts'
import { createQueues } from '../redis/queues.ts'
import { createAccess } from '../requests/access.ts'
import { checkAuthority, checkRecord, checkRetraction } from '../requests/authority.ts'
import { type Catalog, createCatalog } from '../requests/catalog.ts'
import { decisionOf } from '../requests/steps.ts'
import { createStore, type TakenStep } from '../requests/store.ts'
import { submit } from '../requests/submit.ts'
import { webClientOptions } from '../slack/app.ts'
import { createDirectory } from '../slack/people.ts'
import { createResponder, responseOrigins } from '../slack/response-url.ts'
import { createNaming } from '../slack/text.ts'
import {
  createMessenger,
  createSetupProbe,
  createSlackIdentity,
  fetchIdentity,
  measuredFetch,
  type OnSlackCall,
  rejectedTokenErrors,
  type SlackCall,
} from '../slack/web-api.ts'

/** Calls whose callers report a rejected token: the start, the check of `/status`, and the opening of Socket Mode with its own token. */
const reportedElsewhere = new Set(['auth.test', 'apps.connections.open'])

/** Creates the log's error reports and the metrics of this process. It depends on no other part, because every other part reports to it. */
export function createTelemetry(log: Log) {
  const metrics = createMetrics()
  const lines = createRepeatedLines(log)
  const errorReports = createErrorReports({ log, lines, count: metrics.error })

  const onSlackCall: OnSlackCall = (call) => {
    const { method, ms } = call
    const status = isTokenRejected(call) ? 'token-rejected' : call.status
    if (status === 'token-rejected') onRejectedToken(call)
    metrics.slackCall(method, status, ms)
  }

  /** Counts and logs it. Without this line, a log shows only that each person gets a refusal, and not why. */
  function onRejectedToken({ method, error = '' }: SlackCall): void {
    if (reportedElsewhere.has(method)) return
    metrics.error('slack')
    const problem = `Slack rejects SLACK_BOT_TOKEN (${error})`
    lines.write({
      fields: { code: 'slack-token-rejected', problem },
      text: `${problem}. Nobody gets answers until it is valid`,
      level: 'error',
    })
  }

  /** Counts and logs that a person has spent their share of the reads, by which others notice who lists in unusual number. */
  function onShareSpent(userId: string, reads: number): void {
    metrics.readRefusedByShare()
    lines.write({
      fields: { code: 'reads-share-spent', userId, reads },
      text: 'A person has read as often in a minute as one person may, and waits',
      about: userId,
    })
  }

  return { log, lines, metrics, errorReports, onSlackCall, onShareSpent }
}
type Telemetry = ReturnType<typeof createTelemetry>

function isTokenRejected({ error }: SlackCall): boolean {
  return error !== undefined && rejectedTokenErrors.has(error)
}

interface AccountParts {
  elasticIpReads: ElasticIpReads
  budget: AccountBudget
  /** Is called with the operation of each write that was sent, whatever became of it. */
  onWrite: (operation: string) => void
}

/** Creates the clients of Slack and of the account API. Sends nothing yet. */
function createApiClients({ slack, infra, opsChannel }: Config, telemetry: Telemetry, parts: AccountParts) {
  return {
    slack: createSlackClients(slack, opsChannel, telemetry),
    accountApi: createMeasuredAccountApi(infra, telemetry, parts),
    budget: parts.budget,
    ownLastSlices: lastSlicesOf(infra),
  }
}
type ApiClients = ReturnType<typeof createApiClients>

function lastSlicesOf({ key, readKey }: Config['infra']): OwnLastSlices {
  return {
    ...(key && { INFRA_API_KEY: key.reveal().slice(-5) }),
    ...(readKey && { INFRA_READ_KEY: readKey.reveal().slice(-5) }),
  }
}

function createSlackClients(
  { botToken, apiUrl, command }: Config['slack'],
  opsChannel: string | undefined,
  { log, lines, onSlackCall }: Telemetry,
) {
  const logger = slackLogger(log, lines) as Logger
  const client = new WebClient(botToken.reveal(), webClientOptions(apiUrl, logger, onSlackCall))
  const identity = createSlackIdentity(() => fetchIdentity(client, apiUrl))
  const naming = createNaming({ opsChannel, command })
  const messenger = createMessenger({ client, named: naming.inAll, botUserId: () => identity.current()?.botUserId })
  const fetch = measuredFetch(onSlackCall, { isResponseUrl: true })
  const respond = createResponder({ allowedOrigins: responseOrigins(apiUrl), named: naming.inAll, fetch })
  return {
    logger,
    client,
    setupProbe: createSetupProbe(client, apiUrl, measuredFetch(onSlackCall)),
    identity,
    naming,
    messenger,
    respond,
    onCall: onSlackCall,
  }
}

function createMeasuredAccountApi(
  { url, key, readKey }: Config['infra'],
  { log, lines, metrics }: Telemetry,
  { elasticIpReads, budget, onWrite }: AccountParts,
) {
  return createAccountApi({
    baseUrl: url,
    key,
    readKey,
    turns: budget,
    elasticIpReads,
    onCall: (call) => {
      const { operation, status, ms } = call
      if (!/\.(list|get)$/.test(operation)) onWrite(operation)
      metrics.apiCall(operation, status, ms)
      log.debug({ ...call, requestId: currentRequest() }, 'Called the account API')
    },
    onSkipped: ({ operation, count }) =>
      lines.write({
        fields: { code: 'list-items-left-out', operation, left: count },
        text: "Left out items of a list that don't have the documented form",
        about: operation,
      }),
  })
}

/** Creates the audit over each connection to Redis: for people, who wait for an answer, and for jobs, which can wait longer. */
function createAudits({ config, printAudit, telemetry: { metrics, errorReports }, redis: { keys, prompt, patient }, apps }: RequestsParts) {
  const keyring = createKeyring(config.signingSecrets, { purpose: 'audit', prefix: config.redis.prefix })
  const signer = createNoteSigner(keyring)
  const newestHead = createNewestHead()

  function auditOver(redis: Redis) {
    return createAudit({
      redis,
      keys,
      print: printAudit,
      signer,
      keyring,
      onError: errorReports.of('audit'),
      newestHead,
      onNotGenuine: () => metrics.notGenuine('audit-note'),
      onDamaged: (fault, areRemoved) => notifyOperators(apps().people, 'audit-damaged', damagedAudit(fault, areRemoved), { about: fault }),
    })
  }

  const people = auditOver(prompt)
  const jobs = auditOver(patient)

  return { people, jobs, newestHead }
}

/** Creates the function that counts a step, its decision, the time from the approval to the write, and the duration of the change that it ends. */
function createCountStep({ metrics, catalog }: { metrics: Metrics; catalog: Pick<Catalog, 'changeIfKnown'> }) {
  return function countStep({ step, kind, requestKind = kind, to, tookMs, sinceApprovalMs }: TakenStep): void {
    metrics.transition(kind, to)
    const decision = decisionOf(step)
    if (decision) metrics.decision(kind, decision)
    if (sinceApprovalMs !== undefined) metrics.writeSent(requestKind, sinceApprovalMs)
    const change = catalog.changeIfKnown(kind)
    // A request of several counts as its items do, each at its own end.
    if (change?.takesTime && !change.items && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  }
}

/** Creates the function that logs each step of a request or of its item, in one line. Names and reasons are in the audit alone. */
function createLogStep({ log }: Pick<Telemetry, 'log'>) {
  return function logStep({ step, requestId, item, kind, to, sinceApprovalMs, tookMs }: TakenStep): void {
    log.info(
      {
        requestId,
        item,
        kind,
        step,
        state: to,
        sinceApprovalMs,
        tookMs,
      },
      'Took a step of a request',
    )
  }
}

interface RequestsOverParts {
  config: Config
  telemetry: Telemetry
  redis: RedisConnections
  signatures: App['signatures']
  onStep: (step: TakenStep) => void
}

/** Returns a function that creates the records of requests and their messages over one connection to Redis. */
function createRequestsOver({ config, telemetry, redis: { keys }, signatures, onStep }: RequestsOverParts) {
  const onQueueError = telemetry.errorReports.of('queue')

  return function requestsOver(redis: Redis, audit: Audit, app: () => App) {
    const store = createStore({ redis, keys, audit, signatures, onStep })
    const queues = createQueues({
      redis,
      keys,
      pollIntervalMs: config.movePollIntervalMs,
      onError: onQueueError,
    })
    return {
      redis,
      audit,
      store,
      queues,
      wake: queues.wake,
      deliver: (id: string, name: OutboxName) => deliver(app(), id, name),
      show: (id: string) => show(app(), id),
    }
  }
}

interface RequestsParts {
  config: Config
  /** Prints one line of the audit. */
  printAudit: (line: string) => void
  telemetry: Telemetry
  redis: RedisConnections
  clients: ApiClients
  /** The two values of App, once they are built. */
  apps: () => { people: App; jobs: App }
}

/** Creates the kinds of change, the rights, the audit, and the requests over each connection. People and workers share them. */
function createRequests({ config, printAudit, telemetry, redis, clients, apps }: RequestsParts) {
  const { metrics } = telemetry
  const logStep = createLogStep(telemetry)
  const { client, identity } = clients.slack

  const audits = createAudits({ config, printAudit, telemetry, redis, clients, apps })
  const signatures = createRequestSignatures(createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix }))
  const directory = createDirectory({ client })
  const catalog = createCatalog()
  const { messenger, respond, setupProbe: probe, naming, logger, onCall } = clients.slack
  const access = createAccess({
    config,
    directory,
    slack: { messenger, respond, identity, probe, naming, logger, onCall },
    catalog,
    signatures,
    audit: audits.people,
    metrics,
    errors: telemetry.errorReports,
  })

  const countStep = createCountStep({ metrics, catalog })
  const onStep = (step: TakenStep) => {
    countStep(step)
    logStep(step)
  }
  const requestsOver = createRequestsOver({ config, telemetry, redis, signatures, onStep })
  const forPeople = requestsOver(redis.prompt, audits.people, () => apps().people)
  const forJobs = requestsOver(redis.patient, audits.jobs, () => apps().jobs)

  return {
    directory,
    catalog,
    access,
    signatures,
    newestHead: audits.newestHead,
    forPeople,
    forJobs,
  }
}

export interface Outlets {
  log: Log
  /** Prints the lines of the audit. Default: to standard output. */
  printAudit?: (line: string) => void
  timings?: Timings
}

/** Creates what the people side, the worker side and the operations side share. */
export function createFoundation(config: Config, { log, printAudit = createAuditLog(), timings = usualTimings }: Outlets) {
  const telemetry = createTelemetry(log)
  const redis = createRedisConnections(config, telemetry)
  const keyringFor = (purpose: 'assignments' | 'lists') => createKeyring(config.signingSecrets, { purpose, prefix: config.redis.prefix })
  const onAssignmentsLost = telemetry.errorReports.of('jobs')
  const { readsPerMinute, writesPerMinute } = config.infra
  const budget = createAccountBudget({
    redis: redis.prompt,
    keys: redis.keys,
    readsPerMinute,
    writesPerMinute,
    pollBudget: config.movePollBudget,
    hasReadKey: config.infra.readKey !== undefined,
    windowMs: timings.accountWindowMs,
    onShareSpent: telemetry.onShareSpent,
  })
  const elasticIpReads = {
    onComplete: (all: ElasticIp[]) => void assignments.note(all).catch(onAssignmentsLost),
    onOne: (one: ElasticIp) => void assignments.noteOne(one).catch(onAssignmentsLost),
  }
  // Without Redis, the copies of the lists are at most 10 s old anyway.
  const onWrite = (operation: string) => void inventory.forget(operation.split('.')[0] as ListName).catch(() => {})
  const clients = createApiClients(config, telemetry, { elasticIpReads, budget, onWrite })
  const inventory = createInventory({
    minuteMs: timings.accountWindowMs,
    accountApi: clients.accountApi,
    redis: redis.prompt,
    keys: redis.keys,
    keyring: keyringFor('lists'),
  })
  const { opsChannel: channelId } = config
  const opsChannel = channelId === undefined ? undefined : { id: channelId, check: () => checkOpsChannel(people, channelId) }
  const operators = operatorsOf(() => people)
  const assignments = createAssignments({
    redis: redis.prompt,
    keys: redis.keys,
    keyring: keyringFor('assignments'),
    onRefused: (problem) => operators.owe('assignments-refused', assignmentsRefused(problem), { about: problem }),
  })
  const requests = createRequests({ config, printAudit, telemetry, redis, clients, apps: () => ({ people, jobs }) })

  const { forPeople: prompt, forJobs: patient, newestHead: _, ...ofRequests } = requests
  const { slack, accountApi, ...ofAccount } = clients
  const { messenger, respond, identity, setupProbe: probe, naming, logger, onCall } = slack
  const shared = {
    config,
    timings,
    log,
    lines: telemetry.lines,
    metrics: telemetry.metrics,
    errors: {
      ...telemetry.errorReports,
      shownToPerson: (error: unknown, shown: { reference?: string; at: string }) => {
        telemetry.errorReports.shownToPerson(error, shown)
        onShownError(people, error)
      },
    },
    keys: redis.keys,
    connections: redis,
    account: accountApi,
    ...ofAccount,
    lists: inventory,
    assignments,
    slack: { messenger, respond, identity, probe, naming, logger, onCall },
    opsChannel,
    notices: new Map(),
    ...ofRequests,
  }
  const checks: Pick<App, 'checkRecord' | 'checkAuthority' | 'checkRetraction'> = {
    checkRecord: (request) => checkRecord(jobs, request),
    checkAuthority: (...args) => checkAuthority(jobs, ...args),
    checkRetraction: (...args) => checkRetraction(jobs, ...args),
  }
  const people: App = { ...shared, ...checks, ...prompt, submit: (requested) => submit(people, requested) }
  const jobs: App = { ...shared, ...checks, ...patient, submit: (requested) => submit(jobs, requested) }

  /** Closes every connection after the work on it has ended. Waits at most two seconds for that work. */
  async function disconnect(): Promise<void> {
    const { forPeople, forJobs } = requests
    await settleWithin(1_000, [forPeople.audit.settle(), forJobs.audit.settle()])
    await settleWithin(1_000, [forPeople.queues.close(), forJobs.queues.close(), clients.accountApi.close()])
    await redis.close()
  }

  return { people, jobs, config, timings, telemetry, redis, clients, inventory, assignments, operators, opsChannel, requests, disconnect }
}
export type Foundation = ReturnType<typeof createFoundation>
