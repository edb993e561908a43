import { randomUUID } from 'node:crypto'
import type { AuditNote } from '../../audit/entry.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { type Request, unknownState } from '../../domain/request/request.ts'
import { type RequestItem, unknownItemState } from '../../domain/request/request-item.ts'
import type { ReportName, Step } from '../steps/step.ts'
import { type ItemStepName, itemStepOf } from '../steps.ts'
import type { Durations } from './durations.ts'
import type { StepResult, TakenStep } from './step-data.ts'
import { sinceApproval, type TakeStep } from './take-step.ts'

/** The card of a request with items is updated at most this often while they change. */
const cardPaceMs = 5_000

/** The data of an item's step. */
export interface ItemStepData {
  set?: Partial<Pick<RequestItem, 'causes' | 'lastSeen' | 'trackedUntil'>>
  /** The facts that the audit notes about the item: its resource, its facts, and the answer to its write. */
  audit: Pick<AuditNote, 'resource' | 'facts' | 'answer'>
  reports?: readonly ReportName[]
  /** As for a step of the request. */
  notAfter?: number
}

interface ItemStepResult extends StepResult {
  /** The request after the step, if it was taken. */
  request?: Request
}

interface TakeItemParts {
  compareAndSet: TakeStep['compareAndSet']
  durations: Pick<Durations, 'note'>
  onStep: (step: TakenStep) => void
}

/** Creates the function that takes a step of an item of a request, as a compare-and-set of the whole record. */
export function createTakeItem({ compareAndSet, durations, onStep }: TakeItemParts) {
  /**
   * Takes a step of an item, if the record has not changed since it was read. `kind` is the kind of the item, for the metrics. `at` is the time of
   * the step, in ms since 1970 by Redis' clock.
   */
  async function takeItem(
    request: Request,
    item: RequestItem,
    name: ItemStepName,
    { kind, at, ...data }: ItemStepData & { kind: ChangeKind; at: number },
  ): Promise<ItemStepResult> {
    const step = itemStepOf(name)
    const { state } = item
    if (request.state === unknownState || state === unknownItemState || !step.from.includes(state))
      return { outcome: 'lost', state: undefined }
    const to = step.to === 'same' ? state : step.to
    const stamps = Object.fromEntries([
      ...(step.stamps ?? []).map((stamp) => [stamp, at]),
      ...(step.clears ?? []).map((stamp) => [stamp, undefined]),
    ])
    const items = (request.items ?? []).map((one) => (one.id === item.id ? { ...one, ...data.set, ...stamps, state: to } : one))
    const isFirstLate = name === 'late-item' && request.lateAt === undefined
    const asStep: Step = { what: step.what, from: [request.state], to: 'same', takers: step.takers, ifUnchanged: true, mayReport: ['late'] }
    const set = { items, ...(isFirstLate ? { lateAt: at } : {}) }
    const { outcome, state: found } = await compareAndSet(
      request,
      name,
      asStep,
      {
        set,
        audit: { item: item.id, causes: data.set?.causes, ...data.audit },
        dueInMs: 0,
        ...(isFirstLate ? { reports: ['late'] } : {}),
        ...(data.notAfter === undefined ? {} : { notAfter: data.notAfter }),
      },
      {
        to: request.state,
        token: randomUUID(),
        cardInMs: cardPaceMs,
        changed: to === 'done' && data.audit.resource ? [data.audit.resource] : [],
      },
    )
    if (outcome !== 'won') return { outcome, state: found }
    const took = step.stamps?.includes('endedAt') && item.sentAt !== undefined ? { tookMs: at - item.sentAt } : {}
    if (to === 'done' && took.tookMs !== undefined) await durations.note(kind, took.tookMs)
    const waited = name === 'send-item' ? sinceApproval(request, at) : {}
    onStep({ step: name, requestId: request.id, item: item.id, kind, requestKind: request.kind, to, ...waited, ...took })
    return { outcome, state: found, request: { ...request, ...set, revision: request.revision + 1 } }
  }

  return takeItem
}
