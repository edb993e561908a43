import { z } from 'zod'
import type { NewKeyEnd } from './key-ends.ts'
import { canonicalJson } from './signing.ts'
import { withoutInvisible } from './text.ts'

/** Leads alerts with certain labels to a request to evacuate the server that one of the labels names. */
export interface AlertRoute {
  name: string
  /** The labels that an alert must have, with exactly these values. */
  match: ReadonlyMap<string, string>
  server: string
  /** The hostname or id of the target: one for every site, or one for each site, by the slugs of the sites in lower case. */
  to: string | ReadonlyMap<string, string>
  channelId: string
}

/** A machine that may send requests. Rules name it as `machine:<name>`. */
export interface Machine {
  name: string
  token: string
  /** Where its requests are posted. It cannot choose another channel. */
  channelId: string
}

/** The name of a kind of change, such as `ip.move`. A plain string, because only the features know the kinds. */
export type ChangeKind = string

export const Group = z.object({ users: z.array(z.string()), userGroups: z.array(z.string()) })
export type Group = z.infer<typeof Group>

/** People who are called if a request still waits this long after it was made. `afterMs`: in ms. */
const Escalation = z.object({ afterMs: z.number(), to: Group })
export type Escalation = z.infer<typeof Escalation>

const Terms = z.object({
  anyOf: Group,
  /** A different person must approve for each of these: the user with this id, or a member of the user group with this id. */
  allOf: z.array(z.string()),
  approvals: z.number(),
  /** These people may approve from the start, like `anyOf`. The thread mentions them only later. */
  escalate: Escalation.optional(),
})
type Terms = z.infer<typeof Terms>

/** Who must approve. `also`: the terms of other rules, which must be met besides. One approval counts for each that names the person. */
export const ApproveTerms = Terms.extend({ also: z.array(Terms).optional() })
export type ApproveTerms = z.infer<typeof ApproveTerms>

/** Projects by id and by name. People who can rename a project choose its name, so an id never matches a name. */
export interface Projects {
  ids: string[]
  names: string[]
}

export interface Window {
  name: string
  /** From 1, Monday, to 7, Sunday. */
  days: number[]
  /** `09:00`, by the clock of the zone. */
  from: string
  /** At or before `from`: on the next day. */
  to: string
  zone: string
}

/** A time in which changes must not start. `from`, `to`: in ms since 1970. */
export interface Freeze {
  name: string
  from: number
  to: number
  /** Undefined: every kind. */
  changes?: ChangeKind[] | undefined
  /** Undefined: every project, and changes that belong to no project. */
  projects?: Projects | undefined
  /** Undefined if it is of the policy: any emergency approval passes that. Another one is passed only by one that names it. */
  ownId?: string | undefined
}

/** What a rule names in place of a kind of change, to say who may start and end a freeze. */
export const freezing = 'freeze'

/** The project of a change. `none`: its kind belongs to no project. `unknown`: the account API did not show it. */
export type Project = { id: string; name?: string | undefined } | 'none' | 'unknown'

/** What a rule requires of a reason: that there is one, or one with a match of a pattern. `link`: where the match leads, with `$0` for it. */
export const ReasonTerms = z.object({ rule: z.string(), pattern: z.string().optional(), link: z.string().optional() })
export type ReasonTerms = z.infer<typeof ReasonTerms>

/** What a rule says about the ends of keys, in ms: the longest time from the request to the end, and what a request gets that names none. `noEnds`: there is no STATE_KEY. */
export const EndsTerms = z.object({
  required: z.boolean(),
  longestMs: z.number().optional(),
  defaultMs: z.number().optional(),
  noEnds: z.boolean().optional(),
})
export type EndsTerms = z.infer<typeof EndsTerms>

/** Why a rule does not allow this end of a key, or none. Undefined if it does. `requestedAt`: in ms since 1970, as `endsAt`. */
export function endsProblem(
  { ends }: Pick<PolicyRule, 'ends'>,
  end: { endsAt: NewKeyEnd | undefined } | 'unread',
  requestedAt: number,
): 'end-required' | 'end-too-late' | 'end-unread' | undefined {
  if (end === 'unread') return ends?.required || ends?.longestMs !== undefined ? 'end-unread' : undefined
  const { endsAt } = end
  if (endsAt === undefined) return ends?.required ? 'end-required' : undefined
  const lastsMs = typeof endsAt === 'number' ? endsAt - requestedAt : endsAt.afterMs
  // The end is the whole minute after the time that was requested.
  return lastsMs > (ends?.longestMs ?? Number.POSITIVE_INFINITY) + 60_000 ? 'end-too-late' : undefined
}

/** A rule for some kinds of change. Only the first matching rule of a policy applies. */
export interface PolicyRule {
  name: string
  changes: ChangeKind[]
  /** Undefined: every project, and changes that belong to no project. */
  projects: Projects | undefined
  /** Undefined: every channel. */
  channels: string[] | undefined
  request: Group | undefined
  alerts: boolean
  /** The machines that may request, as `machine:<name>`. Absent: none. */
  machines?: string[] | undefined
  /** Undefined: changes need no approval. */
  approve: ApproveTerms | undefined
  breakGlass: boolean
  /** Whether an approver may pass windows and freezes with an emergency approval of a request by others. */
  emergency?: true | undefined
  /** Empty: a reason is optional. */
  reason: ReasonTerms[]
  /** Whether *Approve* always asks for a confirmation, even if there is nothing to check first. */
  confirm: boolean
  /** What an approval needs besides a click, such as `passkey`: the name of what an ability confirms with. */
  confirmBy?: string | undefined
  expiresMs: number
  ends?: EndsTerms | undefined
  /** A change may start only while all of these are open. */
  windows: Window[]
  /** The people whom the request message mentions. Undefined: the approvers. */
  mention: Group | undefined
  /** The rules whose terms must be met besides, and how many approvals each needs. */
  with?: { name: string; approvals: number }[]
}

/** Kinds that are many changes of another kind under one approval, each with that other kind: an evacuation is many moves. */
export type Bundles = ReadonlyMap<ChangeKind, ChangeKind>

/** What rules can ask for besides a click on *Approve*, by name, with the kinds of change that always need it. */
export type Confirmations = ReadonlyMap<string, ChangeKind[]>

export interface Policy {
  rules: PolicyRule[]
  bundles?: Bundles
  /** The requests that alerts lead to, in the order in which they are compared. Absent: alerts lead to nothing. */
  alerts?: AlertRoute[]
  freezes?: Freeze[]
  machines?: Machine[]
}

export function isUserGroup(id: string): boolean {
  return id.startsWith('S')
}

export function toGroup(ids: string[]): Group {
  return { users: ids.filter((id) => !isUserGroup(id)), userGroups: ids.filter(isUserGroup) }
}

export function eachOf({ also = [], ...own }: ApproveTerms): Terms[] {
  return [own, ...also]
}

export function approversOf(terms: ApproveTerms): Group {
  return union([firstApproversOf(terms), escalationOf(terms)?.to ?? toGroup([])])
}

/** The approvers whom the request message and the reminders name: all but those who are only escalated to. */
export function firstApproversOf(terms: ApproveTerms): Group {
  return union(eachOf(terms).flatMap(({ anyOf, allOf }) => [anyOf, toGroup(allOf)]))
}

/** Under several rules, all are called at the first of their times. */
export function escalationOf(terms: ApproveTerms): Escalation | undefined {
  const all = eachOf(terms).flatMap(({ escalate }) => escalate ?? [])
  return all.length === 0 ? undefined : { afterMs: Math.min(...all.map(({ afterMs }) => afterMs)), to: union(all.map(({ to }) => to)) }
}

export function union(groups: Group[]): Group {
  return toGroup([...new Set(groups.flatMap(({ users, userGroups }) => [...users, ...userGroups]))])
}

/** Counts the approvals that are needed: at least one, and at least one for each member of `allOf`. The larger number of several rules. */
export function approvalsNeeded(terms: ApproveTerms): number {
  return Math.max(...eachOf(terms).map(({ approvals, allOf }) => Math.max(approvals, allOf.length, 1)))
}

export function approverGroupsOf(rule: PolicyRule): string[] {
  return rule.approve ? approversOf(rule.approve).userGroups : []
}

/** Who may start and end a freeze: those whom the rule for it lets, or else everybody who may approve something. Undefined: every full member. */
export function freezersOf({ rules }: Policy): Group | undefined {
  const own = rules.find(({ changes }) => changes.includes(freezing))
  if (own) return own.request
  return union(rules.flatMap(({ approve }) => (approve ? approversOf(approve) : [])))
}

/** The freezes of the policy that are on, whatever they cover. */
export function freezesOnAt({ freezes = [] }: Policy, now: number): Freeze[] {
  return freezes.filter(({ from, to }) => from <= now && now < to)
}

/** The rules of a policy without a file have the names of the settings that they come from. */
export const settingRules = { noApproval: 'NO_APPROVAL', approvers: 'APPROVERS' } as const

export function isSetting(rule: string): boolean {
  return Object.values<string>(settingRules).includes(rule)
}

interface RuleQuery {
  kind: ChangeKind
  channelId: string
  project: Project
}

/** `project-unknown`: the rule depends on the project, which the account API did not show. */
export type FoundRule = { is: 'rule'; rule: PolicyRule } | { is: 'none' } | { is: 'project-unknown'; rule: PolicyRule }

/** The first that matches. An unknown project ends the search, because a missing answer must not lead to a less strict rule below. */
export function firstMatchingRule(policy: Policy, change: RuleQuery): FoundRule {
  for (const rule of rulesIn(policy, change)) {
    const belongs = isIn(rule.projects, change.project)
    if (belongs === 'unknown') return { is: 'project-unknown', rule }
    if (belongs) return { is: 'rule', rule }
  }
  return { is: 'none' }
}

/** A kind of change, and whether its changes belong to projects. */
export interface KindOfChange {
  kind: ChangeKind
  hasProject: boolean
}

/** The rules that can apply in this channel, each with the projects that no earlier one decides. A rule for every project is the last. */
export function rulesOfKind(policy: Policy, { kind, channelId, hasProject }: KindOfChange & { channelId: string }): PolicyRule[] {
  const found: PolicyRule[] = []
  for (const rule of rulesIn(policy, { kind, channelId })) {
    if (rule.projects === undefined) return [...found, rule]
    const isLeft = (list: 'ids' | 'names') => (item: string) => !found.some((earlier) => earlier.projects?.[list].includes(item))
    const projects = { ids: rule.projects.ids.filter(isLeft('ids')), names: rule.projects.names.filter(isLeft('names')) }
    if (hasProject && projects.ids.length + projects.names.length > 0) found.push({ ...rule, projects })
  }
  return found
}

function rulesIn(policy: Policy, { kind, channelId }: { kind: ChangeKind; channelId: string }): PolicyRule[] {
  return rulesNaming(policy, kind).filter(({ channels }) => channels === undefined || channels.includes(channelId))
}

/** Finds the rules for a kind of change in any channel. A bundle that no rule of the policy names has the rules of its parts. */
export function rulesNaming(policy: Policy, kind: ChangeKind): PolicyRule[] {
  const naming = policy.rules.filter((rule) => rule.changes.includes(kind))
  const part = policy.bundles?.get(kind)
  return naming.length === 0 && part !== undefined ? rulesNaming(policy, part) : naming
}

/** `unknown`: the account API did not show what decides. */
export function isIn(projects: Projects | undefined, project: Project): boolean | 'unknown' {
  if (projects === undefined) return true
  if (project === 'none') return false
  if (project === 'unknown') return 'unknown'
  if (projects.ids.includes(project.id)) return true
  if (project.name === undefined) return projects.names.length > 0 ? 'unknown' : false
  return projects.names.includes(project.name)
}

/** A bundle must also satisfy the rule for its parts, so that it is never easier: their rules in other channels, if none covers them here. */
export function decidingRule(policy: Policy, change: RuleQuery): FoundRule {
  const own = firstMatchingRule(policy, change)
  const kind = policy.bundles?.get(change.kind)
  if (kind === undefined || own.is !== 'rule') return own
  const here = firstMatchingRule(policy, { ...change, kind })
  const channels = new Set(rulesNaming(policy, kind).flatMap((rule) => rule.channels ?? []))
  const elsewhere = () => [...channels].map((channelId) => firstMatchingRule(policy, { ...change, kind, channelId }))
  const ofParts = here.is === 'none' ? elsewhere() : [here]
  const unknown = ofParts.find(({ is }) => is === 'project-unknown')
  if (unknown) return unknown
  const rules = new Set(ofParts.flatMap((found) => (found.is === 'rule' ? [found.rule] : [])))
  return { is: 'rule', rule: [...rules].reduce(withBoth, own.rule) }
}

/** Returns a rule that is as strict as both. The first one says who may request. */
function withBoth(rule: PolicyRule, other: PolicyRule): PolicyRule {
  if (other.name === rule.name) return rule
  return {
    ...rule,
    approve: rule.approve && other.approve ? bothTerms(rule.approve, other.approve) : (rule.approve ?? other.approve),
    breakGlass: [rule, other].every(({ approve, breakGlass }) => !approve || breakGlass) && Boolean(rule.approve ?? other.approve),
    emergency: [rule, other].every(({ approve, emergency }) => !approve || emergency) || undefined,
    reason: [...rule.reason, ...other.reason],
    confirm: rule.confirm || other.confirm,
    confirmBy: rule.confirmBy ?? other.confirmBy,
    expiresMs: Math.min(rule.expiresMs, other.expiresMs),
    windows: [...rule.windows, ...other.windows.filter(({ name }) => !rule.windows.some((window) => window.name === name))],
    with: [...(rule.with ?? []), { name: other.name, approvals: other.approve ? approvalsNeeded(other.approve) : 0 }],
  }
}

function bothTerms(terms: ApproveTerms, other: ApproveTerms): ApproveTerms {
  const people = ({ anyOf, allOf, escalate, also }: ApproveTerms) => canonicalJson([anyOf, allOf, escalate, also])
  const isSame = people(terms) === people(other)
  if (isSame) return { ...terms, approvals: Math.max(terms.approvals, other.approvals) }
  return { ...terms, also: [...(terms.also ?? []), other] }
}

/** The most characters of a reason. Slack's forms take no more. */
export const longestReason = 500

/** Returns a reason without the white space around it. Undefined if it shows nothing: a requirement is not met by invisible characters. */
export function visibleReason(text: string | undefined): string | undefined {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(withoutInvisible(text ?? '')) ? text?.trim() : undefined
}
