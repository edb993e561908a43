import type { Grant } from '../../domain/approval/ruling.ts'
import { isSetting } from '../../domain/policy/policy.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { mentionOf } from './approvers.ts'
import { ruleWords } from './rule-words.ts'

/** Says which rule allowed an action, and via which person or group: `rule “production”: @oncall`. */
export function grantWords({ rule, via }: Grant): Mrkdwn {
  // The setting APPROVERS does not say who may request.
  return rule === undefined || (isSetting(rule) && via === 'member') ? viaWords(via) : mrkdwn`${ruleWords(rule)}: ${viaWords(via)}`
}

function viaWords(via: string): Mrkdwn {
  switch (via) {
    case 'member':
      return mrkdwn`every full member can request`
    case 'alerts':
      return mrkdwn`alerts can request`
    case 'requester':
      return mrkdwn`the requester`
    case 'no-approval':
      return mrkdwn`no approval needed`
    default:
      return mentionOf(via)
  }
}
