import { judgeApprover, judgeReader, judgeRequester, type Membership, type Person, type Rules, type Ruling } from '../domain/approval.ts'
import type { Origin } from '../domain/origin.ts'
import type { Request } from '../domain/request.ts'
import type { Need } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import { ownWords } from '../slack/text.ts'

export interface People {
  person(userId: string): Promise<Person>
  members(groupIds: string[]): Promise<Membership>
}

/** Gathers what Slack knows of a person and judges by the rules, anew at every act. */
export function createAccess({ people, rules }: { people: People; rules: Rules }) {
  async function toRead(origin: Origin): Promise<Ruling> {
    return judgeReader(await people.person(origin.userId), origin.teamId)
  }

  async function toRequest(origin: Origin): Promise<Ruling> {
    const [person, membership] = await Promise.all([people.person(origin.userId), people.members(rules.operators?.userGroups ?? [])])
    return judgeRequester(person, origin, rules, membership)
  }

  async function toDecide(userId: string, request: Request): Promise<Ruling> {
    const [person, membership] = await Promise.all([people.person(userId), people.members(rules.approvers.userGroups)])
    return judgeApprover(person, { requesterId: request.origin.userId, teamId: request.origin.teamId }, rules, membership)
  }

  /** Refuses, in words, where the person may not. */
  async function gate(origin: Origin, need: Need): Promise<void> {
    const ruling = await (need === 'read' ? toRead(origin) : toRequest(origin))
    if (!ruling.allowed) throw refusalOf(ruling)
  }

  async function may(origin: Origin): Promise<Record<Need, boolean>> {
    const [read, request] = await Promise.all([toRead(origin), toRequest(origin)])
    return { read: read.allowed, request: request.allowed }
  }

  return { rules, toDecide, gate, may }
}
export type Access = ReturnType<typeof createAccess>

/** The sentences of rulings are ours, with mentions of people and channels by id. */
export function refusalOf(ruling: Extract<Ruling, { allowed: false }>): Refusal {
  return new Refusal(ownWords(ruling.why))
}
