import type { ChangeKind } from './change-kind.ts'
import type { Policy, PolicyRule, Project, Projects } from './policy.ts'

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
