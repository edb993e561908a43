import type { Audit } from '../../audit/intake.ts'
import type { Config } from '../../config/config.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Redis } from '../../redis/connect.ts'
import { createQueues } from '../../redis/queues.ts'
import { createDeliver } from '../../requests/outbox/deliver.ts'
import { createOutbox } from '../../requests/outbox/outbox.ts'
import type { Renderer } from '../../requests/outbox/render.ts'
import type { SendReportParts } from '../../requests/outbox/send-report.ts'
import { createShow } from '../../requests/outbox/show.ts'
import type { NoteOf } from '../../requests/store/request-note.ts'
import type { TakenStep } from '../../requests/store/step-data.ts'
import { createStore } from '../../requests/store/store.ts'
import type { ApiClients } from './api-clients.ts'
import type { OperatorNotifier } from './operator-notifier.ts'
import type { RedisConnections } from './redis-connections.ts'
import type { Telemetry } from './telemetry.ts'

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
