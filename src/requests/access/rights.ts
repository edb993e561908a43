import { judgeApprover, judgeRequester, judgeRequesterOfKind } from '../../domain/approval.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Origin } from '../../domain/origin.ts'
import type { Person, Requester } from '../../domain/people.ts'
import { approverGroupsOf, type Policy, type PolicyRule, rulesOfKind } from '../../domain/policy.ts'
import type { Ruling } from '../../domain/ruling.ts'
import type { Standings } from './standings.ts'

export interface KindRights {
  kind: ChangeKind
  request: Ruling
  rules: { rule: PolicyRule; request: Ruling; approve: Ruling }[]
}

interface RightsParts {
  standings: Standings
  policy: Policy
  /** Returns every kind that can be requested. */
  kinds: () => ChangeKind[]
}

/** Creates the function that lists what a person may request and approve in a channel, by kind and rule. */
export function createRights({ standings, policy, kinds }: RightsParts) {
  return async function rights(origin: Origin): Promise<{ person: Person; kinds: KindRights[] }> {
    const { channelId } = origin
    const groups = kinds().flatMap((kind) => rulesOfKind(policy, kind, channelId).flatMap(groupsNamedIn))
    const { person, place } = await standings.personAndPlace(origin, channelId, { fresh: true })
    const membership = await standings.members(groups)
    return { person, kinds: kinds().map((kind) => rightsFor(kind, { person, place, membership })) }
  }

  function rightsFor(kind: ChangeKind, { person, place, membership }: Requester): KindRights {
    const rules = rulesOfKind(policy, kind, place.channelId).map((rule) => ({
      rule,
      request: judgeRequester(person, place, rule, membership),
      // With no requester, this is the right to approve requests of others.
      approve: judgeApprover(person, place, '', rule, membership),
    }))
    return { kind, request: judgeRequesterOfKind(person, place, kind, policy, membership), rules }
  }
}

function groupsNamedIn(rule: PolicyRule): string[] {
  return [...(rule.request?.userGroups ?? []), ...approverGroupsOf(rule)]
}
