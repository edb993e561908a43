import type { Origin } from '../../../domain/approval/origin.ts'
import type { Request } from '../../../domain/request/request.ts'
import { Refusal } from '../../../slack/errors.ts'
import type { Access } from '../../access/access.ts'
import type { CardButtonId } from '../../messages/buttons.ts'
import { tooLate, unknownRequest } from '../../messages/refusals/refusals.ts'
import type { Show } from '../../outbox/show.ts'
import type { StepName } from '../../steps.ts'
import type { StepData } from '../../store/step-data.ts'
import type { Store } from '../../store/store.ts'

/** A step that a person takes, and who it is. */
interface PersonalStep {
  request: Request
  userId: string
  name: StepName
  data: StepData
  /** Wakes the worker up once the step is taken. The worker does not wait until Slack shows the step. */
  wakeUp?: () => Promise<void>
  /** Called once the step is taken, before Slack shows it. */
  onTaken?: OnTaken | undefined
}

/** Is called once a decision is taken. What follows only shows it. */
export type OnTaken = () => void

export interface DecisionStepParts {
  store: Store
  /** Shows the new state at once. If it fails, the outbox shows the state later. */
  show: Show
}

/** Creates the steps that people take. Each is one compare-and-set, so the first of several wins over all replicas. */
export function createDecisionStep({ store, show }: DecisionStepParts) {
  /** Takes a step, and shows the request. Returns the current record if the record changed. Throws a Refusal if the step comes too late. */
  async function tryStep({ request, userId, name, data, wakeUp, onTaken }: PersonalStep): Promise<Request | undefined> {
    const result = await store.take(request, name, data)
    if (result.outcome === 'missing') throw new Refusal(unknownRequest(request.origin.command))
    if (result.outcome === 'expired') {
      await store.take(request, 'expire')
      await show(request.id)
      throw new Refusal(tooLate({ ...request, state: 'expired' }, userId))
    }
    if (result.outcome === 'lost') throw new Refusal(tooLate(await readAgain(request), userId))
    if (result.outcome === 'changed') return readAgain(request)
    onTaken?.()
    await Promise.all([wakeUp?.(), show(request.id)])
    return undefined
  }

  /** Takes a step that does not depend on the content of the record. Throws a Refusal if it comes too late. */
  async function takeStep(step: PersonalStep): Promise<void> {
    const changed = await tryStep(step)
    if (changed) throw new Error(`request ${step.request.id} moved under a step that does not depend on it`)
  }

  async function readAgain({ id, origin }: Request): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Refusal(unknownRequest(origin.command))
    return request
  }

  return { tryStep, takeStep }
}
export type DecisionStep = ReturnType<typeof createDecisionStep>

/** The right that a decision needs, and the button that was pressed for it. */
interface DecisionRight {
  to: 'decide' | 'break-glass'
  button: CardButtonId
}

/**
 * Throws a Refusal if the person may not take a decision. Checked before the form that asks for its reason. If the requester clicks on a decided
 * request, the answer is the outcome, and not that they may not decide it.
 */
export async function refuseDecision(access: Pick<Access, 'authorize'>, request: Request, origin: Origin, right: DecisionRight) {
  refuseRequesterOfDecided(request, origin)
  await access.authorize(origin, { ...right, request })
  refuseUnlessWaiting(request, origin.userId)
}

export function refuseUnlessWaiting(request: Request, userId: string): void {
  if (request.state !== 'waiting') throw new Refusal(tooLate(request, userId))
}

/** Throws a Refusal if the requester clicks on a decided request: the answer is the outcome, and not that they may not decide it. */
export function refuseRequesterOfDecided(request: Request, { userId }: Origin): void {
  if (userId === request.origin.userId) refuseUnlessWaiting(request, userId)
}
