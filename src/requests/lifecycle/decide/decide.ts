import { isMachine, type Origin } from '../../../domain/approval/origin.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import type { Wake } from '../../../redis/queues.ts'
import type { Access } from '../../access/access.ts'
import type { Catalog } from '../../catalog.ts'
import { cardButtons } from '../../messages/buttons.ts'
import { createApprove } from './approve.ts'
import { createBreakGlass } from './break-glass.ts'
import { createDecisionStep, type DecisionStepParts, type OnTaken, refuseDecision } from './decision-step.ts'
import { createStopTracking } from './stop-tracking.ts'

interface DecideParts extends DecisionStepParts {
  signatures: RequestSignatures
  access: Access
  catalog: Catalog
  wake: Wake
}

/** Creates the decisions of people on a request. Rights are checked at the click. Each throws a Refusal for the person who clicked. */
export function createDecide({ signatures, store, access, catalog, show, wake }: DecideParts) {
  const steps = createDecisionStep({ store, show })

  /** Throws a Refusal if the person may not reject. Checked before the form that asks for the reason. */
  function mayReject(request: Request, origin: Origin): Promise<void> {
    return refuseDecision(access, request, origin, { to: 'decide', button: cardButtons.reject })
  }

  async function reject(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'decide', request, button: cardButtons.reject })
    const decision = { by: origin.userId, ...grant, reason }
    await steps.takeStep({ request, userId: origin.userId, name: 'reject', data: { set: { decision }, audit: decision } })
  }

  async function withdraw(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'withdraw', request })
    const isByAnother = !isMachine(request.origin) && origin.userId !== request.origin.userId
    // The update of the message notifies nobody, so the thread calls the requester.
    const reports = isByAnother ? (['ended'] as const) : []
    const data = { set: { withdrawnBy: origin.userId }, audit: { by: origin.userId, ...grant }, reports }
    await steps.takeStep({ request, userId: origin.userId, name: 'withdraw', data, onTaken })
  }

  return {
    find: store.find,
    mayReject,
    reject,
    withdraw,
    approve: createApprove({ signatures, store, access, catalog, steps, wake }),
    ...createBreakGlass({ signatures, store, access, catalog, steps, wake }),
    ...createStopTracking({ store, access, steps, wake }),
  }
}
export type Decide = ReturnType<typeof createDecide>
