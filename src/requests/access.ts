import type { AuditNote } from '../audit/chain.ts'
import {
  approverRuling,
  breakGlassRuling,
  type ChannelStanding,
  type Denial,
  type Grant,
  isMachine,
  type Membership,
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
  trackerRuling,
  withdrawerRuling,
} from '../domain/approval.ts'
import type { Finding } from '../domain/change.ts'
import {
  type ApproveTerms,
  approvalsNeeded,
  approverGroupsOf,
  approversOf,
  type ChangeKind,
  decidingRule,
  type KindOfChange,
  lacksReason,
  type Policy,
  type PolicyRule,
  type Project,
  rulesOfKind,
} from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { reasonRequired } from '../messages/forms.ts'
import { denialWords, type LabelOf } from '../messages/refusals.ts'
import type { CardButtonId } from '../messages/words.ts'
import type { Need } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { MembersFor } from '../slack/people.ts'
import { mrkdwn } from '../slack/text.ts'
import type { Catalog } from './catalog.ts'
import type { NoteOf } from './store.ts'

/** What a form shows of a change that was typed: its input, and what the preflight check read. */
export interface Draft {
  input: unknown
  facts: unknown
}

/** A reason is missing. Nothing is recorded; the requester is asked for it in a form. */
export class ReasonRequired extends Refusal {
  override name = 'ReasonRequired'
  /** The rule that requires it. Undefined if the command ended with *because*. */
  readonly rule: string | undefined
  readonly draft: Draft

  constructor(rule: string | undefined, draft: Draft) {
    super(rule === undefined ? mrkdwn`The reason after *because* is missing.` : reasonRequired(rule))
    this.rule = rule
    this.draft = draft
  }
}

/** What a person tried: an intent, or the id of a button. */
interface Attempt {
  to: string
  /** The id of the button, if several buttons need the same right. */
  button?: string
  /** The command, click, submission or option load. */
  what?: string
  kind?: string
  request?: Request | undefined
}

interface RefuseParts {
  /** Notes a refusal in the audit. Never throws. */
  noteRefusal: (note: AuditNote) => Promise<void>
  noteOf: NoteOf
  labelOf: LabelOf
}

/** A refusal because of a right. */
export class Denied extends Refusal {
  readonly denial: Denial

  constructor(denial: Denial, labelOf: LabelOf, command: string) {
    super(denialWords(denial, labelOf, command))
    this.denial = denial
  }
}

/** Creates the function that notes a denial in the audit and returns the Refusal for the person. */
export function createRefuse({ noteRefusal, noteOf, labelOf }: RefuseParts) {
  async function refuse(origin: Origin, attempt: Attempt, denial: Denial): Promise<Refusal> {
    await noteRefusal(noteFor(origin, attempt, { by: origin.userId, attempted: attempt.button ?? attempt.to, causes: [denial] }))
    return new Denied(denial, labelOf, origin.command)
  }

  function noteFor({ channelId, teamId }: Origin, { request, kind, what }: Attempt, more: Partial<AuditNote>): AuditNote {
    return request ? noteOf(request, 'refused', more) : { act: 'refused', kind, text: what, channelId, teamId, ...more }
  }

  return refuse
}
export type Refuse = ReturnType<typeof createRefuse>

/** Reads people, groups and channels from Slack. A standing is `unknown` if Slack does not answer. */
export interface People {
  /** `fresh`: read from Slack again if the cached answer is older than a few seconds. */
  person(userId: string, options?: { fresh?: boolean }): Promise<Person>
  members(groupIds: string[], purpose?: MembersFor): Promise<Membership>
  channel(channelId: string): Promise<ChannelStanding>
  /** Whether Lockkeeper is a member of the channel. */
  hasBot(channelId: string): Promise<boolean | 'unknown'>
  /** Whether the person could type a command in the channel. */
  isOpenTo(channelId: string, userId: string): Promise<boolean | 'unknown'>
}

interface StandingsParts {
  people: People
  /** The workspace of the bot. A click may name the workspace of the person who clicked instead. */
  homeTeamId: () => string | undefined
}

/** `fresh`: something is allowed by it, so Slack is read again unless it was read just now. */
export interface Freshness {
  fresh: boolean
}

/** Creates the reads that rights are judged by: the person, the kind of channel, and the members of user groups. */
export function createStandings({ people, homeTeamId }: StandingsParts) {
  /** Returns the workspace that people must belong to. */
  function teamIdFor({ teamId }: Origin): string | undefined {
    return homeTeamId() ?? teamId
  }

  async function personAndPlace(origin: Origin, channelId: string, freshness: Freshness): Promise<{ person: Person; place: Place }> {
    const [person, standing] = await Promise.all([requesterOf(origin, freshness), standingOf(channelId)])
    return { person, place: { channelId, teamId: teamIdFor(origin), standing } }
  }

  /** Slack knows nothing about alerts. */
  async function requesterOf(origin: Origin, freshness: Freshness): Promise<Person> {
    if (!isMachine(origin)) return people.person(origin.userId, freshness)
    return { userId: origin.userId, standing: 'machine', teamId: teamIdFor(origin) }
  }

  /** The Home tab has no channel: its id is empty. */
  async function standingOf(channelId: string): Promise<ChannelStanding> {
    return channelId === '' ? 'none' : people.channel(channelId)
  }

  async function members(groupIds: string[], purpose: MembersFor): Promise<Membership> {
    return people.members([...new Set(groupIds)], purpose)
  }

  return { personAndPlace, members, person: people.person, teamIdFor }
}
export type Standings = ReturnType<typeof createStandings>

interface AdmitParts {
  standings: Standings
  policy: Policy
  refuse: Refuse
}

/** A change that a person requests, after its project was read. */
interface Requested {
  kind: ChangeKind
  project: Project
  /** What `gate` returned for this kind of change. */
  requester: Requester
  reason: string | undefined
  draft: Draft
}

type Approvers = 'enough' | 'too-few' | 'unknown'

/**
 * Creates the check of a request under the rule of its project. It returns the rule, and what could not be checked. It throws a Refusal if
 * no rule covers the change, the rule does not allow the requester, too few people could approve it, or the rule requires a reason and there
 * is none.
 */
export function createAdmit({ standings, policy, refuse }: AdmitParts) {
  return async function admit(origin: Origin, requested: Requested): Promise<{ rule: PolicyRule; unchecked: Finding[] }> {
    const { kind, project, requester, reason, draft } = requested
    const { person, place } = requester
    if (person.userId !== origin.userId || place.channelId !== origin.channelId) throw new Error('a requester was judged for another place')
    const attempt = { to: 'request', kind }
    const found = decidingRule(policy, { kind, channelId: origin.channelId, project })
    if (found.is === 'none') throw await refuse(origin, attempt, noRule(policy, { kind, hasProject: project !== 'none' }))
    const { rule } = found
    if (found.is === 'project-unknown') throw await refuse(origin, attempt, { code: 'project-unknown', rule: rule.name })
    const ruling = requesterRuling(requester, rule)
    if (!ruling.allowed) throw await refuse(origin, attempt, ruling.denial)
    const approvers = rule.approve ? await findApprovers(rule.approve, rule, origin) : 'enough'
    if (rule.approve && approvers === 'too-few')
      throw await refuse(origin, attempt, {
        code: 'too-few-approvers',
        rule: rule.name,
        needed: approvalsNeeded(rule.approve),
        ...(isMachine(origin) ? { requester: origin.userId } : {}),
      })
    if (lacksReason(rule, reason)) throw new ReasonRequired(rule.name, draft)
    return { rule, unchecked: uncheckedOf(place, approvers) }
  }

  /** Returns whether the possible approvers are enough. The requester counts only if the rule allows break-glass. */
  async function findApprovers(terms: ApproveTerms, { breakGlass }: PolicyRule, origin: Origin): Promise<Approvers> {
    const { users, userGroups } = approversOf(terms)
    const membership = await standings.members(userGroups, 'refusal')
    const groups = [...membership.values()]
    if (groups.includes('unknown')) return 'unknown'
    const inGroups = groups.flatMap((members) => [...members])
    const eligible: string[] = []
    for (const userId of new Set([...users, ...inGroups])) {
      const isOwn = userId === origin.userId
      if (isOwn && !breakGlass) continue
      const person = await standings.person(userId)
      if (person.standing === 'unknown') return 'unknown'
      const teamId = standings.teamIdFor(origin)
      if (person.standing !== 'member' || (teamId !== undefined && person.teamId !== teamId)) continue
      eligible.push(userId)
      if (isOwn || tallyApprovals(terms, eligible, membership).enough) return 'enough'
    }
    return 'too-few'
  }
}

function uncheckedOf({ standing }: Place, approvers: Approvers): Finding[] {
  return [
    ...(approvers === 'unknown' ? [{ code: 'approvers-unknown' }] : []),
    ...(standing === 'unreadable' ? [{ code: 'channel-unreadable' }] : []),
  ]
}

interface FormGateParts {
  people: Pick<People, 'hasBot' | 'isOpenTo'>
  gate: (origin: Origin, kind: ChangeKind) => Promise<Requester>
  refuse: Refuse
}

/**
 * Creates the checks before a person fills in a form: those of `gate`, and whether Lockkeeper can post the request in the channel. If Slack
 * gives no answer about that, the form opens, and the post shows whether it is possible.
 */
export function createFormGate({ people, gate, refuse }: FormGateParts) {
  /** Checks the channel that the person is in. */
  async function gateForm(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gate(origin, kind)
    if ((await people.hasBot(origin.channelId)) === false) throw await refuse(origin, { to: 'request', kind }, { code: 'not-in-channel' })
    return requester
  }

  /**
   * Checks a channel that the person chose in a form. Slack's own picker offers only what they can see, and it is not documented that Slack
   * also checks what is sent. So a private channel must have them as a member: its rules may let all its members request.
   */
  async function gateChosen(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gateForm(origin, kind)
    const isOpen = await people.isOpenTo(origin.channelId, origin.userId)
    if (isOpen !== true) throw await refuse(origin, { to: 'request', kind }, { code: 'foreign-channel' })
    return requester
  }

  /**
   * Checks the channel of a form that was sent. It can have been open for hours, and the person may have left a private channel since, whose
   * rules let all its members request. Where Slack gives no answer, the channel in which the form was opened counts.
   */
  async function gateSent(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const requester = await gate(origin, kind)
    const isOpen = isMachine(origin) || (await people.isOpenTo(origin.channelId, origin.userId))
    if (isOpen === false) throw await refuse(origin, { to: 'request', kind }, { code: 'foreign-channel' })
    return requester
  }

  return { gateForm, gateChosen, gateSent }
}

/** What a person wants to do. */
export type Intent =
  /** Use Lockkeeper at all: every command, click, submission and option load. `what` names it for the audit. */
  | { to: 'read'; what?: string }
  /** Request a change of this kind. Its project, and so its rule, is not known yet. */
  | { to: 'request'; kind: ChangeKind }
  | IntentOnRequest
type IntentOnRequest =
  /** `button`: the id of the button that was pressed, for the audit. One right covers several buttons. */
  | { to: 'decide' | 'break-glass'; request: Request; button?: CardButtonId }
  /** Have the secret of a request issued. */
  | { to: 'issue'; request: Request }
  | { to: 'withdraw'; request: Request }
  /** Stop the tracking or start it again. */
  | { to: 'track'; request: Request }

interface JudgeParts {
  standings: Standings
  policy: Policy
  /** Whether the resources of a kind belong to projects. */
  hasProject: (kind: ChangeKind) => boolean
  /** Returns the current rule of the policy for a request, if any. */
  ruleOf: (request: Request) => PolicyRule | undefined
}

/** Creates the function that judges an intent by the policy, and by Slack's data on the person, the place and the user groups. */
export function createJudge({ standings, policy, hasProject, ruleOf }: JudgeParts) {
  async function judge(origin: Origin, intent: Intent, freshness: Freshness = { fresh: false }): Promise<Ruling> {
    if (intent.to === 'request') return (await judgeRequesting(origin, intent.kind, freshness)).ruling
    if (intent.to !== 'read') return judgeOnRequest(origin, intent, freshness)
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    return readerRuling(person, place)
  }

  /** Also returns the facts behind the ruling, so that `admit` judges the rule of the project by the same facts. */
  async function judgeRequesting(
    origin: Origin,
    kind: ChangeKind,
    freshness: Freshness,
  ): Promise<{ ruling: Ruling; requester: Requester }> {
    const change = { kind, hasProject: hasProject(kind) }
    const groups = rulesOfKind(policy, { ...change, channelId: origin.channelId }).flatMap((rule) => rule.request?.userGroups ?? [])
    const { person, place } = await standings.personAndPlace(origin, origin.channelId, freshness)
    const judged = await judgeMembers(groups, freshness.fresh ? 'request' : 'refusal', (membership) =>
      requesterOfKindRuling({ person, place, membership }, change, policy),
    )
    return { ruling: judged.ruling, requester: { person, place, membership: judged.membership } }
  }

  /** Judges by the channel of the request, because the button can also be on the Home tab. */
  async function judgeOnRequest(origin: Origin, intent: IntentOnRequest, freshness: Freshness): Promise<Ruling> {
    const { channelId, userId: requesterId } = intent.request.origin
    const actor = { ...(await standings.personAndPlace(origin, channelId, freshness)), requesterId }
    // While a request waits, approvers reject it, and say why.
    const isForRequester = intent.to === 'issue' || (intent.to === 'withdraw' && isUndecided(intent.request))
    if (isForRequester) return ownerRuling(actor, intent.to)
    const rule = ruleOf(intent.request)
    const rulingOn = { decide: approverRuling, 'break-glass': breakGlassRuling, withdraw: withdrawerRuling, track: trackerRuling }[
      intent.to
    ]
    // Requesters need the groups only to approve alone.
    const needsGroups = origin.userId !== requesterId || intent.to === 'break-glass'
    const judged = await judgeMembers(
      rule && needsGroups ? approverGroupsOf(rule) : [],
      freshness.fresh ? 'decision' : 'refusal',
      (membership) => rulingOn({ ...actor, rule, membership }),
    )
    return judged.ruling
  }

  /** Judges by the known members first, because Slack limits the reads of groups: only what they allow needs newer ones. */
  async function judgeMembers(groupIds: string[], purpose: MembersFor, rulingBy: (membership: Membership) => Ruling) {
    const known = await standings.members(groupIds, 'refusal')
    const ruling = rulingBy(known)
    if (!ruling.allowed || purpose === 'refusal') return { ruling, membership: known }
    const membership = await standings.members(groupIds, purpose)
    return { ruling: rulingBy(membership), membership }
  }

  return { judge, judgeRequesting }
}

/** Whether a request by a person waits for approval. An alert does not click, so its approvers withdraw what it requested at any time. */
function isUndecided({ state, origin }: Request): boolean {
  return state === 'waiting' && !isMachine(origin)
}

export interface KindRights {
  kind: ChangeKind
  request: Ruling
  /** The rules that can decide, in their order. Each names only the projects that no earlier one decides. */
  rules: { rule: PolicyRule; request: Ruling; approve: Ruling }[]
}

/** What a person may request and approve in a channel. */
export interface Rights {
  person: Person
  kinds: KindRights[]
  /** Whether Lockkeeper can post requests there. */
  hasBot: boolean | 'unknown'
}

interface RightsParts {
  people: Pick<People, 'hasBot'>
  standings: Standings
  policy: Policy
  catalog: Pick<Catalog, 'kinds' | 'hasProject'>
}

/** Creates the function that lists what a person may request and approve in a channel, by kind and rule. */
export function createRights({ people, standings, policy, catalog }: RightsParts) {
  return async function rights(origin: Origin): Promise<Rights> {
    const { channelId } = origin
    const kinds = catalog.kinds().map((kind) => ({ kind, hasProject: catalog.hasProject(kind) }))
    const groups = kinds.flatMap((change) => rulesOfKind(policy, { ...change, channelId }).flatMap(groupsNamedIn))
    const { person, place } = await standings.personAndPlace(origin, channelId, { fresh: true })
    const membership = await standings.members(groups, 'refusal')
    // The read of the place has just cached the channel, so this costs a call only where Lockkeeper is not a member.
    const hasBot = await people.hasBot(channelId)
    return { person, hasBot, kinds: kinds.map((change) => rightsFor(change, { person, place, membership })) }
  }

  function rightsFor(change: KindOfChange, requester: Requester): KindRights {
    const rules = rulesOfKind(policy, { ...change, channelId: requester.place.channelId }).map((rule) => ({
      rule,
      request: requesterRuling(requester, rule),
      // With no requester, this is the right to approve requests of others.
      approve: approverRuling({ ...requester, requesterId: '', rule }),
    }))
    return { kind: change.kind, request: requesterOfKindRuling(requester, change, policy), rules }
  }
}

function groupsNamedIn(rule: PolicyRule): string[] {
  return [...(rule.request?.userGroups ?? []), ...approverGroupsOf(rule)]
}

interface AccessParts {
  people: People
  policy: Policy
  /** The workspace of the bot. A click may name the workspace of the person who clicked instead. */
  homeTeamId: () => string | undefined
  catalog: Pick<Catalog, 'projectOf' | 'labelOf' | 'kinds' | 'hasProject'>
  /** Notes a refusal in the audit. Never throws. */
  noteRefusal: (note: AuditNote) => Promise<void>
  noteOf: NoteOf
}

/**
 * Creates the checks of who may do what. No other code decides that. Everybody is checked for `read` first, then for what they request or
 * decide. A decision is checked by what Slack says at the click.
 */
export function createAccess({ people, policy, homeTeamId, catalog, noteRefusal, noteOf }: AccessParts) {
  const standings = createStandings({ people, homeTeamId })
  const { judge, judgeRequesting } = createJudge({ standings, policy, hasProject: catalog.hasProject, ruleOf })
  const refuse = createRefuse({ noteRefusal, noteOf, labelOf: catalog.labelOf })

  /** Returns what allows an intent. Throws a Refusal and notes it if the person may not. */
  async function authorize(origin: Origin, intent: Intent): Promise<Grant> {
    const ruling = await judge(origin, intent, { fresh: intent.to !== 'read' })
    if (!ruling.allowed) throw await refuse(origin, intent, ruling.denial)
    return ruling.grant
  }

  /** Throws a Refusal if no rule lets the person request this kind of change here. `admit` takes the result. */
  async function gate(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const { ruling, requester } = await judgeRequesting(origin, kind, { fresh: true })
    if (!ruling.allowed) throw await refuse(origin, { to: 'request', kind }, ruling.denial)
    return requester
  }

  /** Returns the needs for which the person has the right. */
  async function may(origin: Origin, needs: Need[]): Promise<Need[]> {
    const unique = [...new Set(needs)]
    const rulings = await Promise.all(unique.map((need) => judge(origin, need === 'read' ? { to: 'read' } : { to: 'request', kind: need })))
    return unique.filter((_, index) => rulings[index]?.allowed)
  }

  /** Returns the current rule of the policy for a request, if any. */
  function ruleOf(request: Request): PolicyRule | undefined {
    const project = catalog.projectOf(request)
    const found = decidingRule(policy, { kind: request.kind, channelId: request.origin.channelId, project })
    return found.is === 'rule' ? found.rule : undefined
  }

  /**
   * Returns the name of the rule that requires a reason for a change of this kind in this channel. Undefined if a rule that can apply requires
   * none: the project of the change decides then.
   */
  function ruleWithReason(kind: ChangeKind, channelId: string): string | undefined {
    const rules = rulesOfKind(policy, { kind, channelId, hasProject: catalog.hasProject(kind) })
    return rules.every(({ needsReason }) => needsReason) ? rules.at(-1)?.name : undefined
  }

  /** Counts the approvals of these people, by the members of the groups. `allOf`: whom the rule requires. */
  async function tally(
    request: Request,
    userIds: string[],
    purpose: 'request' | 'refusal' = 'request',
  ): Promise<{ enough: boolean; missing: number; needed: number; allOf?: string[] }> {
    const terms = ruleOf(request)?.approve
    if (!terms) return { enough: false, missing: 1, needed: 1 }
    const found = await Promise.all(userIds.map((id) => standings.person(id, { fresh: true })))
    const members = found.filter((person) => person.standing === 'member').map(({ userId }) => userId)
    const membership = await standings.members(approversOf(terms).userGroups, purpose)
    return { ...tallyApprovals(terms, members, membership), needed: approvalsNeeded(terms), allOf: terms.allOf }
  }

  return {
    policy,
    judge,
    authorize,
    refuse,
    gate,
    ...createFormGate({ people, gate, refuse }),
    admit: createAdmit({ standings, policy, refuse }),
    may,
    rights: createRights({ people, standings, policy, catalog }),
    tally,
    ruleOf,
    ruleWithReason,
  }
}
export type Access = ReturnType<typeof createAccess>
