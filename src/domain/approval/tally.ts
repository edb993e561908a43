import { type ApproveTerms, approvalsNeeded, approversOf } from '../policy/policy.ts'
import { findIn, type Membership, standsFor } from './people.ts'

/**
 * Checks whether these people are enough: enough different approvers, and a different person for each member of `allOf`. `missing` is the
 * least number of further approvals.
 */
export function tallyApprovals(terms: ApproveTerms, userIds: string[], membership: Membership): { enough: boolean; missing: number } {
  const among = approversOf(terms)
  const people = [...new Set(userIds)].filter((id) => typeof findIn(among, id, membership) === 'object')
  const satisfied = mostSatisfied(terms.allOf, people, membership)
  const missing = Math.max(approvalsNeeded(terms) - people.length, terms.allOf.length - satisfied, 0)
  return { enough: missing === 0, missing }
}

/** Counts the members of `allOf` that can be given different people. This is a maximum matching of two short lists. */
function mostSatisfied(allOf: string[], people: string[], membership: Membership): number {
  const assigned = new Map<string, string>()
  const assign = (id: string, tried: Set<string>): boolean => {
    for (const person of people) {
      if (tried.has(person) || !standsFor(id, person, membership)) continue
      tried.add(person)
      const other = assigned.get(person)
      if (other !== undefined && !assign(other, tried)) continue
      assigned.set(person, id)
      return true
    }
    return false
  }
  return allOf.filter((id) => assign(id, new Set())).length
}
