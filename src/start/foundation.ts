import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { type AccountBudget, createAccountBudget } from '../account/budget.ts'
import { createAccountApi } from '../account/client.ts'
import type { ElasticIpReads } from '../account/elastic-ips.ts'
import { createInventory, type ListName } from '../account/inventory.ts'
import { type Audit, createAudit, createNewestHead, type FoundEntry } from '../audit/audit.ts'
import { type AuditEntry, type AuditNote, createNoteSigner } from '../audit/chain.ts'
import type { Config } from '../config/config.ts'
import type { ElasticIp, OwnLastSlices } from '../domain/account.ts'
import { ApiError, type ErrorCode, isKeyRefused, type WriteRefusal } from '../domain/errors.ts'
import { currentRequest } from '../domain/lane.ts'
import type { AuthorityProblem, LinkTo, MessageRef, Request } from '../domain/request.ts'
import { createRequestSignatures } from '../domain/request-signature.ts'
import { createKeyring } from '../domain/signing.ts'
import { type Timings, usualTimings } from '../domain/timings.ts'
import { settleWithin } from '../domain/within.ts'
import { assignmentsRefused, distrusted, lostRecord, outdated, unannounced, undeliverable } from '../messages/operator-notices.ts'
import { refusedKey } from '../messages/words.ts'
import {
  createApiErrorHandler,
  createAuditLog,
  createErrorReports,
  createRepeatedLines,
  type Log,
  type RepeatedLines,
  scrub,
  slackLogger,
} from '../ops/log.ts'
import { createMetrics, type Forgery, forgeries, type Metrics } from '../ops/metrics.ts'
import { createNotifyOperators } from '../outbox/notices.ts'
import { createDeliver, createOutbox, createShow, type SendReportParts } from '../outbox/outbox.ts'
import { createRenderer, type Renderer } from '../outbox/render.ts'
import { createAssignments } from '../redis/assignments.ts'
import {
  createRedisCheck,
  createWriteProbe,
  findRedisFaults,
  type RedisFault,
  readInfos,
  refusalFault,
  startProblem,
  WritesRefused,
} from '../redis/check.ts'
import { closeRedis, connectRedis, guardStore, holdCommands, type Redis } from '../redis/connect.ts'
import { createKeys } from '../redis/key-names.ts'
import { createQueues } from '../redis/queues.ts'
import { createAccess } from '../requests/access.ts'
import { createCheckAuthority, createCheckRecord, createCheckRetraction } from '../requests/authority.ts'
import { type Catalog, createCatalog } from '../requests/catalog.ts'
import { type ReportName, type StepName, sendsOrEnds, stateOfAct } from '../requests/steps.ts'
import { createNoteOf, createStore, type NoteOf, type TakenStep } from '../requests/store.ts'
import { webClientOptions } from '../slack/app.ts'
import { createDirectory } from '../slack/people.ts'
import { createResponder, namingMessenger, namingRespond, responseOrigins } from '../slack/response-url.ts'
import { createNaming, type Mrkdwn } from '../slack/text.ts'
import {
  type ChannelMembership,
  createMessenger,
  createSetupProbe,
  fetchIdentity,
  type Identity,
  measuredFetch,
  measuredResponseFetch,
  type OnSlackCall,
  rejectedTokenErrors,
  type SlackCall,
} from '../slack/web-api.ts'

/** Holds the bot's identity in Slack, which is unknown until the first call of Slack succeeds. */
export function createSlackIdentity(fetch: () => Promise<Identity>) {
  let current: Identity | undefined

  /** Fetches and keeps the identity. Throws as `fetchIdentity` does. */
  async function reach(): Promise<Identity> {
    current = await fetch()
    return current
  }

  /** Returns the address of a request's card, if it was posted and the workspace is known. */
  const linkTo: LinkTo = ({ origin, cardTs }) => {
    return cardTs === undefined ? undefined : addressOf({ channelId: origin.channelId, ts: cardTs })
  }

  /** Returns the address of a message, if the workspace is known. The address of a reply names its thread, too. */
  function addressOf({ channelId, ts, threadTs }: MessageRef): string | undefined {
    const { workspaceUrl } = current ?? {}
    const thread = threadTs === undefined ? '' : `?thread_ts=${threadTs}&cid=${channelId}`
    return workspaceUrl && `${workspaceUrl}archives/${channelId}/p${ts.replace('.', '')}${thread}`
  }

  /** Returns the address of a person's profile, if the workspace is known. */
  function profileOf(userId: string): string | undefined {
    const { workspaceUrl } = current ?? {}
    return workspaceUrl && `${workspaceUrl}team/${userId}`
  }

  return { reach, fetch, current: () => current, linkTo, addressOf, profileOf }
}

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
export type Telemetry = ReturnType<typeof createTelemetry>

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
export function createApiClients({ slack, infra, opsChannel }: Config, telemetry: Telemetry, parts: AccountParts) {
  return {
    slack: createSlackClients(slack, opsChannel, telemetry),
    accountApi: createMeasuredAccountApi(infra, telemetry, parts),
    budget: parts.budget,
    ownLastSlices: lastSlicesOf(infra),
  }
}
export type ApiClients = ReturnType<typeof createApiClients>

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
  const messenger = createMessenger({ client, botUserId: () => identity.current()?.botUserId })
  const respond = createResponder({ allowedOrigins: responseOrigins(apiUrl), fetch: measuredResponseFetch(onSlackCall) })
  return {
    logger,
    client,
    setupProbe: createSetupProbe({ client, apiUrl, fetch: measuredFetch(onSlackCall) }),
    identity,
    naming,
    messenger: namingMessenger(messenger, naming),
    respond: namingRespond(respond, naming),
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

/**
 * Opens both connections to Redis. People use the `prompt` one, which fails within a second. Jobs use the `patient` one, which waits until
 * Redis is back.
 */
export function createRedisConnections(
  { redis: { url, prefix, allowVolatile } }: Config,
  { log, lines }: { log: Pick<Log, 'warn'>; lines: RepeatedLines },
) {
  const problems = createProblems(lines)
  const prompt = connectRedis(url, 'prompt', problems.note)
  const patient = connectRedis(url, 'patient', problems.note)
  const connections = [prompt, patient]
  for (const each of connections) each.on('ready', () => connections.every(({ status }) => status === 'ready') && problems.end())
  /** Why Redis refused writes in the last check of the start. */
  let refusal: WriteRefusal | undefined
  const releaseCommands = holdCommands(prompt, () => refusal?.code)
  const keys = createKeys(prefix)
  // Over the patient connection, because the prompt one is held until the start has checked Redis, which waits while Redis refuses writes.
  const probeWrites = createWriteProbe(patient, keys)
  const check = createRedisCheck({
    redis: patient,
    probeWrites,
    allowVolatile,
    prefix,
    problem: problems.latest,
    warn: (fault) => log.warn({ code: 'redis-unsafe' }, fault),
  })

  /** Checks that this Redis keeps requests safe, and then lets the commands of people through. Throws as the check does. */
  async function reach(): Promise<void> {
    await check().catch((error: unknown) => {
      refusal = error instanceof WritesRefused ? error.refusal : undefined
      throw error
    })
    problems.logFromNowOn()
    releaseCommands()
  }

  /** Returns the settings with which this Redis could lose requests. Throws StoreUnavailableError if it does not answer. */
  async function faults(): Promise<RedisFault[]> {
    return findRedisFaults(await guardStore(() => readInfos(prompt)))
  }

  /** Returns them for a process that warns of them. With ALLOW_VOLATILE_REDIS the operators accepted them, and the log warned about them at the start. */
  async function unacceptedFaults(): Promise<RedisFault[]> {
    return allowVolatile ? [] : faults()
  }

  /** Returns what a worker reports to the operators. Nobody can accept that Redis refuses writes. Throws StoreUnavailableError if it does not answer. */
  async function faultsToReport(): Promise<RedisFault[]> {
    const settings = await unacceptedFaults()
    const refusal = await probeWrites()
    return refusal ? [...settings, refusalFault(refusal)] : settings
  }

  async function close(): Promise<void> {
    await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
  }

  return {
    keys,
    prompt,
    patient,
    reach,
    faults,
    unacceptedFaults,
    faultsToReport,
    probeWrites,
    startProblem: (error: unknown) => startProblem(error, { problem: problems.latest(), prefix }),
    problem: problems.latest,
    close,
  }
}
export type RedisConnections = ReturnType<typeof createRedisConnections>

/**
 * Keeps the latest problem of the connections, as a code. Logs nothing until the check has passed, because each failed attempt to start
 * writes its own log line.
 */
function createProblems(lines: RepeatedLines) {
  const code = 'redis-not-responding'
  let latest: string | undefined
  let isLogged = false

  function note(problem: string): void {
    latest = problem
    if (!isLogged) return
    lines.write({ fields: { code, problem }, text: "Redis isn't responding. The connection is tried again", over: 'Redis responds again' })
  }

  function logFromNowOn(): void {
    isLogged = true
  }

  /** Both connections work, so the latest problem explains no later one. */
  function end(): void {
    latest = undefined
    lines.end(code)
  }

  return { note, end, latest: () => latest, logFromNowOn }
}

interface AuditsParts {
  config: Config
  /** Prints one line of the audit. */
  printAudit: (line: string) => void
  telemetry: Telemetry
  redis: RedisConnections
}

/** Creates the audit over each connection to Redis: for people, who wait for an answer, and for jobs, which can wait longer. */
export function createAudits({ config, printAudit, telemetry: { metrics, errorReports }, redis: { keys, prompt, patient } }: AuditsParts) {
  const keyring = createKeyring(config.signingSecrets, { purpose: 'audit', prefix: config.redis.prefix })
  const signer = createNoteSigner(keyring)
  const newestHead = createNewestHead()

  function auditOver(redis: Redis) {
    return createAudit({
      redis,
      keys,
      print: printAudit,
      clean: scrub,
      signer,
      keyring,
      onError: errorReports.of('audit'),
      newestHead,
      onNotGenuine: () => metrics.notGenuine('audit-note'),
    })
  }

  const people = auditOver(prompt)
  const jobs = auditOver(patient)

  /** Counts and records a refusal. The person is refused even if it cannot be recorded. */
  function noteRefusal(note: AuditNote): Promise<void> {
    metrics.decision(note.kind ?? 'none', 'refused')
    return people.noteRefusal(note).catch(errorReports.of('audit'))
  }

  return { people, jobs, newestHead, noteRefusal }
}

type Decision = 'approve' | 'reject' | 'withdraw' | 'expire' | 'break-glass'

/** The decision that each step is counted as in the metrics. Undefined for a step that decides nothing. */
const decisions: Record<StepName, Decision | undefined> = {
  approve: 'approve',
  'count-approval': 'approve',
  exempt: 'approve',
  'break-glass': 'break-glass',
  reject: 'reject',
  withdraw: 'withdraw',
  'withdraw-resolved': 'withdraw',
  'lose-sight': undefined,
  'regain-sight': undefined,
  'note-resolved': undefined,
  expire: 'expire',
  'expire-approved': 'expire',
  'remind-half': undefined,
  'remind-last': undefined,
  'remind-handover-half': undefined,
  'remind-handover-last': undefined,
  void: undefined,
  drop: undefined,
  begin: undefined,
  'wait-for-account': undefined,
  'wait-for-turn': undefined,
  'wait-for-worker': undefined,
  limit: undefined,
  send: undefined,
  issue: undefined,
  accept: undefined,
  late: undefined,
  finish: undefined,
  fail: undefined,
  'fail-begun': undefined,
  supersede: undefined,
  'not-start': undefined,
  'correct-to-tracking': undefined,
  'correct-to-done': undefined,
  'correct-to-failed': undefined,
  'correct-to-superseded': undefined,
  'correct-to-not-started': undefined,
  'stop-tracking': undefined,
  distrust: undefined,
  'track-again': undefined,
}

/** Creates the function that counts a step, its decision, the time from the approval to the write, and the duration of the change that it ends. */
export function createCountStep({ metrics, catalog }: { metrics: Metrics; catalog: Pick<Catalog, 'changeIfKnown'> }) {
  return function countStep({ step, kind, requestKind = kind, to, tookMs, sinceApprovalMs }: TakenStep): void {
    metrics.transition(kind, to)
    const decision = Object.hasOwn(decisions, step) ? decisions[step as StepName] : undefined
    if (decision) metrics.decision(kind, decision)
    if (sinceApprovalMs !== undefined) metrics.writeSent(requestKind, sinceApprovalMs)
    const change = catalog.changeIfKnown(kind)
    // A request of several counts as its items do, each at its own end.
    if (change?.takesTime && !change.items && tookMs !== undefined) metrics.moveEnded(to, tookMs)
  }
}

/**
 * Finds the entries that decide whether this request or an item of it may still be sent. Entries that cannot be verified are found too, because
 * somebody who breaks a signature must not cause a second write.
 */
export function findSendsAndEnds(audit: Audit, request: Request, since: number): Promise<FoundEntry[]> {
  return findEntriesOf(audit, request, sendsOrEnds, since)
}

/** Finds the newest genuine entry in which this request changed its state. */
export async function findLastTransition(audit: Audit, request: Request, since: number): Promise<AuditEntry | undefined> {
  const entries = await findEntriesOf(audit, request, (act) => stateOfAct(act) !== undefined, since)
  return entries.find(({ verdict }) => verdict === 'genuine')
}

async function findEntriesOf(audit: Audit, { id }: Request, fits: (act: string) => boolean, since: number): Promise<FoundEntry[]> {
  const whole = { limit: Number.POSITIVE_INFINITY, scan: Number.POSITIVE_INFINITY, since, allChained: true, requestId: id }
  const { entries } = await audit.find(({ act }) => fits(act), whole)
  return entries
}

interface OperatorNotifierParts {
  config: Config
  telemetry: Telemetry
  redis: RedisConnections
  clients: ApiClients
}

/** Creates the handlers that notify the channel of the operators. */
export function createOperatorNotifier({
  config,
  telemetry: { log, lines, metrics, errorReports },
  redis,
  clients,
}: OperatorNotifierParts) {
  const { command } = config.slack
  const notices = createNotifyOperators({
    redis: redis.prompt,
    keys: redis.keys,
    messenger: clients.slack.messenger,
    channelId: config.opsChannel,
    keyring: createKeyring(config.signingSecrets, { purpose: 'notices', prefix: config.redis.prefix }),
    log,
    onError: errorReports.of('operators'),
  })

  const { notify, owe } = notices

  const onApiError = createApiErrorHandler({
    lines,
    count: () => metrics.error('account-api'),
    onRefusedKey: notifyOfKey,
  })

  function notifyOfKey(error: ApiError): void {
    void notify('api-key-rejected', refusedKey(error), {
      about: error.key === 'INFRA_API_KEY' ? String(error.status) : `${error.key} ${error.status}`,
    })
  }

  /** Handles an error that a person was shown. While nothing is in flight, only people find out that the account rejects the key. */
  function onShownError(error: unknown): void {
    if (error instanceof ApiError && isKeyRefused(error)) notifyOfKey(error)
  }

  function onUndeliverable(request: Request, error: string, report?: ReportName): Promise<void> {
    const about = report === undefined ? request.id : `${report}:${request.id}`
    return owe('report-undeliverable', wordsFor(request, error, report), { requestId: request.id, about })
  }

  function wordsFor(request: Request, error: string, report: ReportName | undefined): Mrkdwn {
    if (report === 'outdated') return outdated(request, error)
    if (report !== 'break-glass') return undeliverable(request, error, command)
    return unannounced(request, { error, command, profile: clients.slack.identity.profileOf(request.origin.userId) })
  }

  /** Handles a request whose record, approvals or history cannot be trusted. */
  function onDistrusted(request: Request, problem: AuthorityProblem): Promise<void> {
    const { code } = problem
    if (isForgery(code)) metrics.notGenuine(code)
    return owe(codes[code], distrusted(request, problem), { requestId: request.id, about: `${code}:${request.id}` })
  }

  /** Handles a request that is due and whose record is gone. */
  function onLostRecord(requestId: string): Promise<void> {
    metrics.requestsLost('one-record')
    return owe('request-lost', lostRecord(requestId, command), { requestId })
  }

  return { ...notices, onApiError, onShownError, onUndeliverable, onDistrusted, onLostRecord }
}
export type OperatorNotifier = ReturnType<typeof createOperatorNotifier>

/** How the log and the operators' channel call each problem. */
const codes: Record<AuthorityProblem['code'], ErrorCode> = {
  'record-changed': 'record-not-genuine',
  'approvals-not-genuine': 'record-not-genuine',
  'already-sent': 'record-not-genuine',
  'already-ended': 'record-not-genuine',
  'unknown-key': 'signing-key-unknown',
  'approval-needed-now': 'policy-changed',
  'rule-gone': 'policy-changed',
  'approved-too-long-ago': 'approved-too-long-ago',
}

function isForgery(code: string): code is Forgery {
  return (forgeries as readonly string[]).includes(code)
}

interface OpsChannelParts {
  /** Undefined if OPS_CHANNEL is not set. */
  channelId: string | undefined
  membership: (channelId: string) => Promise<ChannelMembership>
  lines: Pick<RepeatedLines, 'write'>
}

const problems: Record<ChannelMembership['is'], string | undefined> = {
  member: undefined,
  absent: 'Lockkeeper is not in the channel, or there is no such channel',
  archived: 'the channel is archived',
  // Slack did not say. It may take the notices.
  unreadable: undefined,
}

/**
 * Creates the check whether notices to the operators can be posted. It logs if they cannot, because nobody would notice before one is
 * missing. Undefined if there is no channel.
 */
export function createOpsChannel({ channelId, membership, lines }: OpsChannelParts) {
  if (channelId === undefined) return undefined
  const id = channelId

  /** Never throws. */
  async function check(): Promise<ChannelMembership> {
    const found = await membership(id)
    const problem = problems[found.is]
    if (problem !== undefined) {
      const text = `Notices can't be posted in OPS_CHANNEL (${id}): ${problem}`
      lines.write({ fields: { code: 'operators-unreachable', problem }, text, about: problem })
    }
    return found
  }

  return { id, check }
}

/** Creates the function that logs each step of a request or of its item, in one line. Names and reasons are in the audit alone. */
export function createLogStep({ log }: Pick<Telemetry, 'log'>) {
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
  clients: ApiClients
  operators: OperatorNotifier
  noteOf: NoteOf
  render: Renderer
  namesOf: SendReportParts['namesOf']
  onStep: (step: TakenStep) => void
}

/** Returns a function that creates the records of requests and their messages over one connection to Redis. */
export function createRequestsOver({
  config,
  telemetry,
  redis: { keys },
  clients,
  operators,
  noteOf,
  render,
  namesOf,
  onStep,
}: RequestsOverParts) {
  const { messenger } = clients.slack
  const onQueueError = telemetry.errorReports.of('queue')
  const onReported = ({ kind }: Request, sinceEndMs: number) => telemetry.metrics.reported(kind, sinceEndMs)

  return function requestsOver(redis: Redis, audit: Audit) {
    const store = createStore({ redis, keys, audit, noteOf, onStep })
    const outbox = createOutbox({ redis, keys })
    const queues = createQueues({
      redis,
      keys,
      pollIntervalMs: config.movePollIntervalMs,
      onError: onQueueError,
    })
    const deliver = createDeliver({ outbox, messenger, render, namesOf, onUndeliverable: operators.onUndeliverable, onReported })
    const show = createShow({ outbox, deliver })
    return { redis, audit, store, outbox, queues, wake: queues.wake, deliver, show }
  }
}

interface RequestsParts {
  config: Config
  /** Prints one line of the audit. */
  printAudit: (line: string) => void
  telemetry: Telemetry
  redis: RedisConnections
  clients: ApiClients
  operators: OperatorNotifier
}

/** Creates the kinds of change, the rights, the audit, and the requests over each connection. People and workers share them. */
export function createRequests({ config, printAudit, telemetry, redis, clients, operators }: RequestsParts) {
  const { metrics } = telemetry
  const logStep = createLogStep(telemetry)
  const { client, identity } = clients.slack

  const audits = createAudits({ config, printAudit, telemetry, redis })
  const signatures = createRequestSignatures(createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix }))
  const noteOf = createNoteOf(signatures)
  const directory = createDirectory({ client })
  const catalog = createCatalog()
  const access = createAccess({
    people: directory,
    policy: config.policy,
    homeTeamId: () => identity.current()?.teamId,
    catalog,
    noteRefusal: audits.noteRefusal,
    noteOf,
  })
  const checkRecord = createCheckRecord({ signatures, catalog })
  const { checkAuthority, checkItems } = createCheckAuthority({
    signatures,
    ruleOf: access.ruleOf,
    findSendsAndEnds: (request, since) => findSendsAndEnds(audits.jobs, request, since),
  })
  const checkRetraction = createCheckRetraction({
    signatures,
    findLastTransition: (request, since) => findLastTransition(audits.jobs, request, since),
  })
  const { environment, moveTimeoutMs } = config
  const render = createRenderer({
    catalog,
    ruleOf: access.ruleOf,
    environment,
    writesPerMinute: config.infra.writesPerMinute,
    addressOf: identity.addressOf,
    profileOf: identity.profileOf,
    moveTimeoutMs,
    linkTo: identity.linkTo,
    verifyRecord: signatures.verifyRecord,
    onChanged: (request) => operators.onDistrusted(request, { code: 'record-changed' }),
  })

  const countStep = createCountStep({ metrics, catalog })
  const onStep = (step: TakenStep) => {
    countStep(step)
    logStep(step)
  }
  const requestsOver = createRequestsOver({
    config,
    telemetry,
    redis,
    clients,
    operators,
    noteOf,
    render,
    namesOf: directory.names,
    onStep,
  })
  const forPeople = requestsOver(redis.prompt, audits.people)
  const forJobs = requestsOver(redis.patient, audits.jobs)

  return {
    directory,
    catalog,
    access,
    signatures,
    noteOf,
    checkRecord,
    checkAuthority,
    checkItems,
    checkRetraction,
    render,
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
  const opsChannel = createOpsChannel({
    channelId: config.opsChannel,
    membership: clients.slack.setupProbe.membership,
    lines: telemetry.lines,
  })
  const operators = createOperatorNotifier({ config, telemetry, redis, clients })
  const assignments = createAssignments({
    redis: redis.prompt,
    keys: redis.keys,
    keyring: keyringFor('assignments'),
    onRefused: (problem) => operators.owe('assignments-refused', assignmentsRefused(problem), { about: problem }),
  })
  const requests = createRequests({ config, printAudit, telemetry, redis, clients, operators })

  /** Closes every connection after the work on it has ended. Waits at most two seconds for that work. */
  async function disconnect(): Promise<void> {
    const { forPeople, forJobs } = requests
    await settleWithin(1_000, [forPeople.audit.settle(), forJobs.audit.settle()])
    await settleWithin(1_000, [forPeople.queues.close(), forJobs.queues.close(), clients.accountApi.close()])
    await redis.close()
  }

  return { config, timings, telemetry, redis, clients, inventory, assignments, operators, opsChannel, requests, disconnect }
}
export type Foundation = ReturnType<typeof createFoundation>
