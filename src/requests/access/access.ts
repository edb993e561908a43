import type { AuditNote } from '../../audit/entry.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { Requester } from '../../domain/approval/people.ts'
import type { Grant } from '../../domain/approval/ruling.ts'
import { tallyApprovals } from '../../domain/approval/tally.ts'
import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { decidingRule } from '../../domain/policy/deciding-rule.ts'
import { rulesOfKind } from '../../domain/policy/find-rules.ts'
import { approvalsNeeded, approversOf, type Policy, type PolicyRule } from '../../domain/policy/policy.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Need } from '../../slack/commands/commands.ts'
import type { Catalog } from '../catalog.ts'
import type { NoteOf } from '../store/request-note.ts'
import { createAdmit } from './admit.ts'
import { createFormGate } from './form-gate.ts'
import { createJudge, type Intent } from './judge.ts'
import { createRefuse } from './refuse.ts'
import { createRights } from './rights.ts'
import { createStandings, type People } from './standings.ts'

interface AccessParts {
  people: People
  policy: Policy
  /** The workspace of the bot. A click may name the workspace of the person who clicked instead. */
  homeTeamId: () => string | undefined
  catalog: Pick<Catalog, 'projectOf' | 'labelOf' | 'kinds' | 'hasProject'>
  /** Notes a refusal in the audit. Never throws. */
  noteRefusal: (note: AuditNote) => Promise<void>
  noteOf: NoteOf
}

/**
 * Creates the checks of who may do what. No other code decides that. Everybody is checked for `read` first, then for what they request or
 * decide. A decision is checked by what Slack says at the click.
 */
export function createAccess({ people, policy, homeTeamId, catalog, noteRefusal, noteOf }: AccessParts) {
  const standings = createStandings({ people, homeTeamId })
  const { judge, judgeRequesting } = createJudge({ standings, policy, hasProject: catalog.hasProject, ruleOf })
  const refuse = createRefuse({ noteRefusal, noteOf, labelOf: catalog.labelOf })

  /** Returns what allows an intent. Throws a Refusal and notes it if the person may not. */
  async function authorize(origin: Origin, intent: Intent): Promise<Grant> {
    const ruling = await judge(origin, intent, { fresh: intent.to !== 'read' })
    if (!ruling.allowed) throw await refuse(origin, intent, ruling.denial)
    return ruling.grant
  }

  /** Throws a Refusal if no rule lets the person request this kind of change here. `admit` takes the result. */
  async function gate(origin: Origin, kind: ChangeKind): Promise<Requester> {
    const { ruling, requester } = await judgeRequesting(origin, kind, { fresh: true })
    if (!ruling.allowed) throw await refuse(origin, { to: 'request', kind }, ruling.denial)
    return requester
  }

  /** Returns the needs for which the person has the right. */
  async function may(origin: Origin, needs: Need[]): Promise<Need[]> {
    const unique = [...new Set(needs)]
    const rulings = await Promise.all(unique.map((need) => judge(origin, need === 'read' ? { to: 'read' } : { to: 'request', kind: need })))
    return unique.filter((_, index) => rulings[index]?.allowed)
  }

  /** Returns the current rule of the policy for a request, if any. */
  function ruleOf(request: Request): PolicyRule | undefined {
    const project = catalog.projectOf(request)
    const found = decidingRule(policy, { kind: request.kind, channelId: request.origin.channelId, project })
    return found.is === 'rule' ? found.rule : undefined
  }

  /**
   * Returns the name of the rule that requires a reason for a change of this kind in this channel. Undefined if a rule that can apply requires
   * none: the project of the change decides then.
   */
  function ruleWithReason(kind: ChangeKind, channelId: string): string | undefined {
    const rules = rulesOfKind(policy, { kind, channelId, hasProject: catalog.hasProject(kind) })
    return rules.every(({ needsReason }) => needsReason) ? rules.at(-1)?.name : undefined
  }

  /** Counts the approvals of these people, by the members of the groups. `allOf`: whom the rule requires. */
  async function tally(
    request: Request,
    userIds: string[],
    purpose: 'request' | 'refusal' = 'request',
  ): Promise<{ enough: boolean; missing: number; needed: number; allOf?: string[] }> {
    const terms = ruleOf(request)?.approve
    if (!terms) return { enough: false, missing: 1, needed: 1 }
    const found = await Promise.all(userIds.map((id) => standings.person(id, { fresh: true })))
    const members = found.filter((person) => person.standing === 'member').map(({ userId }) => userId)
    const membership = await standings.members(approversOf(terms).userGroups, purpose)
    return { ...tallyApprovals(terms, members, membership), needed: approvalsNeeded(terms), allOf: terms.allOf }
  }

  return {
    policy,
    judge,
    authorize,
    refuse,
    gate,
    ...createFormGate({ people, gate, refuse }),
    admit: createAdmit({ standings, policy, refuse }),
    may,
    rights: createRights({ people, standings, policy, catalog }),
    tally,
    ruleOf,
    ruleWithReason,
  }
}
export type Access = ReturnType<typeof createAccess>
