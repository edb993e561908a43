import { channelMention, code, mrkdwn } from '../../../slack/text/text.ts'
import type { SetupFacts } from '../facts.ts'
import { listOf } from './phrases.ts'
import { type CheckResult, ok, subjects, wrong } from './result.ts'

/**
 * Checks whether alerts lead to requests. No line if alerts are not set up. Another check finds whether Lockkeeper is in their channels.
 */
export function alerts({ alerts: { isOn, routes } }: SetupFacts): CheckResult[] {
  const what = subjects.alerts
  const entries = listOf(routes.map(({ name, channelId }) => mrkdwn`“${name}” in ${channelMention(channelId)}`))
  if (isOn && routes.length > 0) return [ok(what, mrkdwn`On. They can request evacuations: ${entries}.`)]
  if (isOn)
    return [wrong(what, mrkdwn`On, but no entry of the policy is for them.`, mrkdwn`Add ${code('alerts')} to ${code('POLICY_FILE')}.`)]
  if (routes.length === 0) return []
  return [
    wrong(what, mrkdwn`Off, although the policy has entries: ${entries}.`, mrkdwn`Set ${code('ALERTS_PORT')} and ${code('ALERTS_TOKEN')}.`),
  ]
}
