import { randomUUID } from 'node:crypto'
import type { Audit } from '../../audit/intake.ts'
import { isOpen, type Request, type RequestState, resourcesOf, unknownState } from '../../domain/request/request.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import type { Step } from '../steps/step.ts'
import { type StepName, stateAfter, stepOf } from '../steps.ts'
import type { Durations } from './durations.ts'
import { encodeFields } from './record.ts'
import type { NoteOf } from './request-note.ts'
import type { StepData, StepResult, TakenStep } from './step-data.ts'

const scripts = readScripts(import.meta.url, ['take-step'])

/** How long Redis keeps the record of an ended request. */
const keepEndedMs = 30 * 24 * 3_600_000

/** The number of the first key of a resource in the script. */
const firstResourceKey = 7

export interface TakeStepParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'noteWith'>
  noteOf: NoteOf
  durations: Pick<Durations, 'note'>
  onStep: (step: TakenStep) => void
}

/**
 * Creates the function that takes a step of a request as one compare-and-set, and the one that it rests on. They throw StoreUnavailableError
 * if Redis does not answer.
 */
export function createTakeStep({ redis, keys, audit, noteOf, durations, onStep }: TakeStepParts) {
  const run = createScripts(redis, scripts)

  /** Runs the script. `name` is what the audit calls the step. */
  async function compareAndSet(request: Request, name: string, step: Step, data: StepData, { to, token, cardInMs, changed = [] }: Taking) {
    const argument = JSON.stringify({
      ...argumentOf(request, name, step, data),
      token,
      to,
      open: isOpen(to),
      cardInMs: cardInMs ?? false,
      changed: changed.map((resource) => firstResourceKey + 2 * resourcesOf(request).indexOf(resource) + 1),
    })
    const locks = resourcesOf(request).flatMap((resource) => [keys.resource(resource), keys.lastChange(resource)])
    const recordKeys = [keys.record(request.id), keys.open, keys.ended, keys.outbox, keys.due, keys.auditIntake, ...locks]
    const [outcome, state, at] = await audit.noteWith(
      noteOf(request, name, { causes: data.set?.causes, ...data.audit }),
      (note) => run('take-step', recordKeys, [argument, note]),
      ([taken, , , repeat]) => (taken !== 'won' ? 'not-written' : repeat === undefined ? 'written' : 'unknown'),
    )
    const found = (JSON.parse(state ?? '""') || undefined) as RequestState | undefined
    return { outcome: outcome as StepResult['outcome'], state: found, at: Number(at) }
  }

  /** A repeat with the same `token` gets the same outcome. Pass one only if several calls stand for one intent. */
  async function take(request: Request, name: StepName, data: StepData = {}, token: string = randomUUID()): Promise<StepResult> {
    // No step leads from a state that another version of Lockkeeper wrote.
    if (request.state === unknownState) return { outcome: 'lost', state: undefined }
    const to = stateAfter(name, request.state)
    const { outcome, state, at } = await compareAndSet(request, name, stepOf(name), data, {
      to,
      token,
      changed: to === 'done' && request.state !== 'done' ? resourcesOf(request) : [],
    })
    if (outcome === 'won') {
      const took =
        stepOf(name).stamps?.includes('endedAt') && request.sentAt !== undefined
          ? { tookMs: at - request.sentAt - (request.untrackedMs ?? 0) }
          : {}
      if (to === 'done' && took.tookMs !== undefined) await durations.note(request.kind, took.tookMs)
      const waited = name === 'send' ? sinceApproval(request, at) : {}
      onStep({ step: name, requestId: request.id, kind: request.kind, to, ...waited, ...took })
    }
    return { outcome, state }
  }

  return { take, compareAndSet }
}

export type TakeStep = ReturnType<typeof createTakeStep>

interface Taking {
  /** The state after the step. */
  to: RequestState
  /** The same for every repeat of one intent. */
  token: string
  /** How long the card may wait for its update. */
  cardInMs?: number
  /** The resources that the step reports as changed. */
  changed?: string[]
}

/** Returns the time since the last approval, for a step with which a write is sent. `at`: the time of the step, in ms since 1970. */
export function sinceApproval({ decidedAt }: Request, at: number): Pick<TakenStep, 'sinceApprovalMs'> {
  return decidedAt === undefined ? {} : { sinceApprovalMs: at - decidedAt }
}

/** The argument of the script, without what depends on the next state and the token. */
function argumentOf(request: Request, name: string, step: Step, data: StepData) {
  return {
    id: request.id,
    // Each person has a separate token for a step. Otherwise another person's approval would hide that a command is a repeat.
    tokenName: data.audit?.by === undefined ? name : `${name}:${data.audit.by}`,
    // A step that keeps the state leads from the state that was read.
    from: step.to === 'same' ? step.from.filter((state) => state === request.state) : step.from,
    set: encodeFields(data.set ?? {}),
    stamp: step.stamps ?? [],
    clear: step.clears ?? [],
    unexpired: step.beforeDeadline ?? false,
    notAfter: data.notAfter ?? false,
    unlessHeld: data.unlessHeld ?? false,
    revision: step.ifUnchanged ? request.revision : false,
    extendMs: data.extendMs ?? false,
    dueInMs: data.dueInMs ?? false,
    keepDue: step.keepsDue ?? false,
    reports: [...(step.reports ?? []), ...(data.reports ?? []).filter((report) => step.mayReport?.includes(report))],
    keepMs: keepEndedMs,
  }
}
