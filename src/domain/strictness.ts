import { type ApproveTerms, approvalsNeeded, approversOf, type Group, type PolicyRule } from './policy.ts'

type Member = keyof PolicyRule

/**
 * How each member makes a rule easier than another one. It has every member of a rule, so that nobody adds one without deciding this.
 * Members of user groups change, so a person in a group is never taken for one of its members.
 */
const easierBy: Record<Member, (rule: PolicyRule, than: PolicyRule) => boolean> = {
  // The request may come from people who could not request the other change.
  request: ({ request }, than) => than.request !== undefined && (request === undefined || !isWithin(request, than.request)),
  approve: ({ approve }, than) => than.approve !== undefined && (approve === undefined || easierTerms(approve, than.approve).length > 0),
  breakGlass: (rule, than) => than.approve !== undefined && rule.breakGlass && !than.breakGlass,
  confirm: (rule, than) => rule.approve !== undefined && than.approve !== undefined && !rule.confirm && than.confirm,
  needsReason: (rule, than) => than.needsReason && !rule.needsReason,
  // The reasons for a change go out of date, so a late approval is an easy one.
  expiresMs: (rule, than) => rule.approve !== undefined && than.approve !== undefined && rule.expiresMs > than.expiresMs,
  // These say what a rule is for. Which other rule is for the same is found by matching.
  name: () => false,
  changes: () => false,
  projects: () => false,
  channels: () => false,
  // What alerts request needs people, whom `approve` names.
  alerts: () => false,
  // A mention calls people, and nothing waits for them.
  mention: () => false,
}

/** Returns the members in which a rule is easier than another one. Empty: whatever the rule allows, the other one allows as well. */
export function easierMembers(rule: PolicyRule, than: PolicyRule): Member[] {
  return (Object.keys(easierBy) as Member[]).filter((member) => easierBy[member](rule, than))
}

/** How terms can be easier: they need fewer people, or not somebody of `allOf`, or somebody else counts. */
export type EasierTerms = { is: 'fewer'; needed: number } | { is: 'not-all'; missing: string[] } | { is: 'others'; ids: string[] }

/** Returns in what terms are easier than others. Empty: people who are enough for them are enough for the others as well. */
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

export function idsOf({ users, userGroups }: Group): string[] {
  return [...users, ...userGroups]
}
