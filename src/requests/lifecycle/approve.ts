import type { Origin } from '../../domain/origin.ts'
import type { Approval, Decision, Request } from '../../domain/request.ts'
import type { Wake } from '../../redis/queues.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import { approvedByYou } from '../messages/refusals.ts'
import type { Store } from '../store/store.ts'
import type { StepData } from '../store/take-step.ts'
import { approvalData } from './approval-step.ts'
import { type DecisionStep, refuseRequesterOfDecided, refuseUnlessWaiting } from './decision-step.ts'

/** Other people can decide at the same moment. Each time another step was first, the approval is counted again. */
const mostTries = 20

interface ApproveParts {
  store: Store
  access: Access
  catalog: Catalog
  steps: DecisionStep
  wake: Wake
}

/** Creates the approvals: by an approver, and by the requester in an emergency. They throw a Refusal for the person who clicked. */
export function createApprove({ store, access, catalog, steps, wake }: ApproveParts) {
  /**
   * Adds a person's approval, and returns how many are missing. The rights are checked before the state, because only approvers learn the
   * state. Earlier approvals count only if those people may still approve.
   */
  async function approve(read: Request, origin: Origin): Promise<{ missing: number; needed: number }> {
    refuseRequesterOfDecided(read, origin)
    const grant = await access.authorize(origin, { to: 'decide', request: read })
    const decision: Decision = { by: origin.userId, ...grant }
    let request = read
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      refuseUnlessWaiting(request, origin.userId)
      if (request.approvals.some(({ by }) => by === origin.userId)) throw new Refusal(approvedByYou((await tallyOf(request)).missing))
      const approvals: Approval[] = [...request.approvals, { by: origin.userId, ...grant, at: await store.now() }]
      const { enough, missing, needed } = await tallyOf({ ...request, approvals })
      const changed = enough
        ? await steps.tryStep(request, origin.userId, 'approve', lastApproval(request, decision, approvals))
        : await steps.tryStep(request, origin.userId, 'count-approval', oneApproval(decision, approvals, { missing, needed }))
      if (changed === undefined) {
        if (enough) await wakeUp(request)
        return { missing, needed }
      }
      request = changed
    }
    throw new Error(`request ${read.id} kept changing while it was approved`)
  }

  function lastApproval(request: Request, decision: Decision, approvals: Approval[]): StepData {
    const data = approvalData(catalog.open(request).change, request, decision)
    return { ...data, set: { ...data.set, approvals } }
  }

  function oneApproval(decision: Decision, approvals: Approval[], { missing, needed }: { missing: number; needed: number }): StepData {
    return { set: { approvals, missing }, audit: { ...decision, missing, needed } }
  }

  function tallyOf(request: Request) {
    const by = request.approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  /** Approves a request by its requester alone, in an emergency. The channel gets a report with the reason. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const decision = { by: origin.userId, ...grant, reason, breakGlass: true }
    const data = approvalData(catalog.open(request).change, request, decision)
    await steps.takeStep(request, origin.userId, 'break-glass', data)
    await wakeUp(request)
  }

  /** Throws a Refusal if the person may not approve alone. Checked before the form that asks for the reason. */
  async function mayBreakGlass(request: Request, origin: Origin): Promise<void> {
    refuseRequesterOfDecided(request, origin)
    await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
  }

  async function wakeUp(request: Request): Promise<void> {
    await wake(request, catalog.open(request).change.handover ? request.ttlMs : 0)
  }

  return { approve, breakGlass, mayBreakGlass }
}
