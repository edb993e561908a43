import { type AlertRoute, approversOf, type Policy, type PolicyRule, rulesOfKind } from '../domain/policy.ts'
import { quote } from './notation.ts'

interface Conflict {
  path: (string | number)[]
  message: string
}

/** Finds what no single value shows: rules that contradict themselves, never apply, or have a name twice, and the same of entries of `alerts`. */
export function conflictsIn(policy: Policy): Conflict[] {
  const { rules, alerts = [] } = policy
  const at = (place: string, index: number) => (conflict: Conflict | undefined) =>
    conflict ? [{ ...conflict, path: [place, index, ...conflict.path] }] : []
  return [
    ...rules.flatMap((rule, index) => {
      const above = rules.slice(0, index)
      return [...withoutApproval(rule), tooManyApprovals(rule), nameTaken(rule, above), neverMatches(rule, above)].flatMap(
        at('rules', index),
      )
    }),
    ...alerts.flatMap((route, index) => {
      const above = alerts.slice(0, index)
      return [nameTaken(route, above), neverReached(route, above), neverAllowed(route, policy)].flatMap(at('alerts', index))
    }),
  ]
}

function withoutApproval({ approve, breakGlass, alerts, confirm }: PolicyRule): Conflict[] {
  if (approve) return []
  const wrong = [breakGlass && 'self_approval', alerts && 'request', confirm && 'confirm'].filter((key) => key !== false)
  const words: Record<string, string> = { self_approval: 'break-glass', request: 'alerts', confirm: 'true' }
  return wrong.map((key) => ({ path: [key], message: `must not be ${words[key]} where approve is none: nobody approves` }))
}

function tooManyApprovals({ approve }: PolicyRule): Conflict | undefined {
  if (!approve) return undefined
  const { users, userGroups } = approversOf(approve)
  if (userGroups.length > 0 || approve.approvals <= users.length) return undefined
  return { path: ['approve', 'approvals'], message: `must be at most ${users.length}: any_of and all_of name no more people` }
}

function nameTaken({ name }: { name: string }, above: { name: string }[]): Conflict | undefined {
  if (!above.some((other) => other.name === name)) return undefined
  return { path: ['name'], message: `must be unique, and ${quote(name, 60)} stands above` }
}

/** Finds a rule that can never match, because the rules above it cover every combination of its kinds, channels and projects. */
function neverMatches(rule: PolicyRule, above: PolicyRule[]): Conflict | undefined {
  const covering = new Set<string>()
  for (const kind of rule.changes) {
    for (const channel of rule.channels ?? [undefined]) {
      for (const project of projectsOf(rule) ?? [undefined]) {
        const by = above.find(
          (other) => other.changes.includes(kind) && covers(other.channels, channel) && covers(projectsOf(other), project),
        )
        if (!by) return undefined
        covering.add(quote(by.name, 60))
      }
    }
  }
  return { path: [], message: `can never match, because of ${[...covering].join(' and ')} above: move it up, or remove it` }
}

/** An id and a name are never the same. */
function projectsOf({ projects }: PolicyRule): string[] | undefined {
  return projects && [...projects.ids, ...projects.names.map((name) => `name: ${name}`)]
}

/** Checks whether a list covers an item. An undefined item stands for every item; only a rule without a list covers that. */
function covers(listed: string[] | undefined, one: string | undefined): boolean {
  return listed === undefined || (one !== undefined && listed.includes(one))
}

/** Finds an entry whose alerts all have the labels of an entry above, which decides then. */
function neverReached({ match }: AlertRoute, above: AlertRoute[]): Conflict | undefined {
  const by = above.find((other) => [...other.match].every(([label, text]) => match.get(label) === text))
  return by && { path: [], message: `can never match, because of ${quote(by.name, 60)} above: move it up, or remove it` }
}

function neverAllowed({ channelId }: AlertRoute, policy: Policy): Conflict | undefined {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  if (kinds.some((kind) => rulesOfKind(policy, { kind, channelId, hasProject: true }).some(({ alerts }) => alerts))) return undefined
  return { path: ['channel'], message: `must be one where a rule lets alerts request ${kinds.join(' or ')}: add alerts to its request` }
}
