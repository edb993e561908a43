import type { Audit } from '../audit/audit.ts'
import {
  breakGlassRuling,
  type Denial,
  type Grant,
  isMachine,
  isOf,
  noRule,
  type Origin,
  type Place,
  type Requester,
  requesterRuling,
  tallyApprovals,
} from '../domain/approval.ts'
import type { Finding } from '../domain/change.ts'
import type { UserError } from '../domain/errors.ts'
import {
  type ApproveTerms,
  approvalsNeeded,
  approversOf,
  type ChangeKind,
  decidingRule,
  type PolicyRule,
  type Project,
  type ReasonTerms,
  toGroup,
} from '../domain/policy.ts'
import { unmetTerms } from '../domain/reason.ts'
import { isOpen, type Request } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { cleanText } from '../domain/text.ts'
import { belongsTo, readButton } from '../messages/button-ids.ts'
import { reasonRequired } from '../messages/submit-words.ts'
import { tooFewOthers, unableToConfirm } from '../messages/warnings.ts'
import { denialWords } from '../messages/why-not.ts'
import type { ErrorReports } from '../ops/log.ts'
import type { Metrics } from '../ops/metrics.ts'
import { keepEndedMs, noteOf, type Store } from '../record/store.ts'
import { Refusal } from '../slack/errors.ts'
import { mrkdwn } from '../slack/text.ts'
import { ableToConfirm, type Confirming, confirmersOf } from './confirmation.ts'
import { type Intent, judge, judgeRequesting, members, type Pressed, teamIdFor } from './judge.ts'

interface Noting extends Confirming {
  signatures: RequestSignatures
  audit: Audit
  store: Store
  metrics: Metrics
  errors: ErrorReports
}

/** Returns what allows an intent. Throws a Refusal and notes it if the person may not. `fresh`: see `judge`. */
export async function authorize(app: Noting, origin: Origin, intent: Intent, fresh = intent.to !== 'read'): Promise<Grant> {
  const ruling = await judge(app, origin, intent, fresh)
  if (!ruling.allowed) throw await refuse(app, origin, intent, ruling.denial)
  return ruling.grant
}

/**
 * Throws a Refusal if no rule lets the person request this kind of change here. `admit` takes the result. `formStep`: also checks the channel of a form.
 *
 * - `opened`: Lockkeeper must be able to post the request there. If Slack gives no answer about that, the post shows whether it is possible.
 * - `channel-chosen`: the person chose the channel. If it is private, they must be a member: its rules may let all its members request. Slack's own picker
 *   offers only what they can see, and it is not documented that Slack also checks what is sent.
 * - `sent`: it can have been open for hours, and the person may have left a private channel since. Where Slack gives no answer, the check when it was
 *   opened counts.
 */
export async function gate(
  app: Noting,
  origin: Origin,
  kind: ChangeKind,
  formStep?: 'opened' | 'channel-chosen' | 'sent',
): Promise<Requester> {
  const { channelId, userId } = origin
  const refused = (denial: Denial) => refuse(app, origin, { to: 'request', kind }, denial)
  if (isMachine(origin) && kind.startsWith('key.')) throw await refused({ code: 'keys-need-people' })
  const { ruling, requester } = await judgeRequesting(app, origin, kind, true)
  if (!ruling.allowed) throw await refused(ruling.denial)
  if ((formStep === 'opened' || formStep === 'channel-chosen') && (await app.directory.hasBot(channelId)) === false)
    throw await refused({ code: 'not-in-channel' })
  if (formStep === 'channel-chosen' || formStep === 'sent') {
    const isOpen = await app.directory.isOpenTo(channelId, userId)
    if (isOpen === false || (formStep === 'channel-chosen' && isOpen !== true)) throw await refused({ code: 'foreign-channel' })
  }
  return requester
}

/** What a form shows of a change that was typed: its input, and what the preflight check read. */
interface Draft {
  input: unknown
  facts: unknown
}

/** A reason is missing, or is not what a rule requires. Nothing is recorded; the requester is asked for it in a form. */
export class ReasonRequired extends Refusal {
  override name = 'ReasonRequired'
  /** What it does not meet. Undefined if the command ended with *because*. */
  readonly terms: ReasonTerms | undefined
  readonly draft: Draft

  constructor(terms: ReasonTerms | undefined, draft: Draft) {
    super('reason-required', terms ? reasonRequired(terms) : mrkdwn`The reason after *because* is missing.`)
    this.terms = terms
    this.draft = draft
  }
}

/** `requester`: what `gate` returned for this kind of change. */
interface Requested {
  kind: ChangeKind
  project: Project
  requester: Requester
  reason: string | undefined
  draft: Draft
  mayLackApprovers?: true | undefined
}

/** Checks a request under the rule of its project. Returns the rule, what could not be checked, and what to know. Throws a Refusal if it may not be. */
export async function admit(
  app: Noting,
  origin: Origin,
  requested: Requested,
): Promise<{ rule: PolicyRule; unchecked: Finding[]; warnings: Finding[] }> {
  const { policy } = app.config
  const { kind, project, requester, reason, draft } = requested
  const { person, place } = requester
  if (person.userId !== origin.userId || place.channelId !== origin.channelId) throw new Error('a requester was judged for another place')
  const deny = (denial: Denial) => refuse(app, origin, { to: 'request', kind }, denial)
  const found = decidingRule(policy, { kind, channelId: origin.channelId, project })
  if (found.is === 'none') throw await deny(noRule(policy, { kind, hasProject: project !== 'none' }))
  const { rule } = found
  if (found.is === 'project-unknown') throw await deny({ code: 'project-unknown', rule: rule.name })
  const ruling = requesterRuling(requester, rule)
  if (!ruling.allowed) throw await deny(ruling.denial)
  const approvers = rule.approve ? await findApprovers(app, rule.approve, rule, origin, place) : 'enough'
  if (rule.approve && approvers === 'too-few') {
    const machine = isMachine(origin) ? origin.userId : undefined
    const { users, userGroups } = approversOf(rule.approve)
    const others = [...users.filter((userId) => userId !== origin.userId), ...userGroups]
    const confirm = rule.confirmBy === undefined || others.length === 0 ? undefined : { by: rule.confirmBy, others: toGroup(others) }
    const needed = approvalsNeeded(rule.approve)
    const denial: Denial = { code: 'too-few-approvers', rule: rule.name, needed, requester: machine, confirm }
    throw requested.mayLackApprovers
      ? new Refusal(denial.code, denialWords(denial, app.catalog.labelOf, origin.command))
      : await deny(denial)
  }
  const unmet = unmetTerms(rule.reason, reason && cleanText(reason, { oneLine: true }))
  if (unmet.length > 0) throw new ReasonRequired(unmet.find(({ pattern }) => pattern !== undefined) ?? unmet[0], draft)
  const unchecked = [
    ...(approvers === 'unknown' ? [{ code: 'approvers-unknown' }] : []),
    ...(place.standing === 'unreadable' ? [{ code: 'channel-unreadable' }] : []),
  ]
  const { unable } = await confirmersOf(app, rule)
  const others = unable.filter((userId) => userId !== origin.userId)
  return { rule, unchecked, warnings: [...tooFewOthers(approvers === 'alone', origin.userId), ...unableToConfirm(rule.confirmBy, others)] }
}

/** Whether the possible approvers are enough. `alone`: the others are not, but the rule lets the requester approve it alone. */
async function findApprovers(
  app: Confirming,
  terms: ApproveTerms,
  rule: PolicyRule,
  origin: Origin,
  place: Place,
): Promise<'enough' | 'alone' | 'too-few' | 'unknown'> {
  const { users, userGroups } = approversOf(terms)
  const membership = await members(app, userGroups, 'refusal')
  const groups = [...membership.values()]
  if (groups.includes('unknown')) return 'unknown'
  const inGroups = groups.flatMap((group) => [...group])
  const teamId = teamIdFor(app, origin)
  const able = await ableToConfirm(app, rule, [...new Set([...users, ...inGroups])])
  const eligible: string[] = []
  let isAlone = false
  for (const userId of able) {
    const isOwn = userId === origin.userId
    if (isOwn && !rule.breakGlass) continue
    const person = await app.directory.person(userId)
    if (person.standing === 'unknown') return 'unknown'
    if (person.standing !== 'member' || !isOf(person, teamId)) continue
    if (isOwn) isAlone = breakGlassRuling({ person, place, requesterId: userId, rule, membership }).allowed
    else eligible.push(userId)
    if (tallyApprovals(terms, eligible, membership).enough) return 'enough'
  }
  return isAlone ? 'alone' : 'too-few'
}

/** An intent, or the id of a button or form that could not be trusted. */
interface Attempt {
  to: string
  button?: string
  what?: string
  kind?: string
  request?: Request | undefined
  pressed?: Pressed | undefined
}

/** A refusal that the audit has. */
class NotedRefusal extends Refusal {
  override name = 'NotedRefusal'
}

/** Notes a denial in the audit and returns the Refusal for the person. */
export async function refuse(app: Noting, origin: Origin, attempt: Attempt, denial: Denial): Promise<Refusal> {
  const { pressed } = attempt
  const request = attempt.request ?? (await requestOf(app, pressed))
  const to = attempt.button ?? (request && pressed?.actionId) ?? attempt.to
  await noteAttempt(app, origin, { ...attempt, to, request }, denial)
  return new NotedRefusal(denial.code, denialWords(denial, app.catalog.labelOf, origin.command, attempt.button))
}

/** Notes that something on a request was refused, unless `refuse` has done so. `at`: the button, form or tool. */
export async function noteRefused(app: Noting, origin: Origin, error: UserError, { at, requestId }: Record<'at' | 'requestId', string>) {
  if (error instanceof NotedRefusal) return
  const request = await app.store.find(requestId).catch(() => undefined)
  if (request) await noteAttempt(app, origin, { to: at.split(' ').at(-1) ?? '', request }, { code: error.code })
}

/** For how long the repeats of a refusal are not noted. */
const repeatMs = 10 * 60_000

/** People are refused even if it cannot be noted. */
async function noteAttempt(app: Noting, origin: Origin, { to, kind, what, request }: Attempt, cause: Finding): Promise<void> {
  const { userId, channelId, teamId } = origin
  const more = { by: userId, attempted: to, causes: [cause] }
  const note = request ? noteOf(app, request, 'refused', more) : { act: 'refused', kind, text: what, channelId, teamId, ...more }
  app.metrics.decision(note.kind ?? 'none', 'refused')
  // Open requests are few. The many that have ended have each refusal once, so that clicks on them cannot fill the audit.
  const quietMs = request && !isOpen(request.state) ? keepEndedMs : repeatMs
  await app.audit.noteOnce(note, quietMs).catch(app.errors.of('audit'))
}

/** Somebody who may not use Lockkeeper is refused before the request of the button is read. */
async function requestOf(app: Noting, pressed: Pressed | undefined): Promise<Request | undefined> {
  const button = readButton(pressed?.value ?? '')
  const request = button && (await app.store.find(button.id).catch(() => undefined))
  return request && belongsTo(button, request) ? request : undefined
}
