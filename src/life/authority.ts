import type { App } from '../app.ts'
import { type FoundEntry, findEntries } from '../audit/find.ts'
import { isMachine } from '../domain/approval.ts'
import { approvalsNeeded, eachOf, endsProblem, type Freeze, type PolicyRule } from '../domain/policy.ts'
import {
  type Approval,
  type AuthorityProblem,
  type Decision,
  idOfResource,
  isOpen,
  problemOf,
  type Request,
  unknownState,
  unverifiedRecord,
} from '../domain/request.ts'
import { mayStartUntil } from '../domain/starts.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { show } from '../outbox/outbox.ts'
import { isChildOf } from '../record/children.ts'
import { isSend, isUnsend, sendsOrEnds, stateOfAct, stepOf } from '../record/steps.ts'
import { noteOf } from '../record/store.ts'
import { actOf, confirmationProblem } from '../rights/confirmation.ts'
import { ruleOf } from '../rights/judge.ts'
import { timesOf } from '../rights/times.ts'

/** How far off the clock of a Redis can be that took over after a failover. The signatures cover the times that are compared. */
const clockMarginMs = 60_000

/** What decides until when a write may be sent. `withinMs`: how long after it is due, if somebody has to press a button. `facts`: what the account shows now, once it was read. */
interface Latest {
  withinMs?: number | undefined
  freezes: Freeze[]
  facts?: unknown
}

/**
 * Checks, right before a write is sent, that people allowed it: the request is as it was requested, its approvals are genuine and were enough
 * when the last one was given, the policy still allows that number, and it was neither sent before nor has it ended. Nobody who writes to
 * Redis can make these true. `now` is in ms by Redis' clock.
 */
export async function checkAuthority(app: App, request: Request, now: number, latest: Latest): Promise<AuthorityProblem | undefined> {
  return (await checkApproval(app, request, now, latest)) ?? checkPast(app, request)
}

/** The part of it that reads no audit: enough to hold a request, however long. The approval of its parent allows a child that the parent lists. */
export async function checkApproval(app: App, request: Request, now: number, latest: Latest): Promise<AuthorityProblem | undefined> {
  if (!request.parent) return whyNotAllowed(app, request, now, latest)
  const parent = await app.store.find(request.parent.id)
  if (!parent) return { code: 'record-changed' }
  const problem = problemOf(app.signatures.verifyRequest(request)) ?? (await whyNotAllowed(app, parent, now, { freezes: latest.freezes }))
  if (problem) return problem
  return isChildOf(app, request, parent) ? undefined : { code: 'record-changed' }
}

/**
 * The other part: what the audit shows as sent or ended is not sent again, nor is a child whose parent is not tracked. `earlier`: what
 * `findSendsAndEnds` has just found of the request, or of its parent: never give it right before a write.
 */
export async function checkPast(app: App, request: Request, earlier?: Promise<FoundEntry[]>): Promise<AuthorityProblem | undefined> {
  const { parent, resource } = request
  if (!parent) return pastOf(await (earlier ?? findSendsAndEnds(app, request)))
  const entries = await (earlier ?? findSendsAndEnds(app, { ...parent, createdAt: request.createdAt }))
  const last = entries.find(({ item }) => item === undefined)
  if (!last || stateOfAct(last.act) !== 'tracking') return { code: 'already-ended' }
  return pastOf(entries.filter(({ item }) => item === idOfResource(resource)))
}

async function whyNotAllowed(
  app: App,
  request: Request,
  now: number,
  { withinMs, freezes, facts }: Latest,
): Promise<AuthorityProblem | undefined> {
  const problem = problemOf(app.signatures.verifyRequest(request))
  if (problem) return problem
  const rule = ruleOf(app, request)
  if (!rule) return { code: 'rule-gone' }
  if (!isEndAllowed(app, request, rule, facts)) return { code: 'end-not-allowed' }
  // An exemption that the policy has withdrawn since the request does not count, and no exemption covers a request by a machine.
  if (!request.needsApproval && (rule.approve || isMachine(request.origin))) return { code: 'approval-needed-now' }
  const unapproved = request.needsApproval ? approvalProblem(app, request, rule) : undefined
  if (unapproved) return unapproved
  const unconfirmed = await unconfirmedAct(app, request, rule)
  if (unconfirmed) return unconfirmed
  const { signed, times } = timesOf(app, request, freezes)
  return now > mayStartUntil(signed, times, withinMs) ? { code: 'approved-too-long-ago' } : undefined
}

/** Whether its rule allows, as it is now, the end that a request gives a key. `facts`: what the account shows now. Default: what was requested. */
export function isEndAllowed({ catalog }: Pick<App, 'catalog'>, request: Request, rule: PolicyRule, facts?: unknown): boolean {
  const opened = rule.ends && catalog.openIfFit(request)
  const end = opened?.change.endOf?.(opened.input, facts ?? opened.facts)
  return !end || endsProblem(rule, end, request.createdAt) === undefined
}

/** Undefined if enough genuine approvals were given. That is not checked with Slack again, which may not respond. */
function approvalProblem({ signatures }: App, request: Request, rule: PolicyRule): AuthorityProblem | undefined {
  const { decision, approvals } = request
  if (decision?.breakGlass) {
    const { by, at } = decision
    const verdict = signatures.verifyBreakGlass(request, decision)
    if (verdict === 'unknown-key') return { code: 'unknown-key' }
    const isOwn = verdict === 'genuine' && by === request.origin.userId && !isMachine(request.origin)
    if (!isOwn || at === undefined || !isInTime(request, { at })) return { code: 'approvals-not-genuine' }
    return rule.breakGlass ? undefined : { code: 'approval-needed-now' }
  }
  const counted = decision ? signatures.verifyApproved(request, decision) : 'unsigned'
  const verdicts = [counted, ...approvals.map((approval) => signatures.verifyApproval(request, approval))]
  if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
  const isGenuine = verdicts.every((verdict) => verdict === 'genuine') && approvals.every((approval) => isInTime(request, approval))
  if (!isGenuine || approvals.length === 0) return { code: 'approvals-not-genuine' }
  return areEnough(request, decision, rule) ? undefined : { code: 'approval-needed-now' }
}

/** Under a rule that asks for a confirmation, each approval that counted has one, and so has what lets it start before its time. */
async function unconfirmedAct(app: App, request: Request, rule: PolicyRule): Promise<AuthorityProblem | undefined> {
  const { decision, approvals, startNow, needsApproval } = request
  const given = decision?.breakGlass
    ? [
        {
          act: { to: 'break-glass' as const, by: decision.by ?? '', reason: decision.reason, passed: decision.passed },
          confirmed: decision.confirmed,
        },
      ]
    : approvals.map((each) => ({ act: actOf(each), confirmed: each.confirmed }))
  const early = startNow && app.signatures.verifyStartNow(request, startNow) === 'genuine' ? [startNow] : []
  const acts = [
    ...(needsApproval ? given : []),
    ...early.map(({ by, confirmed }) => ({ act: { to: 'start-now' as const, by }, confirmed })),
  ]
  for (const { act, confirmed } of acts) {
    const problem = await confirmationProblem(app, rule, request, act, confirmed)
    if (problem) return problem
  }
  return undefined
}

/** The newest first. Also entries that cannot be verified: somebody who breaks a signature must not cause a second write. */
export function findSendsAndEnds(app: App, request: Pick<Request, 'id' | 'createdAt'>): Promise<FoundEntry[]> {
  return findEntries(app, ({ act }) => sendsOrEnds(act), { since: searchedSince(request), requestId: request.id })
}

/** From when on the audit is searched: the clock of a Redis that took over may be behind that of the request. */
export function searchedSince({ createdAt }: Pick<Request, 'createdAt'>): number {
  return createdAt - clockMarginMs
}

/** Each genuine entry that says that the account API refused a write because of its limit cancels one write. A copy cancels nothing. */
function pastOf(earlier: FoundEntry[]): AuthorityProblem | undefined {
  const sent = earlier.filter(({ act }) => isSend(act)).length
  const refused = earlier.filter(({ act, verdict }) => isUnsend(act) && verdict === 'genuine').length
  if (sent > refused) return { code: 'already-sent' }
  return earlier.some(({ act }) => !isSend(act) && !isUnsend(act)) ? { code: 'already-ended' } : undefined
}

/** Under several rules, and for a group that is required, what was counted at the last approval decides: groups are not read again. */
function areEnough({ approvals, approvalsNeeded: atRequest }: Request, decision: Decision | undefined, { approve }: PolicyRule): boolean {
  const people = new Set(approvals.map(({ by }) => by))
  if (!approve) return people.size >= atRequest
  const rules = eachOf(approve)
  return rules.every((terms, index) => {
    const count = rules.length === 1 ? people.size : (decision?.counted?.[index] ?? 0)
    const hasAll = (has: (id: string) => boolean | undefined) => terms.allOf.every(has)
    return count >= approvalsNeeded(terms) && (hasAll((id) => people.has(id)) || hasAll((id) => decision?.allOf?.includes(id)))
  })
}

/** An approval from before the request, or from after its deadline, does not count. */
function isInTime({ createdAt, ttlMs }: Request, { at }: Pick<Approval, 'at'>): boolean {
  return at >= createdAt - clockMarginMs && at <= createdAt + ttlMs + clockMarginMs
}

export function checkRecord({ signatures }: Pick<App, 'signatures'>, request: Request): AuthorityProblem | undefined {
  return problemOf(signatures.verifyRecord(request))
}

/** Observing deletes a secret that nobody has seen: a request that somebody put back to an earlier state would lose a key in use. */
export async function checkRetraction(app: App, request: Request): Promise<AuthorityProblem | undefined> {
  const entries = await findEntries(app, ({ act }) => stateOfAct(act) !== undefined, { since: request.createdAt, requestId: request.id })
  return retractionProblem(app, request, entries)
}

/** `entries`: those of the audit in which the request changed its state, the newest first. */
export function retractionProblem({ signatures }: App, request: Request, entries: FoundEntry[]): AuthorityProblem | undefined {
  const problem = problemOf(signatures.verifyRequest(request), signatures.verifySeen(request))
  if (problem) return problem
  const last = entries.find(({ verdict }) => verdict === 'genuine')
  return last && stateOfAct(last.act) === request.state ? undefined : { code: 'record-changed' }
}

/** When a request is read again that was signed with an unknown key: a deployment may bring the key. */
export const unknownKeyMs = 30_000

/** When a request is read again that does not fit this version of Lockkeeper. */
const unfitMs = 10 * 60_000

/** When a request is read again that changed at the same moment. */
const changedMs = 500

/** How often the audit repeats that an ended request cannot be trusted. */
const distrustMs = 24 * 3_600_000

/** No step follows from such a record: its tracking ends, and that is said once. It stays if a deployment may bring its key. */
export async function distrust(app: App, request: Request, problem: AuthorityProblem): Promise<void> {
  const { store } = app
  // Another process may have taken a step since the request was read, so that the audit shows a newer state.
  const current = await store.find(request.id)
  if (current?.revision !== request.revision) return store.postpone(request.id, changedMs)
  await onDistrusted(app, request, problem)
  if (problem.code === 'unknown-key') return store.postponeIfUnchanged(request, unknownKeyMs)
  if (request.state !== unknownState && stepOf('distrust').from.includes(request.state)) {
    const { outcome } = await store.take(request, 'distrust', { set: { causes: [unverifiedRecord] } })
    return outcome === 'won' ? show(app, request.id) : undefined
  }
  await app.audit.noteOnce(noteOf(app, request, 'distrust', { causes: [problem] }), distrustMs)
  await store.clearDueIfUnchanged(request)
}

/** Leaves a genuine record that does not fit to the version of Lockkeeper that wrote it, but for its deadline. Any other was changed in Redis. */
export async function leaveUnfit(app: App, request: Request): Promise<void> {
  const { store } = app
  const problem = checkRecord(app, request)
  if (problem) return isOpen(request.state) ? distrust(app, request, problem) : store.clearDueIfUnchanged(request)
  // That version may be gone for good.
  if (request.state === 'waiting' && (await store.now()) >= request.expiresAt) return void (await store.take(request, 'expire'))
  return store.postponeIfUnchanged(request, unfitMs)
}
