import type { Audit } from '../audit/audit.ts'
import type { Config } from '../config/config.ts'
import {
  type ActorUnderRule,
  approverRuling,
  breakGlassRuling,
  type Denial,
  denialCodes,
  emergencyRuling,
  freezerRuling,
  type Grant,
  involvedRuling,
  isForLackOfAnswer,
  isMachine,
  isOf,
  type Membership,
  machineNameOf,
  namesMachine,
  noRule,
  type Origin,
  ownerRuling,
  type Person,
  type Place,
  type Requester,
  type Ruling,
  readerRuling,
  requesterOfKindRuling,
  requesterRuling,
  tallyApprovals,
} from '../domain/approval.ts'
import type { Finding } from '../domain/change.ts'
import {
  type ApproveTerms,
  approvalsNeeded,
  approverGroupsOf,
  approversOf,
  type ChangeKind,
  decidingRule,
  type EndsTerms,
  eachOf,
  firstMatchingRule,
  freezersOf,
  freezing,
  type KindOfChange,
  type Policy,
  type PolicyRule,
  type Project,
  type ReasonTerms,
  rulesOfKind,
} from '../domain/policy.ts'
import { unmetTerms } from '../domain/reason.ts'
import { isOpen, type Request } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { cleanText } from '../domain/text.ts'
import { belongsTo, type CardButtonId, readButton } from '../messages/button-ids.ts'
import { denialWords } from '../messages/refusals.ts'
import { reasonRequired } from '../messages/submit-words.ts'
import type { ErrorReports } from '../ops/log.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Catalog } from '../record/catalog.ts'
import type { Store } from '../record/store.ts'
import { noteOf } from '../record/store.ts'
import type { Need } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { Directory, MembersFor } from '../slack/people.ts'
import { mrkdwn } from '../slack/text.ts'
import type { SlackIdentity } from '../slack/web-api.ts'

interface Judging {
  config: Config
  catalog: Catalog
  directory: Directory
  slack: { identity: SlackIdentity }
}

interface Noting extends Judging {
  signatures: RequestSignatures
  audit: Audit
  store: Store
  metrics: Metrics
  errors: ErrorReports
}

type Intent =
  /** Use Lockkeeper at all: every command, click, submission and option load. `what` and the button `pressed` name it for the audit. */
  | { to: 'read'; what?: string; pressed?: Pressed }
  /** Request a change of this kind. Its project, and so its rule, is not known yet. */
  | { to: 'request'; kind: ChangeKind }
  /** Let nothing start, or lift that. One right covers both. */
  | { to: 'freeze' }
  | { to: 'unfreeze' }
  | IntentOnRequest

type Pressed = Record<'actionId' | 'value', string>

/** `button`: the id of the button that was pressed, for the audit. One right covers several buttons. */
interface IntentOnRequest {
  to: 'decide' | 'emergency' | 'break-glass' | 'issue' | 'withdraw' | 'track'
  request: Request
  button?: CardButtonId
}

/** Returns what allows an intent. Throws a Refusal and notes it if the person may not. */
export async function authorize(app: Noting, origin: Origin, intent: Intent): Promise<Grant> {
  const ruling = await judge(app, origin, intent, intent.to !== 'read')
  if (!ruling.allowed) throw await refuse(app, origin, intent, ruling.denial)
  return ruling.grant
}

export async function may(app: Judging, origin: Origin, needs: Need[]): Promise<Need[]> {
  const unique = [...new Set(needs)]
  const intents = unique.map((need): Intent => (need === 'read' || need === freezing ? { to: need } : { to: 'request', kind: need }))
  const rulings = await Promise.all(intents.map((intent) => judge(app, origin, intent)))
  return unique.filter((_, index) => rulings[index]?.allowed)
}

/** `fresh`: something is allowed by it, so Slack is read again unless it was read just now. */
export async function judge(app: Judging, origin: Origin, intent: Intent, fresh = false): Promise<Ruling> {
  if (intent.to === 'request') return (await judgeRequesting(app, origin, intent.kind, fresh)).ruling
  if (intent.to === 'freeze' || intent.to === 'unfreeze') return judgeFreezing(app, origin, fresh)
  if (intent.to !== 'read') return judgeOnRequest(app, origin, intent, fresh)
  const { person, place } = await personAndPlace(app, origin, origin.channelId, fresh)
  return readerRuling(person, place)
}

async function judgeFreezing(app: Judging, origin: Origin, fresh: boolean): Promise<Ruling> {
  const freezers = freezersOf(app.config.policy)
  const of = await personAndPlace(app, origin, origin.channelId, fresh)
  const groups = freezers?.userGroups ?? []
  return (await judgeMembers(app, groups, fresh ? 'decision' : 'refusal', (membership) => freezerRuling({ ...of, membership }, freezers)))
    .ruling
}

/** Also returns the facts behind the ruling, so that `admit` judges the rule of the project by the same facts. */
async function judgeRequesting(app: Judging, origin: Origin, kind: ChangeKind, fresh: boolean) {
  const { policy } = app.config
  const change = { kind, hasProject: app.catalog.hasProject(kind) }
  const groups = rulesOfKind(policy, { ...change, channelId: origin.channelId }).flatMap((rule) => rule.request?.userGroups ?? [])
  const { person, place } = await personAndPlace(app, origin, origin.channelId, fresh)
  const judged = await judgeMembers(app, groups, fresh ? 'request' : 'refusal', (membership) =>
    requesterOfKindRuling({ person, place, membership }, change, policy),
  )
  return { ruling: judged.ruling, requester: { person, place, membership: judged.membership } }
}

/** Judges by the channel of the request, because the button can also be on the Home tab. */
async function judgeOnRequest(app: Judging, origin: Origin, intent: IntentOnRequest, fresh: boolean): Promise<Ruling> {
  const { state, origin: requested } = intent.request
  const requesterId = requested.userId
  const actor = { ...(await personAndPlace(app, origin, requested.channelId, fresh)), requesterId }
  // While a request waits, approvers reject it, and say why. An alert does not click, so its approvers withdraw what it requested.
  if (intent.to === 'issue') return ownerRuling(actor, 'issue')
  const { to } = intent
  // It can do nothing else to a request.
  if (to === 'withdraw' && machineNameOf(origin) !== undefined && origin.userId === requesterId)
    return { allowed: true, grant: { via: 'requester' } }
  if (to === 'withdraw' && state === 'waiting' && !isMachine(requested)) return ownerRuling(actor, 'withdraw')
  const rule = ruleOf(app, intent.request)
  const rulings = { decide: approverRuling, emergency: emergencyRuling, 'break-glass': breakGlassRuling }
  const rulingOn = (of: ActorUnderRule) => (to === 'withdraw' || to === 'track' ? involvedRuling(of, to) : rulings[to](of))
  // Requesters need the groups only to approve alone.
  const needsGroups = origin.userId !== requesterId || to === 'break-glass'
  const groups = rule && needsGroups ? approverGroupsOf(rule) : []
  const judged = await judgeMembers(app, groups, fresh ? 'decision' : 'refusal', (membership) => rulingOn({ ...actor, rule, membership }))
  return judged.ruling
}

/** Judges by the known members first, because Slack limits the reads of groups: only what they allow needs newer ones. */
async function judgeMembers(app: Judging, groupIds: string[], purpose: MembersFor, rulingBy: (membership: Membership) => Ruling) {
  const known = await members(app, groupIds, 'refusal')
  const ruling = rulingBy(known)
  if (!ruling.allowed || purpose === 'refusal') return { ruling, membership: known }
  const membership = await members(app, groupIds, purpose)
  return { ruling: rulingBy(membership), membership }
}

function members({ directory }: Judging, groupIds: string[], purpose: MembersFor): Promise<Membership> {
  return directory.members([...new Set(groupIds)], purpose)
}

async function personAndPlace(app: Judging, origin: Origin, channelId: string, fresh: boolean): Promise<{ person: Person; place: Place }> {
  const { directory } = app
  const teamId = teamIdFor(app, origin)
  const machine: Person = { userId: origin.userId, standing: 'machine', teamIds: [] }
  const [person, standing] = await Promise.all([
    // Slack knows nothing about machines.
    isMachine(origin) ? machine : directory.person(origin.userId, { fresh }),
    // The Home tab has no channel.
    channelId === '' ? ('none' as const) : directory.channel(channelId),
  ])
  return { person, place: { channelId, teamId, standing } }
}

/** The workspace that people must belong to: that of the bot. A click may name that of the person who clicked instead. */
function teamIdFor({ slack }: Judging, { teamId }: Origin): string | undefined {
  return slack.identity.current()?.teamId ?? teamId
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
}

/** Checks a request under the rule of its project. Returns the rule, and what could not be checked. Throws a Refusal if it may not be. */
export async function admit(app: Noting, origin: Origin, requested: Requested): Promise<{ rule: PolicyRule; unchecked: Finding[] }> {
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
  const approvers = rule.approve ? await findApprovers(app, rule.approve, rule, origin) : 'enough'
  if (rule.approve && approvers === 'too-few') {
    const machine = isMachine(origin) ? origin.userId : undefined
    throw await deny({ code: 'too-few-approvers', rule: rule.name, needed: approvalsNeeded(rule.approve), requester: machine })
  }
  const unmet = unmetTerms(rule.reason, reason && cleanText(reason, { oneLine: true }))
  if (unmet.length > 0) throw new ReasonRequired(unmet.find(({ pattern }) => pattern !== undefined) ?? unmet[0], draft)
  const unchecked = [
    ...(approvers === 'unknown' ? [{ code: 'approvers-unknown' }] : []),
    ...(place.standing === 'unreadable' ? [{ code: 'channel-unreadable' }] : []),
  ]
  return { rule, unchecked }
}

/** Whether the possible approvers are enough. The requester counts only if the rule allows break-glass. */
async function findApprovers(
  app: Judging,
  terms: ApproveTerms,
  { breakGlass }: PolicyRule,
  origin: Origin,
): Promise<'enough' | 'too-few' | 'unknown'> {
  const { users, userGroups } = approversOf(terms)
  const membership = await members(app, userGroups, 'refusal')
  const groups = [...membership.values()]
  if (groups.includes('unknown')) return 'unknown'
  const inGroups = groups.flatMap((group) => [...group])
  const teamId = teamIdFor(app, origin)
  const eligible: string[] = []
  for (const userId of new Set([...users, ...inGroups])) {
    const isOwn = userId === origin.userId
    if (isOwn && !breakGlass) continue
    const person = await app.directory.person(userId)
    if (person.standing === 'unknown') return 'unknown'
    if (person.standing !== 'member' || !isOf(person, teamId)) continue
    eligible.push(userId)
    if (isOwn || tallyApprovals(terms, eligible, membership).enough) return 'enough'
  }
  return 'too-few'
}

/** Counts the approvals of these people, by the members of the groups. `allOf`: whom the rules require. */
export async function tally(
  app: Judging,
  request: Request,
  userIds: string[],
  purpose: 'request' | 'refusal' = 'request',
): Promise<{ enough: boolean; missing: number; needed: number; allOf?: string[]; counted?: number[] }> {
  const terms = ruleOf(app, request)?.approve
  if (!terms) return { enough: false, missing: 1, needed: 1 }
  const found = await Promise.all(userIds.map((id) => app.directory.person(id, { fresh: true })))
  const eligible = found.filter((person) => person.standing === 'member').map(({ userId }) => userId)
  const membership = await members(app, approversOf(terms).userGroups, purpose)
  return {
    ...tallyApprovals(terms, eligible, membership),
    needed: approvalsNeeded(terms),
    allOf: eachOf(terms).flatMap(({ allOf }) => allOf),
  }
}

/** Judges again, when a request starts that was approved long ago, whether its requester may request it, and its approvers may approve it. */
export async function judgeStart(
  app: Judging,
  request: Request,
): Promise<'allowed' | 'no-answer' | 'requester-lost-right' | 'approvals-lost' | 'rule-gone'> {
  const { origin, approvals, decision, needsApproval } = request
  const rule = ruleOf(app, request)
  if (!rule) return 'rule-gone'
  const { person, place } = await personAndPlace(app, origin, origin.channelId, true)
  const membership = await members(app, [...(rule.request?.userGroups ?? []), ...approverGroupsOf(rule)], 'request')
  const isAlone = decision?.breakGlass === true
  const requester = requesterRuling({ person, place, membership }, rule)
  const alone = isAlone ? breakGlassRuling({ person, place, membership, rule, requesterId: origin.userId }) : requester
  for (const ruling of [requester, alone])
    if (!ruling.allowed) return isForLackOfAnswer(ruling.denial) ? 'no-answer' : 'requester-lost-right'
  if (isAlone || !needsApproval || !rule.approve) return 'allowed'
  const people = await Promise.all(approvals.map(({ by }) => app.directory.person(by, { fresh: true })))
  const standing = people.filter((each) => each.standing === 'member').map(({ userId }) => userId)
  if (tallyApprovals(rule.approve, standing, membership).enough) return 'allowed'
  const isUnknown = people.some((each) => each.standing === 'unknown') || [...membership.values()].includes('unknown')
  return isUnknown ? 'no-answer' : 'approvals-lost'
}

export function ruleOf({ catalog, config }: Pick<Judging, 'catalog' | 'config'>, request: Request): PolicyRule | undefined {
  const project = catalog.projectOf(request)
  const { kind, origin } = request
  const found = decidingRule(config.policy, { kind, channelId: origin.channelId, project })
  if (found.is !== 'rule') return undefined
  // What a machine requested ends with its place in the policy.
  return machineNameOf(origin) === undefined || namesMachine(found.rule, origin.userId) ? found.rule : undefined
}

/** Whether lists show a machine what is in a project: if a rule lets it request something there. */
export function covers({ catalog, config }: Judging, { channelId, userId }: Origin, project: Project): boolean {
  return catalog.changesForMachines().some(({ kind }) => {
    const found = firstMatchingRule(config.policy, { kind, channelId, project })
    return found.is === 'rule' && namesMachine(found.rule, userId)
  })
}

/** What is surely required of a reason for a change of this kind in this channel. Undefined if a rule that can apply requires none. */
export function reasonTerms({ catalog, config }: Judging, kind: ChangeKind, channelId: string): ReasonTerms | undefined {
  const rules = rulesOfKind(config.policy, { kind, channelId, hasProject: catalog.hasProject(kind) })
  const terms = rules.map(({ reason }) => reason[0])
  const last = terms.at(-1)
  if (!last || terms.includes(undefined)) return undefined
  // Only the project decides between several rules.
  return terms.every((each) => each?.pattern === last.pattern) ? last : { rule: last.rule }
}

/** What the rule of this channel says about the ends of keys, which belong to no project. */
export function endsTerms({ config }: Judging, kind: ChangeKind, channelId: string): EndsTerms | undefined {
  return rulesOfKind(config.policy, { kind, channelId, hasProject: false }).at(-1)?.ends
}

export interface KindRights {
  kind: ChangeKind
  request: Ruling
  /** The rules that can decide, in their order. Each names only the projects that no earlier one decides. */
  rules: { rule: PolicyRule; request: Ruling; approve: Ruling }[]
}

export interface Rights {
  person: Person
  kinds: KindRights[]
  /** Whether Lockkeeper can post requests there. */
  hasBot: boolean | 'unknown'
}

export async function rightsOf(app: Judging, origin: Origin): Promise<Rights> {
  const { directory, catalog, config } = app
  const { channelId } = origin
  const kinds = catalog.kinds().map((kind) => ({ kind, hasProject: catalog.hasProject(kind) }))
  const groups = kinds
    .flatMap((change) => rulesOfKind(config.policy, { ...change, channelId }))
    .flatMap((rule) => [...(rule.request?.userGroups ?? []), ...approverGroupsOf(rule)])
  const { person, place } = await personAndPlace(app, origin, channelId, true)
  const membership = await members(app, groups, 'refusal')
  // The read of the place has just cached the channel, so this costs a call only where Lockkeeper is not a member.
  const hasBot = await directory.hasBot(channelId)
  return { person, hasBot, kinds: kinds.map((change) => rightsFor(config.policy, change, { person, place, membership })) }
}

function rightsFor(policy: Policy, change: KindOfChange, requester: Requester): KindRights {
  const rules = rulesOfKind(policy, { ...change, channelId: requester.place.channelId }).map((rule) => ({
    rule,
    request: requesterRuling(requester, rule),
    // With no requester, this is the right to approve requests of others.
    approve: approverRuling({ ...requester, requesterId: '', rule }),
  }))
  return { kind: change.kind, request: requesterOfKindRuling(requester, change, policy), rules }
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

/** Notes a denial in the audit and returns the Refusal for the person. */
export async function refuse(app: Noting, origin: Origin, attempt: Attempt, denial: Denial): Promise<Refusal> {
  const { pressed } = attempt
  const request = attempt.request ?? (await requestOf(app, pressed))
  const to = attempt.button ?? (request && pressed?.actionId) ?? attempt.to
  await noteAttempt(app, origin, { ...attempt, to, request }, denial)
  return new Refusal(denial.code, denialWords(denial, app.catalog.labelOf, origin.command))
}

/** Notes that a decision on a request was refused, for another reason than a missing right. `at`: the button, form or tool. */
export async function noteRefused(app: Noting, origin: Origin, { at, code, requestId }: Record<'at' | 'code' | 'requestId', string>) {
  if (denialCodes.has(code)) return
  const request = await app.store.find(requestId).catch(() => undefined)
  if (request) await noteAttempt(app, origin, { to: at.split(' ').at(-1) ?? '', request }, { code })
}

/** People are refused even if it cannot be noted. */
async function noteAttempt(app: Noting, origin: Origin, { to, kind, what, request }: Attempt, cause: Finding): Promise<void> {
  const { userId, channelId, teamId } = origin
  const more = { by: userId, attempted: to, causes: [cause] }
  const note = request ? noteOf(app, request, 'refused', more) : { act: 'refused', kind, text: what, channelId, teamId, ...more }
  app.metrics.decision(note.kind ?? 'none', 'refused')
  // Open requests are few, so refusals on each of them cannot fill the audit.
  await app.audit.noteOnce(note, { byRequest: request !== undefined && isOpen(request.state) }).catch(app.errors.of('audit'))
}

/** Somebody who may not use Lockkeeper is refused before the request of the button is read. */
async function requestOf(app: Noting, pressed: Pressed | undefined): Promise<Request | undefined> {
  const button = readButton(pressed?.value ?? '')
  const request = button && (await app.store.find(button.id).catch(() => undefined))
  return request && belongsTo(button, request) ? request : undefined
}
