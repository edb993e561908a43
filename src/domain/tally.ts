import { findIn, type Membership, standsFor } from './people.ts'
import { type ApproveTerms, approvalsNeeded, approversOf } from './policy.ts'

/**
 * Whether these people together are enough, by what Slack says of the groups now: enough different ones, and for each who must be
 * heard another one. `missing`: how many more it takes at least.
 */
export function tallyApprovals(terms: ApproveTerms, userIds: string[], membership: Membership): { enough: boolean; missing: number } {
  const among = approversOf(terms)
  const people = [...new Set(userIds)].filter((id) => typeof findIn(among, id, membership) === 'object')
  const heard = mostHeard(terms.allOf, people, membership)
  const missing = Math.max(approvalsNeeded(terms) - people.length, terms.allOf.length - heard, 0)
  return { enough: missing === 0, missing }
}

/** For how many of those who must be heard there is a person of their own (a maximum matching; both sides are few). */
function mostHeard(parties: string[], people: string[], membership: Membership): number {
  const speaksFor = new Map<string, string>()
  const find = (party: string, tried: Set<string>): boolean => {
    for (const person of people) {
      if (tried.has(person) || !standsFor(party, person, membership)) continue
      tried.add(person)
      const other = speaksFor.get(person)
      if (other !== undefined && !find(other, tried)) continue
      speaksFor.set(person, party)
      return true
    }
    return false
  }
  return parties.filter((party) => find(party, new Set())).length
}
