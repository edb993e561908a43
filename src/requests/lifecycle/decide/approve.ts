import type { Origin } from '../../../domain/approval/origin.ts'
import type { Approval, Decision, Request } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import type { Wake } from '../../../redis/queues.ts'
import { Refusal } from '../../../slack/errors.ts'
import type { Access } from '../../access/access.ts'
import type { Catalog } from '../../catalog.ts'
import { cardButtons } from '../../messages/buttons.ts'
import { approvedByYou, changedRecord } from '../../messages/refusals/refusals.ts'
import type { StepData } from '../../store/step-data.ts'
import type { Store } from '../../store/store.ts'
import { approvalData, wakeInMs } from './approval-step.ts'
import { type DecisionStep, type OnTaken, refuseRequesterOfDecided, refuseUnlessWaiting } from './decision-step.ts'

/** Other people can decide at the same moment. Each time another step was first, the approval is counted again. */
const mostTries = 20

export interface ApproveParts {
  signatures: RequestSignatures
  store: Store
  access: Access
  catalog: Catalog
  steps: DecisionStep
  wake: Wake
}

/** Creates the approval by an approver. It throws a Refusal for the person who clicked. */
export function createApprove({ signatures, store, access, catalog, steps, wake }: ApproveParts) {
  /**
   * Adds a person's approval, and returns how many are missing. Checks the rights before the state, so that only people who may decide the
   * request learn its state. Earlier approvals count only if those people may still approve.
   */
  async function approve(read: Request, origin: Origin, onTaken?: OnTaken): Promise<{ missing: number; needed: number }> {
    refuseRequesterOfDecided(read, origin)
    const grant = await access.authorize(origin, { to: 'decide', request: read, button: cardButtons.approve })
    const decision: Decision = { by: origin.userId, ...grant }
    let request = read
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      refuseUnlessWaiting(request, origin.userId)
      // The record is read again when another step was first. Somebody may have changed it in between, to get it under another rule.
      if (attempt > 0 && signatures.verifyRecord(request) !== 'genuine') throw new Refusal(changedRecord)
      const earlier = genuineApprovals(request)
      if (earlier.some(({ by }) => by === origin.userId)) throw new Refusal(approvedByYou((await tallyOf(request, earlier)).missing))
      const approval = signatures.signApproval(request, { by: origin.userId, ...grant, at: await store.now() })
      const approvals = [...earlier, approval]
      const { enough, missing, needed, allOf } = await tallyOf(request, approvals)
      const signed = signatures.signApproved({ ...request, approvals }, { ...decision, at: approval.at, allOf })
      const step = enough
        ? lastApproval(request, signed, approvals)
        : ({ name: 'count-approval', data: oneApproval(decision, approvals, { missing, needed }) } as const)
      const changed = await steps.tryStep({ request, userId: origin.userId, onTaken, ...step })
      if (changed === undefined) return { missing, needed }
      request = changed
    }
    throw new Error(`request ${read.id} kept changing while it was approved`)
  }

  function lastApproval(request: Request, decision: Decision, approvals: Approval[]) {
    const { change } = catalog.open(request)
    const data = approvalData(change, request, decision)
    return {
      name: 'approve',
      data: { ...data, set: { ...data.set, approvals } },
      wakeUp: () => wake(request, wakeInMs(change, request)),
    } as const
  }

  function oneApproval(decision: Decision, approvals: Approval[], { missing, needed }: { missing: number; needed: number }): StepData {
    return { set: { approvals, missing }, audit: { ...decision, missing, needed } }
  }

  /** Drops approvals that somebody who can write to Redis has added. They do not count, and are not stored again. */
  function genuineApprovals(request: Request): Approval[] {
    return request.approvals.filter((approval) => signatures.verifyApproval(request, approval) === 'genuine')
  }

  function tallyOf(request: Request, approvals: Approval[]) {
    const by = approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  return approve
}
