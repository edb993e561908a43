import { approverRuling, requesterOfKindRuling, requesterRuling } from '../../domain/approval/approval.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { Person, Requester } from '../../domain/approval/people.ts'
import type { Ruling } from '../../domain/approval/ruling.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { type KindOfChange, rulesOfKind } from '../../domain/policy/find-rules.ts'
import { approverGroupsOf, type Policy, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Catalog } from '../catalog.ts'
import type { People, Standings } from './standings.ts'

export interface KindRights {
  kind: ChangeKind
  request: Ruling
  /** The rules that can decide, in their order. Each names only the projects that no earlier one decides. */
  rules: { rule: PolicyRule; request: Ruling; approve: Ruling }[]
}

/** What a person may request and approve in a channel. */
export interface Rights {
  person: Person
  kinds: KindRights[]
  /** Whether Lockkeeper can post requests there. */
  hasBot: boolean | 'unknown'
}

interface RightsParts {
  people: Pick<People, 'hasBot'>
  standings: Standings
  policy: Policy
  catalog: Pick<Catalog, 'kinds' | 'hasProject'>
}

/** Creates the function that lists what a person may request and approve in a channel, by kind and rule. */
export function createRights({ people, standings, policy, catalog }: RightsParts) {
  return async function rights(origin: Origin): Promise<Rights> {
    const { channelId } = origin
    const kinds = catalog.kinds().map((kind) => ({ kind, hasProject: catalog.hasProject(kind) }))
    const groups = kinds.flatMap((change) => rulesOfKind(policy, { ...change, channelId }).flatMap(groupsNamedIn))
    const { person, place } = await standings.personAndPlace(origin, channelId, { fresh: true })
    const membership = await standings.members(groups, 'refusal')
    // The read of the place has just cached the channel, so this costs a call only where Lockkeeper is not a member.
    const hasBot = await people.hasBot(channelId)
    return { person, hasBot, kinds: kinds.map((change) => rightsFor(change, { person, place, membership })) }
  }

  function rightsFor(change: KindOfChange, requester: Requester): KindRights {
    const rules = rulesOfKind(policy, { ...change, channelId: requester.place.channelId }).map((rule) => ({
      rule,
      request: requesterRuling(requester, rule),
      // With no requester, this is the right to approve requests of others.
      approve: approverRuling({ ...requester, requesterId: '', rule }),
    }))
    return { kind: change.kind, request: requesterOfKindRuling(requester, change, policy), rules }
  }
}

function groupsNamedIn(rule: PolicyRule): string[] {
  return [...(rule.request?.userGroups ?? []), ...approverGroupsOf(rule)]
}
