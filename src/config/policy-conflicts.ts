import type { z } from 'zod'
import {
  type AlertRoute,
  approversOf,
  type ChangeKind,
  type EasierTerms,
  easierTerms,
  firstMatchingRule,
  type Policy,
  type PolicyRule,
  partsOutdone,
  rulesNaming,
  rulesOfKind,
} from '../domain/policy.ts'
import { writeDuration } from '../domain/text.ts'
import { quote } from './notation.ts'
import { type FileRule, type Place, type ProjectEntry, placesThatDiffer, projectKey, type RuleSchema } from './policy-schema.ts'

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

interface Easier {
  kind: ChangeKind
  part: ChangeKind
  member: keyof PolicyRule
  rule: PolicyRule
  /** The stricter rule, which decides about a part in this place. */
  than: PolicyRule
  place: Place
}

/** Says in which way a bundle would be easier than a part, and what to do. Follows the name of the key. */
export function easierSentence({ kind, part, member, rule, than, place }: Easier): string {
  const name = quote(than.name, 60)
  if (member === 'channels')
    return `must not let people request ${kind} where nobody can request ${part}${where(place)}: add the channel to ${name}, or name only its channels here`
  return `must not be easier for ${kind} than for ${part}, which ${name} decides${where(place)}: ${whatToDo(member, rule, than)}`
}

function whatToDo(member: keyof PolicyRule, rule: PolicyRule, than: PolicyRule): string {
  if (member === 'approve') return termsToDo(rule, than)
  if (member === 'request') return 'name only people and groups that may request there'
  if (member === 'breakGlass') return 'write never'
  if (member === 'needsReason') return 'write required'
  if (member === 'confirm') return 'write true'
  return `write ${writeDuration(than.expiresMs)} or less`
}

function termsToDo({ approve }: PolicyRule, than: PolicyRule): string {
  if (!approve || !than.approve) return 'name who approves'
  return easierTerms(approve, than.approve).map(termToDo).join(', and ')
}

function termToDo(easier: EasierTerms): string {
  if (easier.is === 'fewer') return `require at least ${easier.needed} approvals`
  if (easier.is === 'not-all') return `add ${easier.missing.join(' and ')} to all_of`
  return `remove ${easier.ids.join(' and ')}, who may not approve there`
}

/** Says that a bundle is denied in a place where its parts can be requested. */
export function uncoveredSentence({ kind, part, rule, place }: Pick<Easier, 'kind' | 'part' | 'rule' | 'place'>): string {
  const there = where(place) || ' in other places'
  return `${quote(rule.name, 60)} names ${kind}, so only rules that name it decide it. No such rule covers it${there}, where ${part} can be requested`
}

function where({ channelId, project: { id, name } }: Place): string {
  const parts = [id && `project ${quote(id, 100)}`, name && `project {name: ${quote(name, 100)}}`, channelId && `channel ${channelId}`]
  const known = parts.filter(Boolean)
  return known.length > 0 ? ` in ${known.join(' and ')}` : ''
}

/** The keys of the file for members of a rule that have other names there. */
const keys: Partial<Record<keyof PolicyRule, string>> = { breakGlass: 'self_approval', needsReason: 'reason', expiresMs: 'expires' }

interface Named {
  kind: ChangeKind
  part: ChangeKind
  /** The rules that name the bundle. */
  naming: PolicyRule[]
  places: Place[]
}

/** Returns the bundles that rules name. Every other bundle is decided as its parts are. */
function namedIn(policy: Policy): Named[] {
  return [...(policy.bundles ?? [])].flatMap(([kind, part]) => {
    const naming = policy.rules.filter((rule) => rule.changes.includes(kind))
    const places = placesThatDiffer([...naming, ...rulesNaming(policy, part)])
    return naming.length > 0 ? [{ kind, part, naming, places }] : []
  })
}

/**
 * Finds the rules by which a bundle would be easier than its parts: in some project and channel, such a rule decides about the bundle, and a
 * stricter one about a part. Also finds rules that let alerts request what alerts never request.
 */
export function bundleConflicts(policy: Policy): Conflict[] {
  return [...namedIn(policy).flatMap((named) => easierRules(policy, named)), ...idleAlerts(policy)]
}

function easierRules(policy: Policy, { kind, part, places }: Named): Conflict[] {
  const found = new Map<string, Conflict>()
  for (const place of places) {
    const own = firstMatchingRule(policy, { kind, ...place })
    if (own.is !== 'rule') continue
    const { rule } = own
    for (const { than, members } of partsOutdone(policy, rule, { kind: part, ...place })) {
      for (const member of members) {
        const path = ['rules', policy.rules.indexOf(rule), keys[member] ?? member]
        const id = [...path, policy.rules.indexOf(than)].join()
        if (!found.has(id)) found.set(id, { path, message: easierSentence({ kind, part, member, rule, than, place }) })
      }
    }
  }
  return [...found.values()]
}

function idleAlerts(policy: Policy): Conflict[] {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  const reached = new Set(kinds.flatMap((kind) => rulesNaming(policy, kind)))
  return policy.rules.flatMap((rule, index) => {
    if (!rule.alerts || reached.has(rule)) return []
    const message = `must not have alerts, which request only ${kinds.join(' and ')}: remove it, or add ${kinds.join(' or ')} to changes`
    return [{ path: ['rules', index, 'request'], message }]
  })
}

/**
 * Finds bundles that rules name only for some places, although their parts can be requested in other places: there the bundle is denied.
 */
export function bundleWarnings(policy: Policy): Conflict[] {
  return namedIn(policy).flatMap(({ kind, part, naming: [first], places }) => {
    const denied = places.find((place) => {
      return (
        firstMatchingRule(policy, { kind, ...place }).is === 'none' && firstMatchingRule(policy, { kind: part, ...place }).is === 'rule'
      )
    })
    if (!denied || !first) return []
    const message = uncoveredSentence({ kind, part, rule: first, place: denied })
    return [{ path: ['rules', policy.rules.indexOf(first), 'changes'], message }]
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
