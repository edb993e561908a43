import { z } from 'zod'
import { ApproveTerms, Group } from './policy.ts'

/** What somebody wanted to do when who they are, or where they are, forbids it. */
export type DeniedAction = 'read' | 'ask' | 'decide'
const action = z.enum(['read', 'ask', 'decide'] satisfies DeniedAction[])

/** Who somebody is, or what kind of channel it is. The last two: Slack did not say. */
const whoOrWhere = z.object({
  code: z.literal(['guest', 'bot', 'deactivated', 'other-workspace', 'shared-channel', 'person-unknown', 'channel-unknown']),
  action,
})

/** What the policy says. */
const byPolicy = [
  z.object({ code: z.literal('direct-message') }),
  /** `channels`: where a rule for this kind of change holds. */
  z.object({ code: z.literal('no-rule'), kind: z.string(), channels: z.array(z.string()) }),
  /** The rule depends on the project, and the account API did not tell it. */
  z.object({ code: z.literal('project-unknown'), rule: z.string() }),
  z.object({ code: z.literal('not-a-requester'), requesters: Group }),
  z.object({ code: z.literal('not-an-approver'), approvers: ApproveTerms }),
  /** `needed`: how many other people have to approve. */
  z.object({ code: z.literal('too-few-approvers'), rule: z.string(), needed: z.number() }),
  /** Slack did not say who is in a user group. */
  z.object({ code: z.literal('group-unknown') }),
  /** The requester of something cannot decide it. */
  z.object({ code: z.literal('own-request') }),
  /** The policy does not say any more who decides it. */
  z.object({ code: z.literal('rule-gone') }),
  z.object({ code: z.literal(['not-yours-to-take', 'not-yours-to-withdraw', 'not-yours-to-break-glass']), requester: z.string() }),
] as const

/** A button that cannot be trusted: it is not on its card, was made for something else, or its request is gone or was changed. */
export const ButtonDenial = z.object({ code: z.literal(['stale-card', 'foreign-button', 'unknown-request', 'changed-record']) })
export type ButtonDenial = z.infer<typeof ButtonDenial>

/** Why somebody may not do something. It is stored like this, and put into words where it is shown. */
export const Denial = z.discriminatedUnion('code', [whoOrWhere, ...byPolicy, ButtonDenial])
export type Denial = z.infer<typeof Denial>
export type DenialCode = Denial['code']

const unanswered: readonly DenialCode[] = ['person-unknown', 'channel-unknown', 'group-unknown']

/** Whether it was denied because Slack did not answer, and not because the rules say no. */
export function isForLackOfAnswer({ code }: Denial): boolean {
  return unanswered.includes(code)
}
