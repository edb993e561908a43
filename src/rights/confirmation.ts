import type { Origin } from '../domain/approval.ts'
import { approvalsNeeded, approverGroupsOf, approversOf, type PolicyRule } from '../domain/policy.ts'
import type { Approval, AuthorityProblem, Confirmed, Passed, Request } from '../domain/request.ts'
import { Refusal } from '../slack/errors.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { type Judging, members, ruleOf } from './judge.ts'

/** What a person confirms. `reason`: of an emergency, and `passed`: what held the request when they read it. */
export interface ConfirmedAct {
  to: 'approve' | 'emergency' | 'break-glass' | 'start-now'
  by: string
  reason?: string | undefined
  passed?: Passed[] | undefined
}

/** What a person confirms with an approval. */
export function actOf({ by, emergency, reason, passed }: Pick<Approval, 'by' | 'emergency' | 'reason' | 'passed'>): ConfirmedAct {
  return emergency ? { to: 'emergency', by, reason, passed } : { to: 'approve', by }
}

/** What an ability confirms approvals with. */
export interface Confirmation {
  /** What answers a person's click: a way to confirm it. Throws a Refusal if they have none. */
  ask: (request: Request, act: ConfirmedAct, origin: Origin) => Promise<Message>
  /** Whether a proof is of exactly this act on exactly this request, and is still worth something. Throws StoreUnavailableError. */
  verify: (request: Request, act: ConfirmedAct, proof: Confirmed['proof']) => Promise<'confirmed' | 'unknown-key' | 'not-confirmed'>
  /** Those of these people who can confirm something now. */
  able: (userIds: string[]) => Promise<Set<string>>
  /** What the doctor says of it. `fix`: what to do about a problem. */
  checks: () => Promise<{ words: Mrkdwn; fix?: Mrkdwn }[]>
}

export interface Confirming extends Judging {
  /** By the names that rules give them. */
  confirmations: Record<string, Confirmation>
}

/** A rule asks for more than a click. Nothing was approved yet; whoever took the click answers with `ask`. */
export class ConfirmationRequired extends Refusal {
  override name = 'ConfirmationRequired'
  readonly ask: (origin: Origin) => Promise<Message>

  constructor(ask: (origin: Origin) => Promise<Message>) {
    super('confirmation-required', mrkdwn`Not approved yet: confirm it first.`)
    this.ask = ask
  }
}

/** Returns what confirms an act under the rule of its request. Undefined if the rule asks for nothing. Throws ConfirmationRequired, or a Refusal. */
export async function requireConfirmed(
  app: Confirming,
  request: Request,
  act: ConfirmedAct,
  confirmed: Confirmed | undefined,
): Promise<Confirmed | undefined> {
  const rule = ruleOf(app, request)
  if (rule?.confirmBy === undefined) return undefined
  const confirmation = confirmationOf(app, rule)
  if (!confirmed && confirmation) throw new ConfirmationRequired((origin) => confirmation.ask(request, act, origin))
  if (await confirmationProblem(app, rule, request, act, confirmed))
    throw new Refusal('not-confirmed', mrkdwn`Not approved: the confirmation isn't valid. Press the button again.`)
  return confirmed
}

/** Refuses somebody who could not confirm the act, before they fill in its form. */
export async function requireAble(app: Confirming, request: Request, act: ConfirmedAct, origin: Origin): Promise<void> {
  const rule = ruleOf(app, request)
  if (rule && !(await ableToConfirm(app, rule, [act.by])).has(act.by)) await confirmationOf(app, rule)?.ask(request, act, origin)
}

/** Why an act does not count under a rule that asks for a confirmation. Undefined if it does. Throws StoreUnavailableError. */
export async function confirmationProblem(
  app: Confirming,
  rule: PolicyRule,
  request: Request,
  act: ConfirmedAct,
  confirmed: Confirmed | undefined,
): Promise<AuthorityProblem | undefined> {
  if (rule.confirmBy === undefined) return undefined
  const confirmation = confirmationOf(app, rule)
  if (!confirmed || !confirmation || confirmed.with !== rule.confirmBy) return { code: 'confirmation-needed-now' }
  const verdict = await confirmation.verify(request, act, confirmed.proof)
  if (verdict === 'unknown-key') return { code: 'unknown-key' }
  return verdict === 'confirmed' ? undefined : { code: 'confirmation-lost' }
}

/** Of people who may approve, those who can also confirm it, if the rule asks for that. */
export async function ableToConfirm(app: Confirming, rule: PolicyRule, userIds: string[]): Promise<Set<string>> {
  if (rule.confirmBy === undefined) return new Set(userIds)
  return (await confirmationOf(app, rule)?.able(userIds)) ?? new Set()
}

/** Of each rule that asks for a confirmation: how many it needs, and who of its approvers can give one, as far as Slack lists them. */
export async function whoConfirms(app: Confirming): Promise<{ rule: PolicyRule; needed: number; able: string[]; unable: string[] }[]> {
  const asking = app.config.policy.rules.filter(({ confirmBy }) => confirmBy !== undefined)
  return Promise.all(
    asking.map(async (rule) => ({
      rule,
      needed: rule.approve ? approvalsNeeded(rule.approve) : 0,
      ...(await confirmersOf(app, rule)),
    })),
  )
}

/** Who of the approvers of a rule can confirm an approval, and who cannot, as far as Slack lists them. */
export async function confirmersOf(app: Confirming, rule: PolicyRule): Promise<{ able: string[]; unable: string[] }> {
  if (rule.confirmBy === undefined) return { able: [], unable: [] }
  const { users } = rule.approve ? approversOf(rule.approve) : { users: [] }
  const groups = [...(await members(app, approverGroupsOf(rule), 'refusal')).values()]
  const all = [...new Set([...users, ...groups.flatMap((group) => (group === 'unknown' ? [] : [...group]))])]
  const able = await ableToConfirm(app, rule, all)
  return { able: [...able], unable: all.filter((id) => !able.has(id)) }
}

function confirmationOf({ confirmations }: Confirming, { confirmBy = '' }: PolicyRule): Confirmation | undefined {
  return Object.hasOwn(confirmations, confirmBy) ? confirmations[confirmBy] : undefined
}
