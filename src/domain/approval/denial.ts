import { z } from 'zod'
import { ApproveTerms, Group } from '../policy/policy.ts'

/** What a person attempted when they were denied because of who or where they are. */
export type DeniedAction = 'read' | 'request' | 'decide'
const action = z.enum(['read', 'request', 'decide'] satisfies DeniedAction[])

/** Denials because of who the person is, or what kind of channel it is. The last two mean that Slack did not answer. */
const whoOrWhere = z.object({
  code: z.literal(['guest', 'bot', 'deactivated', 'other-workspace', 'shared-channel', 'person-unknown', 'channel-unknown']),
  action,
})

export const InvolvedDenial = z.literal(['not-involved', 'only-involved-may-withdraw'])
export type InvolvedDenial = z.infer<typeof InvolvedDenial>

/** Denials by the policy. */
const byPolicy = [
  z.object({ code: z.literal('direct-message') }),
  /** Lockkeeper is not a member of the channel, so it could not post the request there. */
  z.object({ code: z.literal('not-in-channel') }),
  /** The person chose a private channel, and Slack does not list them among its members. */
  z.object({ code: z.literal('foreign-channel') }),
  /** `channels`: those in which a rule for this kind of change applies. */
  z.object({ code: z.literal('no-rule'), kind: z.string(), channels: z.array(z.string()) }),
  /** The rule depends on the project, and the account API did not show it. */
  z.object({ code: z.literal('project-unknown'), rule: z.string() }),
  z.object({ code: z.literal('not-a-requester'), requesters: Group }),
  /** Alerts may request nothing under this rule. */
  z.object({ code: z.literal('alerts-not-named'), rule: z.string() }),
  /** The rule needs no approval, but a request by an alert always needs one. */
  z.object({ code: z.literal('alerts-need-approval'), rule: z.string() }),
  z.object({ code: z.literal('not-an-approver'), approvers: ApproveTerms }),
  /** Somebody who neither requested a change nor may approve it wants to withdraw it, or to stop its tracking or start it again. */
  z.object({ code: InvolvedDenial, requester: z.string(), approvers: ApproveTerms }),
  /** `needed`: the number of other people who must approve. `requester`: set if it is a machine. */
  z.object({ code: z.literal('too-few-approvers'), rule: z.string(), needed: z.number(), requester: z.string().optional() }),
  /** Slack did not list the members of a user group. */
  z.object({ code: z.literal('group-unknown') }),
  /** Requesters cannot decide their own requests. */
  z.object({ code: z.literal('own-request') }),
  /** The policy no longer has the rule of the request. */
  z.object({ code: z.literal('rule-gone') }),
  z.object({
    code: z.literal(['only-requester-may-issue', 'only-requester-may-withdraw', 'only-requester-may-break-glass']),
    requester: z.string(),
  }),
] as const

/**
 * Why a button does nothing. `stale-card`: it is not on the card of its request. `foreign-button`: it was made for something else.
 * `unknown-request`: the request is gone. `changed-record`: the record is not what was requested. `unknown-key`: it was signed with a key
 * that this process does not have. `other-version`: another version of Lockkeeper wrote the request, and this one does not know its kind,
 * its state or its content.
 */
export const ButtonDenial = z.object({
  code: z.literal(['stale-card', 'foreign-button', 'unknown-request', 'changed-record', 'unknown-key', 'other-version']),
})
export type ButtonDenial = z.infer<typeof ButtonDenial>

/** Why a person may not do something. It is stored as facts and put into words where it is shown. */
export const Denial = z.discriminatedUnion('code', [whoOrWhere, ...byPolicy, ButtonDenial])
export type Denial = z.infer<typeof Denial>
export type DenialCode = Denial['code']

const unanswered: readonly DenialCode[] = ['person-unknown', 'channel-unknown', 'group-unknown']

/** Whether the reason is that Slack did not answer, and not a rule. */
export function isForLackOfAnswer({ code }: Denial): boolean {
  return unanswered.includes(code)
}
