import { z } from 'zod'
import type { AlertRoute } from './alert-route.ts'
import type { ChangeKind } from './change-kind.ts'

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

/** The project of a change. `none`: its kind belongs to no project. `unknown`: the account API did not show it. */
export type Project = { id: string; name?: string | undefined } | 'none' | 'unknown'

export type RuleFor = { is: 'rule'; rule: PolicyRule } | { is: 'none' } | { is: 'project-unknown'; rule: PolicyRule }

/**
 * Finds the rule for a change, which is the first that matches. If a rule depends on a project that is unknown, the search ends there.
 * Otherwise a missing answer could lead to a less strict rule below.
 */
export function ruleFor(policy: Policy, change: { kind: ChangeKind; channelId: string; project: Project }): RuleFor {
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
