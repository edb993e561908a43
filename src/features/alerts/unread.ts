import { code, type Mrkdwn, mrkdwn } from '../../slack/text.ts'

/** Why a delivery of alerts was not read. The set is small and fixed, because it is a label of metrics. */
export const unreadReasons = ['wrong-token', 'unreadable', 'too-large', 'too-many'] as const
export type UnreadReason = (typeof unreadReasons)[number]

/** Says to the operators why alerts were not read. Their sender repeats what was refused, but nothing that it left out. */
export function unread(reason: UnreadReason | 'truncated', count = 0): Mrkdwn {
  switch (reason) {
    case 'wrong-token':
      return mrkdwn`:warning: Somebody sent alerts with a token that isn't in ${code('ALERTS_TOKEN')}. They were not read. If they are yours, set the sender's token. Otherwise find out who sends them.`
    case 'too-large':
      return mrkdwn`:warning: A delivery of alerts has more than 1 MB or 1000 alerts. It was not read. Group alerts by more labels, or set ${code('max_alerts')}.`
    case 'truncated':
      return mrkdwn`:warning: The sender of alerts left out ${count} alerts of a group. Lockkeeper doesn't know them. Group alerts by more labels, or raise ${code('max_alerts')}.`
    default:
      return mrkdwn`:warning: A delivery of alerts, or a part of it, could not be read. Check that it comes from Alertmanager or Grafana.`
  }
}

export function forgedProposal(requestId: string): Mrkdwn {
  return mrkdwn`:rotating_light: Redis said that an alert had led to request ${requestId}, and it hadn't. Lockkeeper handled the alert as a new one. Find out who can write to Redis.`
}
