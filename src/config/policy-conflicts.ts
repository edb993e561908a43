import type { z } from 'zod'
import { type AlertRoute, approversOf, type Policy, rulesNaming, rulesOfKind } from '../domain/policy.ts'
import { quote } from './notation.ts'
import { type FileRule, type ProjectEntry, projectKey, type RuleSchema } from './policy-schema.ts'

export interface Conflict {
  path: (string | number)[]
  message: string
}

/** The valid members of a rule. Invalid members are absent, so that an error in one part does not hide a conflict in another. */
type ValidParts = { [K in keyof FileRule]?: { is: FileRule[K] } }

/** Finds the conflicts within and between rules whose single values are valid. `rules` is the list as parsed from the file. */
export function conflictsAmong(rules: unknown[], schema: RuleSchema): Conflict[] {
  const validParts = rules.map((rule) => validPartsOf(rule, schema))
  return validParts.flatMap((rule, index) =>
    [
      nameTaken(rule, validParts.slice(0, index)),
      breakGlassWithoutApproval(rule),
      alertsWithoutApproval(rule),
      confirmationWithoutApproval(rule),
      tooManyApprovals(rule),
      neverMatches(rule, validParts.slice(0, index)),
    ]
      .filter((conflict) => conflict !== undefined)
      .map(({ path, message }) => ({ path: ['rules', index, ...path], message })),
  )
}

function validPartsOf(rule: unknown, { shape }: RuleSchema): ValidParts {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return {}
  const given = rule as Record<string, unknown>
  // An unknown key may be a mistyped one that narrows the rule. Without `changes`, the rule is not compared with others.
  const { changes, ...rest } = shape
  const schemas = Object.keys(given).every((key) => Object.hasOwn(shape, key)) ? { changes, ...rest } : rest
  const valid = Object.entries(schemas).flatMap(([key, schema]: [string, z.ZodType]) => {
    const parsed = schema.safeParse(given[key])
    return parsed.success ? [[key, { is: parsed.data }]] : []
  })
  return Object.fromEntries(valid)
}

function nameTaken(rule: ValidParts, above: ValidParts[]): Conflict | undefined {
  const name = rule.name?.is
  if (name === undefined || !above.some((other) => other.name?.is === name)) return undefined
  return { path: ['name'], message: `must be unique, and a rule above is called ${quote(name, 60)}: choose another` }
}

function breakGlassWithoutApproval(rule: ValidParts): Conflict | undefined {
  if (rule.self_approval?.is !== 'break-glass' || !rule.approve || rule.approve.is) return undefined
  return { path: ['self_approval'], message: 'must not be break-glass where approve is none: remove it, or name who approves' }
}

function alertsWithoutApproval(rule: ValidParts): Conflict | undefined {
  if (!rule.request?.is?.alerts || !rule.approve || rule.approve.is) return undefined
  return {
    path: ['request'],
    message: 'must not have alerts where approve is none, because people approve what alerts request: remove it, or name who approves',
  }
}

function confirmationWithoutApproval(rule: ValidParts): Conflict | undefined {
  if (!rule.confirm?.is || !rule.approve || rule.approve.is) return undefined
  return { path: ['confirm'], message: 'must not be true where approve is none: remove it, or name who approves' }
}

function tooManyApprovals(rule: ValidParts): Conflict | undefined {
  const terms = rule.approve?.is
  if (!terms) return undefined
  const { users, userGroups } = approversOf(terms)
  if (userGroups.length > 0 || terms.approvals <= users.length) return undefined
  const message = `must be at most ${users.length}, because any_of and all_of name no more people: name more, or require fewer approvals`
  return { path: ['approve', 'approvals'], message }
}

/** Reports a rule that can never match, because the rules above it cover every combination of its kinds, channels and projects. */
function neverMatches({ changes, channels, projects }: ValidParts, above: ValidParts[]): Conflict | undefined {
  if (!changes || !channels || !projects) return undefined
  const covering = new Set<string>()
  for (const kind of changes.is) {
    for (const channel of channels.is ?? [undefined]) {
      for (const project of keysOf(projects).is ?? [undefined]) {
        const index = above.findIndex(
          (other) =>
            other.changes?.is.includes(kind) &&
            covers(other.channels, channel) &&
            covers(other.projects && keysOf(other.projects), project),
        )
        if (index === -1) return undefined
        covering.add(nameOf(above[index], index))
      }
    }
  }
  const by = [...covering].join(' and ')
  return {
    path: [],
    message: `can never match: ${by} above ${covering.size === 1 ? 'covers' : 'cover'} all that it is for. Move it up, or remove it`,
  }
}

function nameOf(rule: ValidParts | undefined, index: number): string {
  return rule?.name ? quote(rule.name.is, 60) : `rule ${index + 1}`
}

function keysOf({ is }: { is: ProjectEntry[] | undefined }): { is: string[] | undefined } {
  return { is: is?.map(projectKey) }
}

/** Checks whether a list covers an item. An undefined item stands for every item; only a rule without a list covers that. */
function covers(listed: { is: string[] | undefined } | undefined, one: string | undefined): boolean {
  if (!listed) return false
  return listed.is === undefined || (one !== undefined && listed.is.includes(one))
}

/** Finds rules that let alerts request what alerts never request. */
export function idleAlerts(policy: Policy): Conflict[] {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  const reached = new Set(kinds.flatMap((kind) => rulesNaming(policy, kind)))
  return policy.rules.flatMap((rule, index) => {
    if (!rule.alerts || reached.has(rule)) return []
    const message = `must not have alerts, which request only ${kinds.join(' and ')}: remove it, or add ${kinds.join(' or ')} to changes`
    return [{ path: ['rules', index, 'request'], message }]
  })
}

/** Finds the entries that conflict with other entries or with the rules. */
export function alertConflicts(policy: Policy): Conflict[] {
  const routes = policy.alerts ?? []
  return routes.flatMap((route, index) =>
    [
      nameTakenAlertConflicts(route, routes.slice(0, index)),
      neverMatchesAlertConflicts(route, routes.slice(0, index)),
      neverAllowed(route, policy),
    ]
      .filter((conflict) => conflict !== undefined)
      .map(({ path, message }) => ({ path: ['alerts', index, ...path], message })),
  )
}

function nameTakenAlertConflicts({ name }: AlertRoute, above: AlertRoute[]): Conflict | undefined {
  if (!above.some((other) => other.name === name)) return undefined
  return { path: ['name'], message: `must be unique, and an entry above is called ${quote(name, 60)}: choose another` }
}

/** Reports an entry whose alerts all have the labels of an entry above, which decides then. */
function neverMatchesAlertConflicts({ match }: AlertRoute, above: AlertRoute[]): Conflict | undefined {
  const by = above.find((other) => [...other.match].every(([label, text]) => match.get(label) === text))
  if (!by) return undefined
  return {
    path: [],
    message: `can never match: ${quote(by.name, 60)} above matches every alert that it is for. Move it up, or remove it`,
  }
}

function neverAllowed({ channelId }: AlertRoute, policy: Policy): Conflict | undefined {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  if (kinds.some((kind) => rulesOfKind(policy, { kind, channelId, hasProject: true }).some(({ alerts }) => alerts))) return undefined
  return { path: ['channel'], message: `must be one where a rule lets alerts request ${kinds.join(' or ')}: add alerts to its request` }
}
