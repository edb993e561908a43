import { type ApproveTerms, approvalsNeeded, approversOf, type Group, type PolicyRule } from './policy.ts'

type Member = keyof PolicyRule

/**
 * Says for each member whether it makes a rule easier than another one. It lists every member of a rule, so that a new member does not
 * compile without an entry here. User groups are compared by id, because their members change.
 */
const easierBy: Record<Member, (rule: PolicyRule, than: PolicyRule) => boolean> = {
  // Easier, because people may request who could not request the other change.
  request: ({ request }, than) => than.request !== undefined && (request === undefined || !isWithin(request, than.request)),
  approve: ({ approve }, than) => than.approve !== undefined && (approve === undefined || easierTerms(approve, than.approve).length > 0),
  breakGlass: (rule, than) => than.approve !== undefined && rule.breakGlass && !than.breakGlass,
  confirm: (rule, than) => rule.approve !== undefined && than.approve !== undefined && !rule.confirm && than.confirm,
  needsReason: (rule, than) => than.needsReason && !rule.needsReason,
  // Easier, because the reasons for a change go out of date: a late approval is worth less.
  expiresMs: (rule, than) => rule.approve !== undefined && than.approve !== undefined && rule.expiresMs > than.expiresMs,
  // These members say what a rule applies to. Matching finds the other rule for the same change.
  name: () => false,
  changes: () => false,
  projects: () => false,
  channels: () => false,
  // A request by an alert also needs the approvers.
  alerts: () => false,
  // A mention only notifies people.
  mention: () => false,
}

/** Returns the members in which a rule is easier than another one. Empty: whatever the rule allows, the other one allows as well. */
export function easierMembers(rule: PolicyRule, than: PolicyRule): Member[] {
  return (Object.keys(easierBy) as Member[]).filter((member) => easierBy[member](rule, than))
}

/** How terms can be easier: they need fewer people, or lack somebody of `allOf`, or accept another approver. */
export type EasierTerms = { is: 'fewer'; needed: number } | { is: 'not-all'; missing: string[] } | { is: 'others'; ids: string[] }

/** Returns how terms are easier than others. Empty: people who satisfy these terms also satisfy the others. */
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

function idsOf({ users, userGroups }: Group): string[] {
  return [...users, ...userGroups]
}
