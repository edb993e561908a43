import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { partsOutdone } from '../../domain/policy/deciding-rule.ts'
import { firstMatchingRule, rulesNaming } from '../../domain/policy/find-rules.ts'
import type { Policy, PolicyRule } from '../../domain/policy/policy.ts'
import { easierSentence, uncoveredSentence } from './bundle-sentences.ts'
import type { Conflict } from './conflicts.ts'
import { type Place, placesThatDiffer } from './places.ts'

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
