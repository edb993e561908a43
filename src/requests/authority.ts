import type { Audit } from '../audit/audit.ts'
import type { AuditEntry } from '../audit/chain.ts'
import type { FoundEntry } from '../audit/find.ts'
import { isMachine } from '../domain/approval.ts'
import { approvalsNeeded, type PolicyRule } from '../domain/policy.ts'
import {
  type Approval,
  type AuthorityProblem,
  type Decision,
  isOpen,
  problemOf,
  type Request,
  unknownState,
  unverifiedRecord,
} from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import type { Show } from '../outbox/outbox.ts'
import type { Catalog } from './catalog.ts'
import { isSend, isUnsend, stateOfAct, stepOf } from './steps.ts'
import type { NoteOf, Store } from './store.ts'

/**
 * How long after its last signed approval a write may be sent, whatever it has waited for. After that, an older state that somebody puts back into
 * Redis has no effect.
 */
export const approvalHoldsMs = 30 * 60_000

/** How far off the clock of a Redis can be that took over after a failover. The signatures cover the times that are compared. */
const clockMarginMs = 60_000

interface CheckAuthorityParts {
  signatures: RequestSignatures
  /** The policy's rule for a request as it is now. Undefined if there is none any more. */
  ruleOf: (request: Request) => PolicyRule | undefined
  /**
   * Finds entries of the audit that decide whether this request or an item of it may still be sent, since this time in ms by Redis' clock. The
   * newest comes first.
   */
  findSendsAndEnds: (request: Request, since: number) => Promise<FoundEntry[]>
}

/**
 * Checks, right before a write is sent, that people allowed it: the request is as it was requested, its approvals are genuine and were enough
 * when the last one was given, the policy still allows that number, and it was neither sent before nor has it ended. Nobody who writes to
 * Redis can make these true. `now` is in ms by Redis' clock. `holdsMs` is how long after the last approval it may be sent.
 */
export function createCheckAuthority({ signatures, ruleOf, findSendsAndEnds }: CheckAuthorityParts) {
  async function checkAuthority(request: Request, now: number, holdsMs = approvalHoldsMs): Promise<AuthorityProblem | undefined> {
    const allowed = whenAllowed(request, now, holdsMs)
    if ('code' in allowed) return allowed
    return pastOf(await findSendsAndEnds(request, request.createdAt - clockMarginMs))
  }

  /**
   * Checks the same before items of a request are sent that has begun. Returns until when they may be sent, in ms by Redis' clock, and why some
   * items may not be sent again, by their ids.
   */
  async function checkItems(request: Request, now: number): Promise<AuthorityProblem | ItemsAllowed> {
    const problem = problemOf(signatures.verifySeen(request))
    if (problem) return problem
    const allowed = whenAllowed(request, now, approvalHoldsMs)
    if ('code' in allowed) return allowed
    const earlier = await findSendsAndEnds(request, request.createdAt - clockMarginMs)
    const last = earlier.find(({ item }) => item === undefined)
    if (!last || stateOfAct(last.act) !== 'tracking') return { code: 'already-ended' }
    const past = Map.groupBy(earlier, ({ item }) => item)
    return { until: allowed.until, past: new Map([...past].flatMap(([item, entries]) => withPast(item, pastOf(entries)))) }
  }

  /** Returns when the request was allowed, and until when it may be sent, both in ms by Redis' clock. */
  function whenAllowed(request: Request, now: number, holdsMs: number): { at: number; until: number } | AuthorityProblem {
    const problem = problemOf(signatures.verifyRequest(request))
    if (problem) return problem

    const rule = ruleOf(request)
    if (!rule) return { code: 'rule-gone' }
    // An exemption that the policy has withdrawn since the request does not count, and no exemption covers a request by a machine.
    if (!request.needsApproval && (rule.approve || isMachine(request.origin))) return { code: 'approval-needed-now' }
    const allowed = request.needsApproval ? lastApproval(request, rule) : { at: request.createdAt }
    if ('code' in allowed) return allowed
    // A change without approval only waits for its request message, which Slack may not take for hours.
    const until = allowed.at + (request.needsApproval ? holdsMs : request.ttlMs)
    return now > until ? { code: 'approved-too-long-ago' } : { at: allowed.at, until }
  }

  /**
   * Returns when the last of enough genuine approvals was given, in ms by Redis' clock. It is not checked with Slack again, because Slack
   * may not respond.
   */
  function lastApproval(request: Request, rule: PolicyRule): { at: number } | AuthorityProblem {
    const { decision, approvals } = request
    if (decision?.breakGlass) return emergencyApproval(request, decision, rule)
    const counted = decision ? signatures.verifyApproved(request, decision) : 'unsigned'
    const verdicts = [counted, ...approvals.map((approval) => signatures.verifyApproval(request, approval))]
    if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
    const isGenuine = verdicts.every((verdict) => verdict === 'genuine') && approvals.every((approval) => isInTime(request, approval))
    if (!isGenuine || approvals.length === 0) return { code: 'approvals-not-genuine' }
    const needed = rule.approve ? approvalsNeeded(rule.approve) : request.approvalsNeeded
    const people = new Set(approvals.map(({ by }) => by))
    if (people.size < needed || !hasAll(rule, people, decision)) return { code: 'approval-needed-now' }
    return { at: Math.max(...approvals.map(({ at }) => at)) }
  }

  function emergencyApproval(request: Request, decision: Decision, rule: PolicyRule): { at: number } | AuthorityProblem {
    if (isMachine(request.origin)) return { code: 'approvals-not-genuine' }
    const verdict = signatures.verifyBreakGlass(request, decision)
    if (verdict === 'unknown-key') return { code: 'unknown-key' }
    const { by, at } = decision
    if (verdict !== 'genuine' || by !== request.origin.userId || at === undefined || !isInTime(request, { at }))
      return { code: 'approvals-not-genuine' }
    return rule.breakGlass ? { at } : { code: 'approval-needed-now' }
  }

  return { checkAuthority, checkItems }
}
export type CheckAuthority = ReturnType<typeof createCheckAuthority>['checkAuthority']
export type CheckItems = ReturnType<typeof createCheckAuthority>['checkItems']

/** The conditions under which items may be sent. */
export interface ItemsAllowed {
  until: number
  /** Why items may not be sent, because the audit shows them sent or ended. */
  past: Map<string | undefined, AuthorityProblem>
}

/**
 * Returns why nothing may be sent again. A write that the account API refused because of its limit was not carried out: each genuine entry that says
 * so cancels one write. A copy of such an entry cancels nothing.
 */
function pastOf(earlier: FoundEntry[]): AuthorityProblem | undefined {
  const sent = earlier.filter(({ act }) => isSend(act)).length
  const refused = earlier.filter(({ act, verdict }) => isUnsend(act) && verdict === 'genuine').length
  if (sent > refused) return { code: 'already-sent' }
  return earlier.some(({ act }) => !isSend(act) && !isUnsend(act)) ? { code: 'already-ended' } : undefined
}

function withPast(item: string | undefined, problem: AuthorityProblem | undefined): [string | undefined, AuthorityProblem][] {
  return problem ? [[item, problem]] : []
}

/**
 * Whether the people approved whom the rule requires now. A group counts only if it was required at the last approval, because its members are not
 * read again.
 */
function hasAll({ approve }: PolicyRule, people: Set<string>, decision: Decision | undefined): boolean {
  const allOf = approve?.allOf ?? []
  return allOf.every((id) => people.has(id)) || allOf.every((id) => decision?.allOf?.includes(id))
}

/** An approval from before the request, or from after its deadline, does not count. */
function isInTime({ createdAt, ttlMs }: Request, { at }: Pick<Approval, 'at'>): boolean {
  return at >= createdAt - clockMarginMs && at <= createdAt + ttlMs + clockMarginMs
}

interface CheckRecordParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  catalog: Pick<Catalog, 'openIfFit' | 'itemsOf'>
}

/**
 * Creates the check of a record before a step that follows from it: its signed parts are genuine, and its items are exactly those that were
 * requested. An item that nobody requested would never end.
 */
export function createCheckRecord({ signatures, catalog }: CheckRecordParts) {
  return function checkRecord(request: Request): AuthorityProblem | undefined {
    const problem = problemOf(signatures.verifyRecord(request))
    return problem ?? (hasOwnItems(request) ? undefined : { code: 'record-changed' })
  }

  function hasOwnItems(request: Request): boolean {
    const opened = request.items && catalog.openIfFit(request)
    if (!opened || !request.items) return true
    const requested = new Set(catalog.itemsOf(opened).map(({ id }) => id))
    const recorded = new Set(request.items.map(({ id }) => id))
    return request.items.length === recorded.size && requested.size === recorded.size && [...recorded].every((id) => requested.has(id))
  }
}
export type CheckRecord = ReturnType<typeof createCheckRecord>

/** How long after its end the secret of a request may be retracted. Much longer than it is tracked then, because all processes may be stopped. */
const retractAfterEndMs = 24 * 3_600_000

interface CheckRetractionParts {
  signatures: RequestSignatures
  /** Finds the newest genuine entry of the audit in which this request changed its state, since this time in ms by Redis' clock. */
  findLastTransition: (request: Request, since: number) => Promise<AuditEntry | undefined>
}

/**
 * Checks that a request with a secret may be observed, because the observation retracts a secret that nobody has seen. The signatures must
 * be genuine, and the state must be the one in the audit. Otherwise somebody could put an ended request back to an earlier state, and a key
 * that is in use would be deleted. `now` is in ms by Redis' clock.
 */
export function createCheckRetraction({ signatures, findLastTransition }: CheckRetractionParts) {
  return async function checkRetraction(request: Request, now: number): Promise<AuthorityProblem | undefined> {
    const problem = problemOf(signatures.verifyRequest(request), signatures.verifySeen(request))
    if (problem) return problem
    const last = await findLastTransition(request, request.createdAt)
    if (!last || stateOfAct(last.act) !== request.state) return { code: 'record-changed' }
    return !isOpen(request.state) && now - last.at > retractAfterEndMs ? { code: 'record-changed' } : undefined
  }
}
export type CheckRetraction = ReturnType<typeof createCheckRetraction>

/** When a request is looked at again that stays open. */
const keptMs = 10 * 60_000

/** When a request is read again that was signed with an unknown key: a deployment may bring the key. */
const unknownKeyMs = 30_000

/** When a request is read again that changed at the same moment. */
const changedMs = 500

interface DistrustParts {
  store: Pick<Store, 'find' | 'take' | 'postpone' | 'postponeIfUnchanged' | 'clearDueIfUnchanged'>
  audit: Pick<Audit, 'noteCounted'>
  noteOf: NoteOf
  show: Show
  /** Receives a request that cannot be trusted, and why. */
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
}

/**
 * Creates the function that handles a request under way whose record cannot be trusted: no step follows from such a record. Its tracking ends, and
 * the thread, the operators and the audit say so. One that was signed with an unknown key stays, because a deployment may bring the key.
 * `keepOpen`: only an untouched record may lead to more, so the request stays open too.
 */
export function createDistrust({ store, audit, noteOf, show, onDistrusted }: DistrustParts) {
  return async function distrust(request: Request, problem: AuthorityProblem, { keepOpen = false } = {}): Promise<void> {
    // Another process may have taken a step since the request was read, so that the audit shows a newer state.
    const current = await store.find(request.id)
    if (current?.revision !== request.revision) return store.postpone(request.id, changedMs)
    await onDistrusted(request, problem)
    if (!keepOpen && problem.code === 'unknown-key') return store.postponeIfUnchanged(request, unknownKeyMs)
    if (!keepOpen && canEnd(request)) {
      const { outcome } = await store.take(request, 'distrust', { set: { causes: [unverifiedRecord] } })
      return outcome === 'won' ? show(request.id) : undefined
    }
    await audit.noteCounted(noteOf(request, 'distrust', { causes: [problem] }))
    if (keepOpen) await store.postpone(request.id, keptMs)
    else await store.clearDueIfUnchanged(request.id, request.revision)
  }
}
export type Distrust = ReturnType<typeof createDistrust>

function canEnd({ state }: Request): boolean {
  return state !== unknownState && stepOf('distrust').from.includes(state)
}
