import { type FoundRule, firstMatchingRule, type RuleQuery, rulesNaming } from './find-rules.ts'
import type { Policy, PolicyRule } from './policy.ts'
import { easierMembers } from './strictness.ts'

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
