import { randomUUID } from 'node:crypto'
import type { AuditNote } from '../../audit/entry.ts'
import type { Audit } from '../../audit/intake.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import { isOpen, type Request, type RequestState, unknownState } from '../../domain/request.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { type ReportName, type StepName, stateAfter, stepOf } from '../steps.ts'
import { encodeFields } from './record.ts'
import { noteOf } from './request-note.ts'

const scripts = readScripts(import.meta.url, ['take-step'])

/** How long Redis keeps the record of an ended request. */
const keepEndedMs = 30 * 24 * 3_600_000

/** What a step carries besides its name. */
export interface StepData {
  set?: Partial<
    Pick<
      Request,
      | 'decision'
      | 'approvals'
      | 'missing'
      | 'reminded'
      | 'causes'
      | 'seen'
      | 'seenSignature'
      | 'lastSeen'
      | 'trackedUntil'
      | 'stoppedBy'
      | 'untrackedMs'
    >
  >
  /** What the audit notes of the step, beyond the request itself. */
  audit?: Pick<AuditNote, 'by' | 'rule' | 'via' | 'reason' | 'missing' | 'needed' | 'answer' | 'resourceId'>
  /** The reports that the thread is owed, among those that the step may report. */
  reports?: readonly ReportName[]
  /** The latest time for the step, in ms since 1970 by Redis' clock. Set it if the step rests on a read that can become outdated. */
  notAfter?: number
  /** Moves the deadline to this many ms from now. */
  extendMs?: number
  /** When the request is due again, in ms from now. Absent: never, unless the step keeps the due time. */
  dueInMs?: number
}

export interface StepResult {
  /**
   * `lost`: the state does not allow the step. `changed`: the record changed since it was read. `expired`: the deadline has passed.
   * `outdated`: `notAfter` has passed. `missing`: there is no record.
   */
  outcome: 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'missing'
  state: RequestState | undefined
}

/** A step that this process took, for the metrics. */
export interface TakenStep {
  step: StepName | 'request'
  kind: ChangeKind
  to: RequestState
  /** From the write to the end in ms, without the time that nobody tracked it, for a step that ends a change. */
  tookMs?: number
}

interface TakeStepParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'noteWith'>
  onStep: (step: TakenStep) => void
}

/** Creates the function that takes a step of a request as one compare-and-set. It throws StoreUnavailableError if Redis does not answer. */
export function createTakeStep({ redis, keys, audit, onStep }: TakeStepParts) {
  const run = createScripts(redis, scripts)

  /** A repeat with the same `token` gets the same outcome. Pass one only if several calls stand for one intent. */
  return async function take(request: Request, name: StepName, data: StepData = {}, token: string = randomUUID()): Promise<StepResult> {
    // No step leads from a state that another version of Lockkeeper wrote.
    if (request.state === unknownState) return { outcome: 'lost', state: undefined }
    const to = stateAfter(name, request.state)
    const argument = JSON.stringify({ ...argumentOf(request, name, data), token, to, open: isOpen(to) })
    const { id, resource } = request
    const recordKeys = [
      keys.record(id),
      keys.resource(resource),
      keys.open,
      keys.ended,
      keys.outbox,
      keys.due,
      keys.auditIntake,
      keys.lastChange(resource),
    ]
    const [outcome, state, at] = await audit.noteWith(
      noteOf(request, name, { causes: data.set?.causes, ...data.audit }),
      (note) => run('take-step', recordKeys, [argument, note]),
      ([taken, , , repeat]) => (taken !== 'won' ? 'not-written' : repeat === undefined ? 'written' : 'unknown'),
    )
    if (outcome === 'won') {
      const took =
        stepOf(name).stamps?.includes('endedAt') && request.sentAt !== undefined
          ? { tookMs: Number(at) - request.sentAt - (request.untrackedMs ?? 0) }
          : {}
      onStep({ step: name, kind: request.kind, to, ...took })
    }
    return { outcome: outcome as StepResult['outcome'], state: (JSON.parse(state ?? '""') || undefined) as RequestState | undefined }
  }
}

/** The argument of the script, without what depends on the next state and the token. */
function argumentOf(request: Request, name: StepName, data: StepData) {
  const step = stepOf(name)
  return {
    id: request.id,
    // Each person has a token of their own for a step. Otherwise another person's approval would hide that a command is a repeat.
    tokenName: data.audit?.by === undefined ? name : `${name}:${data.audit.by}`,
    // A step that keeps the state leads from the state that was read.
    from: step.to === 'same' ? step.from.filter((state) => state === request.state) : step.from,
    set: encodeFields(data.set ?? {}),
    stamp: step.stamps ?? [],
    unexpired: step.beforeDeadline ?? false,
    notAfter: data.notAfter ?? false,
    revision: step.ifUnchanged ? request.revision : false,
    extendMs: data.extendMs ?? false,
    dueInMs: data.dueInMs ?? false,
    keepDue: step.keepsDue ?? false,
    reports: [...(step.reports ?? []), ...(data.reports ?? []).filter((report) => step.mayReport?.includes(report))],
    keepMs: keepEndedMs,
  }
}
