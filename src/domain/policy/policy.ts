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
