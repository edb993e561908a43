import { z } from 'zod'
import { withoutInvisible } from './text.ts'

/** Leads alerts with certain labels to a request to evacuate the server that one of the labels names. */
export interface AlertRoute {
  /** Shown to people and written to the audit. */
  name: string
  /** The labels that an alert must have, with exactly these values. */
  match: ReadonlyMap<string, string>
  /** The label that names the server. */
  server: string
  /** The hostname or id of the target: one for every site, or one for each site, by the slugs of the sites in lower case. */
  to: string | ReadonlyMap<string, string>
  /** Where the request is posted. */
  channelId: string
}

/** The labels of an alert. They are untrusted. */
export type Labels = Readonly<Record<string, string>>

/** Finds the first route whose labels an alert has. */
export function routeFor(routes: AlertRoute[], labels: Labels): AlertRoute | undefined {
  return routes.find(({ match }) => [...match].every(([label, value]) => labelOf(labels, label) === value))
}

/** Returns the name of the server that an alert is about, as written in the alert. */
export function serverNamed({ server }: AlertRoute, labels: Labels): string | undefined {
  return labelOf(labels, server)
}

/** Returns the hostname or id of the server that takes over in a site. Slugs are compared without regard to case, as everywhere. */
export function targetIn({ to }: AlertRoute, site: { slug?: string | undefined } | undefined): string | undefined {
  if (typeof to === 'string') return to
  return site?.slug === undefined ? undefined : to.get(site.slug.toLowerCase())
}

/** Ignores members that every object inherits, such as `constructor`. */
function labelOf(labels: Labels, label: string): string | undefined {
  return Object.hasOwn(labels, label) ? labels[label] : undefined
}

/**
 * The name of a kind of change, such as `ip.move`. It is a plain string, because only the features know the kinds. The code below the
 * features receives the kinds as an argument and treats them all alike.
 */
export type ChangeKind = string

/** Slack's user ids and user group ids. */
export const Group = z.object({ users: z.array(z.string()), userGroups: z.array(z.string()) })
export type Group = z.infer<typeof Group>

/** Who must approve. */
export const ApproveTerms = z.object({
  /** Any of these may approve. */
  anyOf: Group,
  /** A different person must approve for each of these: the user with this id, or a member of the user group with this id. */
  allOf: z.array(z.string()),
  /** The least number of different people. */
  approvals: z.number(),
})
export type ApproveTerms = z.infer<typeof ApproveTerms>

/** Projects by id and by name. People who can rename a project choose its name, so an id never matches a name. */
export interface Projects {
  ids: string[]
  names: string[]
}

/** The project of a change. `none`: its kind belongs to no project. `unknown`: the account API did not show it. */
export type Project = { id: string; name?: string | undefined } | 'none' | 'unknown'

/** A rule for some kinds of change. Only the first matching rule of a policy applies. */
export interface PolicyRule {
  /** Shown to people and written to the audit. */
  name: string
  changes: ChangeKind[]
  /** Undefined: every project, and changes that belong to no project. */
  projects: Projects | undefined
  /** Undefined: every channel. */
  channels: string[] | undefined
  /** Undefined: every full member. */
  request: Group | undefined
  /** Whether alerts may request, too. */
  alerts: boolean
  /** Undefined: changes need no approval. */
  approve: ApproveTerms | undefined
  /** Whether an approver may approve their own request in an emergency. */
  breakGlass: boolean
  /** Whether each request needs a reason. */
  needsReason: boolean
  /** Whether *Approve* always asks for a confirmation, even if there is nothing to check first. */
  confirm: boolean
  /** How long a request can be approved, in milliseconds. */
  expiresMs: number
  /** The people whom the request message mentions. Undefined: the approvers. */
  mention: Group | undefined
}

/** Kinds that are many changes of another kind under one approval, each with that other kind: an evacuation is many moves. */
export type Bundles = ReadonlyMap<ChangeKind, ChangeKind>

export interface Policy {
  rules: PolicyRule[]
  /** Absent: there are none. */
  bundles?: Bundles
  /** The requests that alerts lead to, in the order in which they are compared. Absent: alerts lead to nothing. */
  alerts?: AlertRoute[]
}

export function isUserGroup(id: string): boolean {
  return id.startsWith('S')
}

export function toGroup(ids: string[]): Group {
  return { users: ids.filter((id) => !isUserGroup(id)), userGroups: ids.filter(isUserGroup) }
}

/** Returns everybody whom the terms name, each once. */
export function approversOf(terms: ApproveTerms): Group {
  const all = toGroup(terms.allOf)
  return {
    users: [...new Set([...terms.anyOf.users, ...all.users])],
    userGroups: [...new Set([...terms.anyOf.userGroups, ...all.userGroups])],
  }
}

/** Counts the approvals that are needed: at least one, and at least one for each member of `allOf`. */
export function approvalsNeeded(terms: ApproveTerms): number {
  return Math.max(terms.approvals, terms.allOf.length, 1)
}

/** Returns the user groups that may approve under a rule. Their members are read from Slack. */
export function approverGroupsOf(rule: PolicyRule): string[] {
  return rule.approve ? approversOf(rule.approve).userGroups : []
}

/** The rules of a policy without a file have the names of the settings that they come from. */
export const settingRules = { noApproval: 'NO_APPROVAL', approvers: 'APPROVERS' } as const

/** Whether a rule comes from a setting, and not from a policy file. */
export function isSetting(rule: string): boolean {
  return Object.values<string>(settingRules).includes(rule)
}

/** What the rule of a change depends on. */
export interface RuleQuery {
  kind: ChangeKind
  channelId: string
  project: Project
}

/** `project-unknown`: the rule depends on the project, which the account API did not show. */
export type FoundRule = { is: 'rule'; rule: PolicyRule } | { is: 'none' } | { is: 'project-unknown'; rule: PolicyRule }

/**
 * Finds the rule for a change, which is the first that matches. If a rule depends on a project that is unknown, the search ends there.
 * Otherwise a missing answer could lead to a less strict rule below.
 */
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

/**
 * Finds the rules that can apply to a change of this kind in this channel, in their order. Its project decides which one does. Each rule
 * names only the projects that no earlier one decides, and the first rule for every project is the last: no later one is ever reached.
 */
export function rulesOfKind(policy: Policy, { kind, channelId, hasProject }: KindOfChange & { channelId: string }): PolicyRule[] {
  const found: PolicyRule[] = []
  for (const rule of rulesIn(policy, { kind, channelId })) {
    if (rule.projects === undefined) return [...found, rule]
    const projects = without(rule.projects, found)
    if (hasProject && projects.ids.length + projects.names.length > 0) found.push({ ...rule, projects })
  }
  return found
}

function without({ ids, names }: Projects, earlier: PolicyRule[]): Projects {
  return {
    ids: ids.filter((id) => !earlier.some(({ projects }) => projects?.ids.includes(id))),
    names: names.filter((name) => !earlier.some(({ projects }) => projects?.names.includes(name))),
  }
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

function isIn(projects: Projects | undefined, project: Project): boolean | 'unknown' {
  if (projects === undefined) return true
  if (project === 'none') return false
  if (project === 'unknown') return 'unknown'
  if (projects.ids.includes(project.id)) return true
  if (project.name === undefined) return projects.names.length > 0 ? 'unknown' : false
  return projects.names.includes(project.name)
}

type Member = keyof PolicyRule

/**
 * Says for each member whether it makes a rule easier than another one. It lists every member of a rule, so that a new member does not
 * compile without an entry here. User groups are compared by id, because their members change.
 */
const easierBy: Record<Member, (rule: PolicyRule, than: PolicyRule) => boolean> = {
  // Easier, because people may request who could not request the other change.
  request: ({ request }, than) => than.request !== undefined && (request === undefined || !isWithin(request, than.request)),
  approve: ({ approve }, than) => than.approve !== undefined && (approve === undefined || easierTerms(approve, than.approve).length > 0),
  breakGlass: (rule, than) => than.approve !== undefined && rule.breakGlass && !than.breakGlass,
  confirm: (rule, than) => rule.approve !== undefined && than.approve !== undefined && !rule.confirm && than.confirm,
  needsReason: (rule, than) => than.needsReason && !rule.needsReason,
  // Easier, because the reasons for a change go out of date: a late approval is worth less.
  expiresMs: (rule, than) => rule.approve !== undefined && than.approve !== undefined && rule.expiresMs > than.expiresMs,
  // These members say what a rule applies to. Matching finds the other rule for the same change.
  name: () => false,
  changes: () => false,
  projects: () => false,
  channels: () => false,
  // A request by an alert also needs the approvers.
  alerts: () => false,
  // A mention only notifies people.
  mention: () => false,
}

/** Returns the members in which a rule is easier than another one. Empty: whatever the rule allows, the other one allows as well. */
export function easierMembers(rule: PolicyRule, than: PolicyRule): Member[] {
  return (Object.keys(easierBy) as Member[]).filter((member) => easierBy[member](rule, than))
}

/** How terms can be easier: they need fewer people, or lack somebody of `allOf`, or accept another approver. */
export type EasierTerms = { is: 'fewer'; needed: number } | { is: 'not-all'; missing: string[] } | { is: 'others'; ids: string[] }

/** Returns how terms are easier than others. Empty: people who satisfy these terms also satisfy the others. */
export function easierTerms(terms: ApproveTerms, than: ApproveTerms): EasierTerms[] {
  const needed = approvalsNeeded(than)
  const missing = than.allOf.filter((id) => !terms.allOf.includes(id))
  const known = idsOf(approversOf(than))
  const ids = idsOf(approversOf(terms)).filter((id) => !known.includes(id))
  return [
    ...(approvalsNeeded(terms) < needed ? [{ is: 'fewer' as const, needed }] : []),
    ...(missing.length > 0 ? [{ is: 'not-all' as const, missing }] : []),
    ...(ids.length > 0 ? [{ is: 'others' as const, ids }] : []),
  ]
}

function isWithin(group: Group, other: Group): boolean {
  const known = idsOf(other)
  return idsOf(group).every((id) => known.includes(id))
}

function idsOf({ users, userGroups }: Group): string[] {
  return [...users, ...userGroups]
}

/**
 * Finds the rule that decides a change. A bundle is never easier than its parts: if its own rule is easier than the one for a part, the rule
 * for the part decides. The start refuses such policies, so this only matters if that check has a gap.
 */
export function decidingRule(policy: Policy, change: RuleQuery): FoundRule {
  const own = firstMatchingRule(policy, change)
  const part = policy.bundles?.get(change.kind)
  if (part === undefined || own.is !== 'rule') return own
  const ofPart = firstMatchingRule(policy, { ...change, kind: part })
  if (ofPart.is === 'project-unknown') return ofPart
  return partsOutdone(policy, own.rule, { ...change, kind: part }).length > 0 ? ofPart : own
}

/** A rule for the parts that is stricter than the rule for the bundle, and the members in which it is. */
interface Outdone {
  than: PolicyRule
  members: (keyof PolicyRule)[]
}

/**
 * Finds the rules for a part than which the rule of its bundle is easier. If the part can be requested only in other channels, the bundle
 * cannot be requested in this one, because membership of those channels limits who requests.
 */
export function partsOutdone(policy: Policy, rule: PolicyRule, part: RuleQuery): Outdone[] {
  const here = firstMatchingRule(policy, part)
  const found = here.is === 'none' ? elsewhere(policy, part) : [here]
  return found
    .flatMap((each) => (each.is === 'none' ? [] : [each.rule]))
    .map((than) => ({ than, members: [...easierMembers(rule, than), ...(here.is === 'none' && isOpenToPeople(rule) ? wider : [])] }))
    .filter(({ members }) => members.length > 0)
}

const wider: (keyof PolicyRule)[] = ['channels']

function elsewhere(policy: Policy, part: RuleQuery): FoundRule[] {
  const channels = new Set(rulesNaming(policy, part.kind).flatMap((rule) => rule.channels ?? []))
  return [...channels].map((channelId) => firstMatchingRule(policy, { ...part, channelId }))
}

function isOpenToPeople({ request }: PolicyRule): boolean {
  return request === undefined || request.users.length + request.userGroups.length > 0
}

/** The most characters of a reason. Slack's forms take no more. */
export const longestReason = 500

/** Matches what people can read. Control characters, for example, are removed wherever a reason is shown. */
const readable = /[\p{L}\p{N}\p{P}\p{S}]/u

/** Returns a reason without the white space around it. Undefined if it shows nothing: a requirement is not met by invisible characters. */
export function visibleReason(text: string | undefined): string | undefined {
  return readable.test(withoutInvisible(text ?? '')) ? text?.trim() : undefined
}

/** Whether the rule requires a reason, and there is none. */
export function lacksReason({ needsReason }: PolicyRule, reason: string | undefined): boolean {
  return needsReason && visibleReason(reason) === undefined
}
