import type { AuditNote } from '../../audit/entry.ts'
import { type Audit, createAudit } from '../../audit/intake.ts'
import { createNewestHead } from '../../audit/newest-head.ts'
import { createNoteSigner } from '../../audit/note-signer.ts'
import type { Config } from '../../config/config.ts'
import type { Request } from '../../domain/request/request.ts'
import { createRequestSignatures } from '../../domain/request/request-signature.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { scrub } from '../../ops/log/safe-value.ts'
import type { Redis } from '../../redis/connect.ts'
import { createQueues } from '../../redis/queues.ts'
import { createAccess } from '../../requests/access/access.ts'
import { createCheckAuthority } from '../../requests/access/check-authority.ts'
import { createCheckRecord } from '../../requests/access/check-record.ts'
import { createCheckSearch } from '../../requests/access/check-search.ts'
import { createCatalog } from '../../requests/catalog.ts'
import { createDeliver } from '../../requests/outbox/deliver.ts'
import { createOutbox } from '../../requests/outbox/outbox.ts'
import { createRenderer } from '../../requests/outbox/render.ts'
import type { SendReportParts } from '../../requests/outbox/send-report.ts'
import { createShow } from '../../requests/outbox/show.ts'
import { createNoteOf, type NoteOf } from '../../requests/store/request-note.ts'
import type { TakenStep } from '../../requests/store/step-data.ts'
import { createStore } from '../../requests/store/store.ts'
import { createDirectory } from '../../slack/people/directory.ts'
import type { ApiClients } from './api-clients.ts'
import { createCountStep } from './count-step.ts'
import { findLastChange, findSendsAndEnds } from './find-entries-of-request.ts'
import { createLogStep } from './log-step.ts'
import type { OperatorNotifier } from './operator-notifier.ts'
import type { RedisConnections } from './redis-connections.ts'
import type { Telemetry } from './telemetry.ts'

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
  const { metrics, errorReports, tracing } = telemetry
  const logStep = createLogStep(telemetry)
  const { keys, prompt, patient } = redis
  const { client, identity } = clients.slack

  const { prefix } = config.redis
  const auditKeyring = createKeyring(config.signingSecrets, { purpose: 'audit', prefix })
  const signer = createNoteSigner(auditKeyring)
  const newestHead = createNewestHead()
  const auditOver = (connection: Redis) =>
    createAudit({
      redis: connection,
      keys,
      print: printAudit,
      clean: scrub,
      signer,
      keyring: auditKeyring,
      onError: errorReports.of('audit'),
      newestHead,
      onNotGenuine: () => metrics.notGenuine('audit-note'),
    })
  const audits = { people: auditOver(prompt), jobs: auditOver(patient) }

  /** Counts and records a refusal. The person is refused even if it cannot be recorded. */
  function noteRefusal(note: AuditNote): Promise<void> {
    metrics.decision(note.kind ?? 'none', 'refused')
    return audits.people.note(note).catch(errorReports.of('audit'))
  }

  const signatures = createRequestSignatures(createKeyring(config.signingSecrets, { purpose: 'requests', prefix }))
  const noteOf = createNoteOf(signatures)
  const directory = createDirectory({ client })
  const catalog = createCatalog()
  const access = createAccess({
    people: directory,
    policy: config.policy,
    homeTeamId: () => identity.current()?.teamId,
    catalog,
    noteRefusal,
    noteOf,
  })
  const checkRecord = createCheckRecord({ signatures, catalog })
  const { checkAuthority, checkItems } = createCheckAuthority({
    signatures,
    ruleOf: access.ruleOf,
    findSendsAndEnds: (request, since) => findSendsAndEnds(audits.jobs, request, since),
  })
  const checkSearch = createCheckSearch({ signatures, findLastChange: (request, since) => findLastChange(audits.jobs, request, since) })
  const { environment, moveTimeoutMs } = config
  const render = createRenderer({
    catalog,
    ruleOf: access.ruleOf,
    environment,
    addressOf: identity.addressOf,
    profileOf: identity.profileOf,
    moveTimeoutMs,
    linkTo: identity.linkTo,
    verifyRecord: signatures.verifyRecord,
    onChanged: (request) => operators.onDistrusted(request, { code: 'record-changed' }),
  })

  const noteStep = ({ step, requestId, to }: TakenStep) =>
    tracing.note(`step ${step}`, { 'lockkeeper.request.id': requestId, 'lockkeeper.state': to }, 0)
  const countStep = createCountStep({ metrics, catalog })
  const onStep = (step: TakenStep) => {
    countStep(step)
    logStep(step)
    noteStep(step)
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
  const forPeople = requestsOver(prompt, audits.people)
  const forJobs = requestsOver(patient, audits.jobs)

  return {
    directory,
    catalog,
    access,
    signatures,
    noteOf,
    checkRecord,
    checkAuthority,
    checkItems,
    checkSearch,
    render,
    newestHead,
    forPeople,
    forJobs,
  }
}

interface RequestsOverParts extends Omit<RequestsParts, 'printAudit'> {
  noteOf: NoteOf
  render: ReturnType<typeof createRenderer>
  namesOf: SendReportParts['namesOf']
  onStep: (step: TakenStep) => void
}

/** Returns a function that creates the records of requests and their messages over one connection to Redis. */
function createRequestsOver({
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
  const { tracing } = telemetry
  const { queueTelemetry } = tracing
  const onQueueError = telemetry.errorReports.of('queue')
  const onReported = ({ kind }: Request, sinceEndMs: number) => telemetry.metrics.reported(kind, sinceEndMs)

  return function requestsOver(redis: Redis, audit: Audit) {
    const store = createStore({ redis, keys, audit, noteOf, onStep, currentTrace: tracing.current })
    const outbox = createOutbox({ redis, keys })
    const queues = createQueues({
      redis,
      keys,
      pollIntervalMs: config.movePollIntervalMs,
      onError: onQueueError,
      ...(queueTelemetry ? { telemetry: queueTelemetry } : {}),
    })
    const deliver = createDeliver({ outbox, messenger, render, namesOf, onUndeliverable: operators.onUndeliverable, onReported, tracing })
    const show = createShow({ outbox, deliver })
    return { redis, audit, store, outbox, queues, wake: queues.wake, deliver, show }
  }
}
