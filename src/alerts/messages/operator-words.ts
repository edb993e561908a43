import { channelMention, code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { RefusalReason } from '../outcome.ts'
import { mostAlerts } from '../payload/payload.ts'

/** Says to the operators that a channel does not take messages about alerts. `error`: Slack's code. */
export function unposted(channelId: string, error: string): Mrkdwn {
  return mrkdwn`:warning: Alerts can't be posted in ${channelMention(channelId)} (${error}), so they propose nothing there. Invite Lockkeeper to the channel, or name another one in the policy.`
}

/** Says to the operators why alerts were not read. Their sender repeats what was refused, but nothing that it left out. */
export function unread(reason: RefusalReason | 'truncated', count = 0): Mrkdwn {
  switch (reason) {
    case 'wrong-token':
      return mrkdwn`:warning: Somebody sent alerts with a token that isn't in ${code('ALERTS_TOKEN')}. They were not read. If they are yours, set the sender's token. Otherwise find out who sends them.`
    case 'too-large':
      return mrkdwn`:warning: A delivery of alerts has more than 1 MB or ${mostAlerts} alerts. It was not read. Group alerts by more labels, or set ${code('max_alerts')}.`
    case 'truncated':
      return mrkdwn`:warning: The sender of alerts left out ${count} alerts of a group. Lockkeeper doesn't know them. Group alerts by more labels, or raise ${code('max_alerts')}.`
    default:
      return mrkdwn`:warning: A delivery of alerts, or a part of it, could not be read. Check that it comes from Alertmanager or Grafana.`
  }
}

/** Says that Redis named a wrong request for an alert. */
export function forgedProposal(requestId: string): Mrkdwn {
  return mrkdwn`:rotating_light: Redis said that an alert had led to request ${requestId}, and it hadn't. Lockkeeper handled the alert as a new one. Find out who can write to Redis.`
}
