import type { Config } from '../config/config.ts'
import {
  type ActorUnderRule,
  approverRuling,
  breakGlassRuling,
  emergencyRuling,
  freezerRuling,
  involvedRuling,
  isForLackOfAnswer,
  isMachine,
  type Membership,
  machineNameOf,
  namesMachine,
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
import {
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
import type { Request } from '../domain/request.ts'
import type { CardButtonId } from '../messages/button-ids.ts'
import type { Catalog } from '../record/catalog.ts'
import type { Need } from '../slack/commands.ts'
import type { Directory, MembersFor } from '../slack/people.ts'
import type { SlackIdentity } from '../slack/web-api.ts'

export interface Judging {
  config: Config
  catalog: Catalog
  directory: Directory
  slack: { identity: SlackIdentity }
}

export type Intent =
  /** Use Lockkeeper at all: every command, click, submission and option load. `what` and the button `pressed` name it for the audit. */
  | { to: 'read'; what?: string; pressed?: Pressed }
  /** Request a change of this kind. Its project, and so its rule, is not known yet. */
  | { to: 'request'; kind: ChangeKind }
  /** Let nothing start, or lift that. One right covers both. */
  | { to: 'freeze' }
  | { to: 'unfreeze' }
  | IntentOnRequest

export type Pressed = Record<'actionId' | 'value', string>

/** `button`: the id of the button that was pressed, for the audit. One right covers several buttons. */
interface IntentOnRequest {
  to: 'decide' | 'emergency' | 'break-glass' | 'issue' | 'withdraw' | 'track'
  request: Request
  button?: CardButtonId
}

export async function may(app: Judging, origin: Origin, needs: Need[]): Promise<Need[]> {
  const unique = [...new Set(needs)]
  const intents = unique.map((need): Intent => (need === 'read' || need === freezing ? { to: need } : { to: 'request', kind: need }))
  const rulings = await Promise.all(intents.map((intent) => judge(app, origin, intent)))
  return unique.filter((_, index) => rulings[index]?.allowed)
}

/**
 * Whether somebody may do something. Everything asks here, and the rulings are in `approval.ts`. `fresh`: something is allowed by it, so Slack is read again unless it was read just
 * now.
 */
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
export async function judgeRequesting(app: Judging, origin: Origin, kind: ChangeKind, fresh: boolean) {
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

export function members({ directory }: Judging, groupIds: string[], purpose: MembersFor): Promise<Membership> {
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
export function teamIdFor({ slack }: Judging, { teamId }: Origin): string | undefined {
  return slack.identity.current()?.teamId ?? teamId
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
export function endsTerms({ config }: Judging, kind: ChangeKind, channelId: string): EndsTerms {
  const { ends } = rulesOfKind(config.policy, { kind, channelId, hasProject: false }).at(-1) ?? {}
  return { required: false, ...ends, noEnds: config.signsWithApiKey }
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
  const all = catalog.kinds().map((kind) => ({ kind, hasProject: catalog.hasProject(kind) }))
  // Nobody can request what has no form where no rule needs it.
  const kinds = all.filter(
    (each) => !catalog.changeIfKnown(each.kind)?.hasNoForm || rulesOfKind(config.policy, { ...each, channelId }).length > 0,
  )
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
