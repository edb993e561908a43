import type { Config } from '../config/config.ts'
import { holdsOf } from '../domain/hours.ts'
import type { Freeze, PolicyRule } from '../domain/policy.ts'
import type { Passed, Request, Waits } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { approvedAtOf, heldFrom, type Signed, type Times, timesFor } from '../domain/starts.ts'
import type { Catalog } from '../record/catalog.ts'
import { type Freezes, unreadableId } from '../record/freeze.ts'
import type { Store } from '../record/store.ts'
import { ruleOf } from './judge.ts'

interface Timing {
  config: Config
  catalog: Catalog
  signatures: RequestSignatures
}

/** When a request may start, by what was signed about it, its rule and the freezes. */
export function timesOf(app: Timing, request: Request, freezes: Freeze[]): { signed: Signed; times: Times } {
  const { kind, start, startNow } = request
  const rule = ruleOf(app, request)
  const change = { kind, project: app.catalog.projectOf(request), passed: passedBy(app.signatures, request, rule) }
  const { isUnheld, handover, tooLateAt } = app.catalog.changeIfKnown(kind) ?? {}
  const opened = handover && tooLateAt && app.catalog.openIfFit(request)
  const times = isUnheld ? { ...change, windows: [], freezes: [] } : timesFor(app.config.policy, rule, change, freezes)
  const isGenuine = startNow && app.signatures.verifyStartNow(request, startNow) === 'genuine'
  return {
    signed: { approvedAt: approvedAtOf(request), start, startNow: isGenuine ? startNow : undefined },
    times: { ...times, tooLateAt: opened && tooLateAt?.(opened.facts) },
  }
}

/** What the emergency approvals of the request passed. Undefined if there is none that is genuine and that its rule still allows. */
function passedBy(signatures: RequestSignatures, request: Request, rule: PolicyRule | undefined): Passed[] | undefined {
  const { needsApproval, decision, approvals, origin } = request
  if (!needsApproval) return undefined
  if (decision?.breakGlass) return signatures.verifyBreakGlass(request, decision) === 'genuine' ? (decision.passed ?? []) : undefined
  if (!rule?.emergency) return undefined
  const given = approvals.filter((each) => each.emergency && each.by !== origin.userId)
  const genuine = given.filter((each) => signatures.verifyApproval(request, each) === 'genuine')
  return genuine.length === 0 ? undefined : genuine.flatMap(({ passed = [] }) => passed)
}

/**
 * What would hold the request if it were approved now, in order, when it may start. `passed`: what an emergency approval that is given now passes.
 * `isPassed`: emergency approvals that it has pass all of that.
 */
export async function holdsIfApproved(
  app: Timing & { freezes: Freezes; store: Store },
  request: Request,
): Promise<{ held: Waits | undefined; passed: Passed[]; isPassed: boolean }> {
  const { freezes } = await app.freezes.read()
  const now = await app.store.now()
  const { signed, times } = timesOf(app, request, freezes)
  const held = heldFrom(now, { ...signed, approvedAt: now }, times)?.waits
  const { times: unpassed } = timesOf(app, { ...request, decision: undefined, approvals: [] }, freezes)
  const holdsBy = (all: Times) => {
    const passable = { ...all, freezes: all.freezes.filter(({ ownId }) => ownId !== unreadableId) }
    return holdsOf(passable, passable, Math.max(now, request.start ?? 0))
  }
  const holds = holdsBy(unpassed)
  // A start that was requested is no surprise.
  return {
    held: held?.for === 'start' && !held.ifLifted ? undefined : held,
    isPassed: holdsBy(times).length === 0,
    passed: holds.map(({ until, from: _, ...hold }) => ({ ...hold, until: Number.isFinite(until) ? until : undefined })),
  }
}
