import { isSetting } from '../../domain/policy/policy.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Names the rule that decided: `rule “production”`. Without a policy file it is a setting: `` setting `APPROVERS` ``. */
export function ruleWords(name: string): Mrkdwn {
  return isSetting(name) ? mrkdwn`setting ${code(name)}` : mrkdwn`rule “${name}”`
}
