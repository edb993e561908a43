import type { Grant } from '../../domain/ruling.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { mentionOf } from './approvers.ts'

/** Says which rule allowed an action, and via which person or group: `APPROVERS: @oncall`. */
export function grantWords({ rule, via }: Grant): Mrkdwn {
  return rule === undefined ? viaWords(via) : mrkdwn`${rule}: ${viaWords(via)}`
}

function viaWords(via: string): Mrkdwn {
  switch (via) {
    case 'member':
      return mrkdwn`every full member can request`
    case 'requester':
      return mrkdwn`the requester`
    case 'no-approval':
      return mrkdwn`no approval needed`
    default:
      return mentionOf(via)
  }
}
