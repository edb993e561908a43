import type { AuditNote } from '../../audit/entry.ts'
import {
  type ChannelStanding,
  judgeApprover,
  judgeBreakGlass,
  judgeReader,
  judgeRequester,
  judgeRequesterOfKind,
  type Membership,
  noRule,
  type Person,
  type Place,
  type Ruling,
  tallyApprovals,
} from '../../domain/approval.ts'
import { type ChangeKind, changeKinds } from '../../domain/change-kind.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Origin } from '../../domain/origin.ts'
import {
  approvalsNeeded,
  approversOf,
  groupsOf,
  type Policy,
  type PolicyRule,
  type Project,
  ruleFor,
  rulesOfKind,
} from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import type { Need } from '../../slack/commands/commands.ts'
import { Refusal } from '../../slack/errors.ts'
import { ownWords } from '../../slack/text/text.ts'
import { noteOf } from '../store/store.ts'

/** Who people are and what channels are, by Slack's own word. Whatever it does not tell is told as `unknown`. */
export interface People {
  /** `fresh`: asked again where what is known is older than a few seconds. */
  person(userId: string, options?: { fresh?: boolean }): Promise<Person>
  members(groupIds: string[], options?: { fresh?: boolean }): Promise<Membership>
  channel(channelId: string): Promise<ChannelStanding>
}

export interface KindRights {
  kind: ChangeKind
  ask: Ruling
  rules: { rule: PolicyRule; ask: Ruling; approve: Ruling }[]
}

interface AccessParts {
  people: People
  policy: Policy
  /** The workspace that the bot belongs to. A click may come with the workspace of whoever clicked. */
  homeTeamId: () => string | undefined
  /** Where a request's change belongs now, by its record. */
  projectOf: (request: Request) => Project
  /** Writes down what was refused; never throws. */
  noteRefusal: (note: AuditNote) => Promise<void>
}

export type Act =
  /** Anything at all: every command, click, submission and option load. */
  | { to: 'read'; what?: string }
  /** A change of this kind, under whichever rule will hold for it. */
  | { to: 'ask'; kind: ChangeKind }
  | { to: 'decide'; request: Request }
  | { to: 'break-glass'; request: Request }
  /** What only the requester may: withdraw it, take what was made. */
  | { to: 'own'; request: Request; otherwise: string }

/** Gathers what Slack knows of a person and judges by the policy, anew at every act. The one place that says who may do what. */
export function createAccess({ people, policy, homeTeamId, projectOf, noteRefusal }: AccessParts) {
  /** `fresh`: by what Slack says now, and not by what it said seconds ago. */
  async function judge(origin: Origin, act: Act, fresh = { fresh: false }): Promise<Ruling> {
    const channelId = act.to === 'read' || act.to === 'ask' ? origin.channelId : act.request.origin.channelId
    const [person, place] = await Promise.all([people.person(origin.userId, fresh), placeOf(origin, channelId)])
    switch (act.to) {
      case 'read':
        return judgeReader(person, place)
      case 'ask':
        return judgeRequesterOfKind(
          person,
          place,
          act.kind,
          policy,
          await members(rulesOfKind(policy, act.kind, channelId).flatMap(askersOf)),
        )
      case 'own': {
        const reader = judgeReader(person, place)
        if (!reader.allowed) return reader
        return act.request.origin.userId === origin.userId
          ? { allowed: true, rule: 'who asked for it' }
          : { allowed: false, why: act.otherwise }
      }
      case 'decide': {
        const rule = ruleOf(act.request)
        return judgeApprover(person, place, act.request.origin.userId, rule, await members(rule ? groupsOf(rule) : [], fresh))
      }
      case 'break-glass': {
        const rule = ruleOf(act.request)
        if (!rule || act.request.origin.userId !== origin.userId)
          return judgeApprover(person, place, act.request.origin.userId, rule, new Map())
        return judgeBreakGlass(person, place, rule, await members(groupsOf(rule), fresh))
      }
    }
  }

  async function placeOf({ teamId }: Origin, channelId: string): Promise<Place> {
    return { channelId, teamId: homeTeamId() ?? teamId, standing: channelId === '' ? 'none' : await people.channel(channelId) }
  }

  async function members(groupIds: string[], options?: { fresh: boolean }): Promise<Membership> {
    return people.members([...new Set(groupIds)], options)
  }

  /** The ruling for what it allows; throws a Refusal, in words, where the person may not, and writes that down. */
  async function authorize(origin: Origin, act: Act): Promise<string> {
    const ruling = await judge(origin, act, { fresh: act.to !== 'read' })
    if (ruling.allowed) return ruling.rule
    await noteRefusal({ ...subjectOf(origin, act), by: origin.userId, act: 'refused', attempted: act.to })
    throw refusalOf(ruling.why)
  }

  function subjectOf({ channelId, teamId }: Origin, act: Act): AuditNote {
    if (act.to === 'read') return { act: 'refused', text: act.what, channelId, teamId }
    if (act.to === 'ask') return { act: 'refused', kind: act.kind, channelId, teamId }
    return noteOf(act.request, 'refused', {})
  }

  /** The gate of a command. */
  async function gate(origin: Origin, need: Need): Promise<void> {
    await authorize(origin, need === 'read' ? { to: 'read' } : { to: 'ask', kind: need })
  }

  async function may(origin: Origin, needs: Need[]): Promise<Need[]> {
    const unique = [...new Set(needs)]
    const rulings = await Promise.all(unique.map((need) => judge(origin, need === 'read' ? { to: 'read' } : { to: 'ask', kind: need })))
    return unique.filter((_, index) => rulings[index]?.allowed)
  }

  /**
   * The rule that a change is asked for under, once its project is known, and what could not be checked. Throws a Refusal where nobody
   * may ask for it here, this person may not, or too few people could approve it.
   */
  async function admit(origin: Origin, kind: ChangeKind, project: Project): Promise<{ rule: PolicyRule; unchecked: Finding[] }> {
    const refuse = async (why: string) => {
      await noteRefusal({ ...subjectOf(origin, { to: 'ask', kind }), by: origin.userId, attempted: 'ask' })
      return refusalOf(why)
    }
    const found = ruleFor(policy, { kind, channelId: origin.channelId, project })
    if (found.is === 'none') throw await refuse(noRule(policy, kind))
    const { rule } = found
    if (found.is === 'project-unknown') {
      throw await refuse(
        `Whether the rule “${rule.name}” holds depends on the project, and the account API does not tell it just now. Nothing was asked for: try again in a minute.`,
      )
    }
    const [person, place] = await Promise.all([people.person(origin.userId, { fresh: true }), placeOf(origin, origin.channelId)])
    const ruling = judgeRequester(person, place, rule, await members(askersOf(rule)))
    if (!ruling.allowed) throw await refuse(ruling.why)
    const approvers = await checkApprovers(rule, origin)
    if (approvers === 'too few') throw await refuse(tooFewApprovers(rule))
    return {
      rule,
      unchecked: [
        ...(approvers === 'unknown' ? [{ code: 'approvers-unknown' }] : []),
        ...(place.standing === 'unreadable' ? [{ code: 'channel-unreadable' }] : []),
      ],
    }
  }

  /** Whether those who could approve it, without the requester, would be enough. */
  async function checkApprovers(rule: PolicyRule, origin: Origin): Promise<'enough' | 'too few' | 'unknown'> {
    if (!rule.approve) return 'enough'
    const membership = await members(groupsOf(rule))
    if ([...membership.values()].includes('unknown')) return 'unknown'
    const named = approversOf(rule.approve)
    const inGroups = [...membership.values()].flatMap((group) => (group === 'unknown' ? [] : [...group]))
    const eligible: string[] = []
    for (const userId of new Set([...named.users, ...inGroups])) {
      if (userId === origin.userId && !rule.breakGlass) continue
      const person = await people.person(userId)
      if (person.standing === 'unknown') return 'unknown'
      const teamId = homeTeamId() ?? origin.teamId
      if (person.standing !== 'member' || (teamId !== undefined && person.teamId !== teamId)) continue
      eligible.push(userId)
      if ((userId === origin.userId && rule.breakGlass) || tallyApprovals(rule.approve, eligible, membership).enough) return 'enough'
    }
    return 'too few'
  }

  /** What somebody may ask for and approve in a channel, kind by kind and rule by rule. */
  async function rights(origin: Origin): Promise<{ person: Person; kinds: KindRights[] }> {
    const [person, place] = await Promise.all([people.person(origin.userId, { fresh: true }), placeOf(origin, origin.channelId)])
    const rules = changeKinds.flatMap((kind) => rulesOfKind(policy, kind, origin.channelId))
    const membership = await members(rules.flatMap((rule) => [...askersOf(rule), ...groupsOf(rule)]))
    const kinds = changeKinds.map((kind) => ({
      kind,
      ask: judgeRequesterOfKind(person, place, kind, policy, membership),
      rules: rulesOfKind(policy, kind, origin.channelId).map((rule) => ({
        rule,
        ask: judgeRequester(person, place, rule, membership),
        approve: judgeApprover(person, place, '', rule, membership),
      })),
    }))
    return { person, kinds }
  }

  /** The policy's rule for a request as it is now. Undefined where there is none any more. */
  function ruleOf(request: Request): PolicyRule | undefined {
    const project = projectOf(request)
    const found = ruleFor(policy, { kind: request.kind, channelId: request.origin.channelId, project })
    return found.is === 'rule' ? found.rule : undefined
  }

  /** Whether these people's approvals are enough, by what Slack says of the groups now. */
  async function tally(request: Request, userIds: string[]): Promise<{ enough: boolean; missing: number; needed: number }> {
    const terms = ruleOf(request)?.approve
    if (!terms) return { enough: false, missing: 1, needed: 1 }
    const standing = await Promise.all(userIds.map((id) => people.person(id)))
    const still = standing.filter((person) => person.standing === 'member').map(({ userId }) => userId)
    return { ...tallyApprovals(terms, still, await members(approversOf(terms).userGroups)), needed: approvalsNeeded(terms) }
  }

  return { policy, judge, authorize, gate, may, admit, rights, tally, ruleOf }
}
export type Access = ReturnType<typeof createAccess>

function askersOf(rule: PolicyRule): string[] {
  return rule.request?.userGroups ?? []
}

function tooFewApprovers(rule: PolicyRule): string {
  const needed = rule.approve ? approvalsNeeded(rule.approve) : 1
  const who =
    needed === 1 ? 'Nobody else could approve this' : `It takes ${needed} approvals of other people, and fewer than that could give one`
  return `${who}: the rule “${rule.name}” names too few active members of this workspace. Nothing was asked for. The people who run this bot can name more.`
}

/** The sentences of rulings are ours, with mentions of people and channels by id. */
function refusalOf(why: string): Refusal {
  return new Refusal(ownWords(why))
}
