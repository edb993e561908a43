import type { Origin } from '../../../domain/approval/origin.ts'
import type { Request } from '../../../domain/request/request.ts'
import { cardButtons } from '../../messages/buttons.ts'
import { approvalData, wakeInMs } from './approval-step.ts'
import type { ApproveParts } from './approve.ts'
import { refuseDecision, refuseUnlessWaiting } from './decision-step.ts'

/** Creates the approval by the requester alone, in an emergency. It throws a Refusal for the person who clicked. */
export function createBreakGlass({ signatures, store, access, catalog, steps, wake }: ApproveParts) {
  /**
   * Throws a Refusal if the person may not approve alone. Checked before the form that asks for the reason. The person has only pressed
   * *Approve*, so the audit does not call it an emergency approval.
   */
  function mayBreakGlass(request: Request, origin: Origin): Promise<void> {
    return refuseDecision(access, request, origin, { to: 'break-glass', button: cardButtons.approve })
  }

  /** Approves the request. The channel gets a report with the reason. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const unsigned = { by: origin.userId, ...grant, reason, breakGlass: true, at: await store.now() }
    const decision = signatures.signBreakGlass(request, unsigned)
    const { change } = catalog.open(request)
    await steps.takeStep({
      request,
      userId: origin.userId,
      name: 'break-glass',
      data: approvalData(change, request, decision),
      wakeUp: () => wake(request, wakeInMs(change, request)),
    })
  }

  return { mayBreakGlass, breakGlass }
}
