import { z } from 'zod'
import type { ChangeKind } from './change-kind.ts'

/** User ids and user group ids, Slack's. */
export const Group = z.object({ users: z.array(z.string()), userGroups: z.array(z.string()) })
export type Group = z.infer<typeof Group>

/** Who has to say yes. */
export const ApproveTerms = z.object({
  /** Any of these may approve. */
  anyOf: Group,
  /** Each of these (a user id, or a user group id for one of its members) has to approve, each a different person. */
  allOf: z.array(z.string()),
  /** How many different people at least. */
  approvals: z.number(),
})
export type ApproveTerms = z.infer<typeof ApproveTerms>

/** Projects by id and by name. Whoever may rename a project chooses its name, so an id never matches a name. */
export interface Projects {
  ids: string[]
  names: string[]
}

/** What holds for some kinds of change. The first rule of a policy that matches decides alone. */
export interface PolicyRule {
  /** Shown to people and written to the audit. */
  name: string
  changes: ChangeKind[]
  /** Undefined: every project, and what belongs to none. */
  projects: Projects | undefined
  /** Undefined: every channel. */
  channels: string[] | undefined
  /** Undefined: every full member. */
  request: Group | undefined
  /** Undefined: carried out without an approval. */
  approve: ApproveTerms | undefined
  /** Whether an approver may, in an emergency, approve what they asked for themselves. */
  breakGlass: boolean
  /** How long a request can be approved. */
  expiresMs: number
  /** Who is called by the card. Undefined: who may approve. */
  mention: Group | undefined
}

export interface Policy {
  rules: PolicyRule[]
}

/** Where a change belongs: `none` for kinds that belong to no project, `unknown` where the account API did not tell. */
export type Project = { id: string; name?: string | undefined } | 'none' | 'unknown'

export type RuleFor = { is: 'rule'; rule: PolicyRule } | { is: 'none' } | { is: 'project-unknown'; rule: PolicyRule }

/**
 * The rule for a change: the first that matches. Where a rule depends on a project that is not known, nothing below it is looked at:
 * a laxer rule must not be reached by not knowing. Pure.
 */
export function ruleFor(policy: Policy, change: { kind: ChangeKind; channelId: string; project: Project }): RuleFor {
  for (const rule of policy.rules) {
    if (!covers(rule, change)) continue
    const belongs = isIn(rule.projects, change.project)
    if (belongs === 'unknown') return { is: 'project-unknown', rule }
    if (belongs) return { is: 'rule', rule }
  }
  return { is: 'none' }
}

/** Every rule that may become the one for a change of this kind in this channel, whatever its project. Pure. */
export function rulesOfKind(policy: Policy, kind: ChangeKind, channelId: string): PolicyRule[] {
  return policy.rules.filter((rule) => covers(rule, { kind, channelId }))
}

function covers(rule: PolicyRule, { kind, channelId }: { kind: ChangeKind; channelId: string }): boolean {
  return rule.changes.includes(kind) && (rule.channels === undefined || rule.channels.includes(channelId))
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

/** Everybody named in the terms. Pure. */
export function approversOf(terms: ApproveTerms): Group {
  const all = toGroup(terms.allOf)
  return {
    users: [...new Set([...terms.anyOf.users, ...all.users])],
    userGroups: [...new Set([...terms.anyOf.userGroups, ...all.userGroups])],
  }
}

/** At least one for each who must be heard. Pure. */
export function approvalsNeeded(terms: ApproveTerms): number {
  return Math.max(terms.approvals, terms.allOf.length, 1)
}

/** The user groups that a rule asks Slack about, for approvals. Pure. */
export function groupsOf(rule: PolicyRule): string[] {
  return rule.approve ? approversOf(rule.approve).userGroups : []
}
