import type { AuditNote } from '../audit/entry.ts'
import { type Audit, createAudit } from '../audit/intake.ts'
import { createSeenHead } from '../audit/seen-head.ts'
import type { Config } from '../config/config.ts'
import { scrub } from '../ops/log/safe-value.ts'
import type { Redis } from '../redis/connect.ts'
import { createQueues } from '../redis/queues.ts'
import { createAccess } from '../requests/access/access.ts'
import { createCatalog } from '../requests/catalog.ts'
import { createDeliver } from '../requests/outbox/deliver.ts'
import { createOutbox } from '../requests/outbox/outbox.ts'
import { createRenderer } from '../requests/outbox/render.ts'
import { createShow } from '../requests/outbox/show.ts'
import { createStore } from '../requests/store/store.ts'
import type { TakenStep } from '../requests/store/take-step.ts'
import { createDirectory } from '../slack/people/directory.ts'
import type { Clients } from './clients.ts'
import { createCountStep } from './count-step.ts'
import type { Instruments } from './instruments.ts'
import type { OperatorNotices } from './operator-notices.ts'
import type { RedisSide } from './redis-side.ts'

interface RequestsSideParts {
  config: Config
  /** Prints one line of the audit. */
  printAudit: (line: string) => void
  instruments: Instruments
  redis: RedisSide
  clients: Clients
  notices: OperatorNotices
}

/** Creates what people and workers share: the kinds of change, the rights, the audit, and the requests over each connection. */
export function createRequestsSide({ config, printAudit, instruments, redis, clients, notices }: RequestsSideParts) {
  const { metrics, errorReports } = instruments
  const { keys, prompt, patient } = redis
  const { client, identity } = clients.slack

  const seenHead = createSeenHead()
  const auditOver = (connection: Redis) =>
    createAudit({ redis: connection, keys, print: printAudit, clean: scrub, onError: errorReports.throttled('audit'), seenHead })
  const audits = { people: auditOver(prompt), jobs: auditOver(patient) }

  /** Counts and records a refusal. The person is refused even if it cannot be recorded. */
  function noteRefusal(note: AuditNote): Promise<void> {
    metrics.decision(note.kind ?? 'none', 'refused')
    return audits.people.note(note).catch(errorReports.each('audit'))
  }

  const directory = createDirectory({ client })
  const catalog = createCatalog()
  const access = createAccess({
    people: directory,
    policy: config.policy,
    homeTeamId: () => identity.current()?.teamId,
    catalog,
    noteRefusal,
  })
  const { environment, moveTimeoutMs } = config
  const render = createRenderer({ catalog, ruleOf: access.ruleOf, environment, moveTimeoutMs })

  const onStep = createCountStep({ metrics, catalog })
  const requestsOver = createRequestsOver({ config, instruments, redis, clients, notices, render, onStep })
  const forPeople = requestsOver(prompt, audits.people)
  const forJobs = requestsOver(patient, audits.jobs)

  return { directory, catalog, access, render, seenHead, forPeople, forJobs }
}
export type RequestsSide = ReturnType<typeof createRequestsSide>

interface RequestsOverParts extends Omit<RequestsSideParts, 'printAudit'> {
  render: ReturnType<typeof createRenderer>
  onStep: (step: TakenStep) => void
}

/** Returns a function that creates the records of requests, and what is sent about them, over one connection to Redis. */
function createRequestsOver({ config, instruments, redis: { keys }, clients, notices, render, onStep }: RequestsOverParts) {
  const { messenger } = clients.slack
  const onQueueError = instruments.errorReports.throttled('queue')

  return function requestsOver(redis: Redis, audit: Audit) {
    const store = createStore({ redis, keys, audit, onStep })
    const outbox = createOutbox({ redis, keys })
    const queues = createQueues({ redis, keys, pollIntervalMs: config.movePollIntervalMs, onError: onQueueError })
    const deliver = createDeliver({ outbox, messenger, render, onUndeliverable: notices.onUndeliverable })
    const show = createShow({ outbox, deliver })
    return { redis, audit, store, outbox, queues, wake: queues.wake, deliver, show }
  }
}
