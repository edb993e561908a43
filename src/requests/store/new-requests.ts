import type { Origin } from '../../domain/approval/origin.ts'
import type { Finding } from '../../domain/change/finding.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { MessageRef } from '../../domain/request/message-ref.ts'
import { openStates, Request, type RequestRef, requestVersion, resourcesOf, type SourceAlert } from '../../domain/request/request.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { encodeFields } from './record.ts'
import { noteOfVerified } from './request-note.ts'
import type { TakeStepParts } from './take-step.ts'

const scripts = readScripts(import.meta.url, ['create', 'discard'])

/** The share of the time to approve after which approvers get the first reminder. */
export const firstReminderAt = 0.5

/**
 * How long Redis keeps the id of the latest request for a resource. An earlier request needs it while it is tracked after its end
 * (`trackEndedMs`), so this is longer.
 */
export const keepLatestMs = 3_600_000

/** Longer than any request can wait for an approval. */
const keepUndecidedMs = 30 * 24 * 3_600_000

/** How long a request counts for how many its requester may make. */
const latelyMs = 10 * 60_000

/** How many requests one person may make in 10 minutes, whatever becomes of them: as many as may wait for an approval, and at least 20. */
export function mostLately(mostUndecided: number): number {
  return Math.max(20, mostUndecided)
}

export interface NewRequest {
  id: string
  kind: ChangeKind
  input: unknown
  facts: unknown
  resource: string
  moreResources?: string[]
  hash: string
  rule: string
  unchecked: Finding[]
  warnings?: Finding[]
  origin: Origin
  reason?: string
  undoes?: RequestRef
  repeats?: RequestRef
  fromMessage?: MessageRef
  alert?: SourceAlert
  approverNames?: string
  personNames?: Record<string, string>
  /** False if the rule needs no approval. The change then starts as soon as its card is posted. */
  needsApproval: boolean
  approvalsNeeded: number
  ttlMs: number
  /** In ms since 1970 by Redis' clock. It is read before, because it is signed. */
  createdAt: number
  signature: string
}

export interface Created {
  /**
   * `exists`: a repeated delivery of the same request. `busy`: other open requests hold resources of it. `too-many`: the requester has as many
   * undecided requests as a person may have. `too-often`: the requester made `mostLately` requests in the last 10 minutes.
   */
  outcome: 'created' | 'exists' | 'busy' | 'too-many' | 'too-often'
  id: string
  /** The resources that are held, and the id of the request that holds each. Empty unless `busy`. */
  held: { resource: string; by: string }[]
  /** From when on the requester may request again, in ms by Redis' clock. Undefined unless `too-often`. */
  retryAt: number | undefined
}

/** Creates the functions that record a new request and discard it again. They throw StoreUnavailableError if Redis does not answer. */
export function createNewRequests({ redis, keys, audit, noteOf, onStep }: Omit<TakeStepParts, 'durations'>) {
  const run = createScripts(redis, scripts)

  /**
   * Records a request, unless it exists, its resource is busy, or its requester already has `mostUndecided` requests that wait for an
   * approval, or made `mostLately` of them in 10 minutes.
   */
  async function create(request: NewRequest, { mostUndecided }: { mostUndecided?: number } = {}): Promise<Created> {
    const { id, ttlMs, createdAt, origin, rule, reason } = request
    const argument = {
      id,
      recordPrefix: keys.recordPrefix,
      open: openStates,
      fields: encodeFields({ ...request, version: requestVersion, state: 'waiting' }),
      expiresAt: createdAt + ttlMs,
      dueInMs: request.needsApproval ? Math.floor(ttlMs * firstReminderAt) : 0,
      keepLatestMs,
      needsApproval: request.needsApproval,
      mostUndecided: mostUndecided ?? false,
      keepUndecidedMs,
      mostLately: mostUndecided !== undefined && mostLately(mostUndecided),
      latelyMs,
    }
    const [outcome, ...more] = await audit.noteWith(
      noteOfVerified(request, 'request', { by: origin.userId, rule, reason }),
      (note) => run('create', keysOf(request), [JSON.stringify(argument), note]),
      // `exists`: the client may have sent the command again, after the first one wrote the note.
      ([created]) => (created === 'created' ? 'written' : created === 'exists' ? 'unknown' : 'not-written'),
    )
    if (outcome === 'created') onStep({ step: 'request', requestId: id, kind: request.kind, to: 'waiting' })
    const resources = resourcesOf(request)
    const held = more.flatMap((by, index) => (index % 2 === 1 ? [{ resource: resources[Number(more[index - 1]) - 1] ?? '', by }] : []))
    return { outcome: outcome as Created['outcome'], id, held, retryAt: outcome === 'too-often' ? Number(more[0]) : undefined }
  }

  /** Discards a request whose card could not be posted. Keeps it if its card was posted or a step was taken. */
  async function discard(request: Request, cause: Finding): Promise<void> {
    await audit.noteWith(
      noteOf(request, 'discard', { causes: [cause] }),
      (note) => run('discard', keysOf(request), [request.id, note]),
      // `gone`: the client may have sent the command again, after the first one discarded the request.
      ([discarded]) => (discarded === 'discarded' ? 'written' : discarded === 'gone' ? 'unknown' : 'not-written'),
    )
  }

  function keysOf(request: Pick<Request, 'id' | 'resource' | 'origin'> & { moreResources?: string[] | undefined }): string[] {
    const { id, origin } = request
    const ofResources = resourcesOf(request).flatMap((resource) => [keys.resource(resource), keys.latest(resource)])
    const ofRequester = [keys.undecided(origin.userId), keys.requested(origin.userId)]
    return [keys.record(id), keys.open, keys.outbox, keys.due, keys.auditIntake, ...ofRequester, ...ofResources]
  }

  return { create, discard }
}

/** Returns the request as it will be recorded, to check its card before. */
export function asRecorded(request: NewRequest): Request {
  return Request.parse({
    ...request,
    version: requestVersion,
    state: 'waiting',
    revision: 1,
    expiresAt: request.createdAt + request.ttlMs,
  })
}
