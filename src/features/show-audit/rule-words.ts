import type { AuditEntry } from '../../audit/entry.ts'
import { grantWords } from '../../requests/messages/grants.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says what allowed something: `by the rule APPROVERS: @oncall`. Empty if the entry does not tell. */
export function ruleWords({ act, rule, via }: AuditEntry): Mrkdwn[] {
  if (rule === undefined) return via === undefined ? [] : [mrkdwn`as ${grantWords({ via })}`]
  const grant = via === undefined ? mrkdwn`${rule}` : grantWords({ rule, via })
  return [mrkdwn`by the rule ${grant}${act === 'break-glass' ? ' (break-glass)' : ''}`]
}
