import type { Config } from '../../config/config.ts'
import { createRequestSignatures } from '../../domain/request/request-signature.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { createAccess } from '../../requests/access/access.ts'
import { createCheckAuthority } from '../../requests/access/check-authority.ts'
import { createCheckRecord } from '../../requests/access/check-record.ts'
import { createCheckRetraction } from '../../requests/access/check-retraction.ts'
import { createCatalog } from '../../requests/catalog.ts'
import { createRenderer } from '../../requests/outbox/render.ts'
import { createNoteOf } from '../../requests/store/request-note.ts'
import type { TakenStep } from '../../requests/store/step-data.ts'
import { createDirectory } from '../../slack/people/directory.ts'
import type { ApiClients } from './api-clients.ts'
import { createAudits } from './audits.ts'
import { createCountStep } from './count-step.ts'
import { findLastTransition, findSendsAndEnds } from './find-entries-of-request.ts'
import { createLogStep } from './log-step.ts'
import type { OperatorNotifier } from './operator-notifier.ts'
import type { RedisConnections } from './redis-connections.ts'
import { createRequestsOver } from './requests-over.ts'
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
