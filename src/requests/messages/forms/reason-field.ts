import type { KnownBlock } from '@slack/web-api'
import { context } from '../../../slack/blocks/blocks.ts'
import { reasonInput } from '../../../slack/blocks/reason-input.ts'
import { readMetadata } from '../../../slack/receive/metadata.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from '../../../slack/text/text.ts'
import { relatedSentences } from '../related.ts'
import type { Purpose } from './purpose.ts'

/** Says why a reason is needed. `rule`: the name of the rule. */
export function reasonRequired(rule: string): Mrkdwn {
  return mrkdwn`The rule “${rule}” requires a reason.`
}

const forApprovers = 'Approvers will see this.'

/**
 * Makes the field for the reason of a request, by what the form's metadata knows: whether a rule requires one, what was typed before the form
 * opened, and the requests that it undoes or repeats, unless the person chose another change. `entered`: what was entered so far.
 */
export function reasonField(
  metadata: string,
  entered: string | undefined,
  { isOther }: Pick<Purpose, 'isOther'> = { isOther: false },
): KnownBlock[] {
  const { reason, ruleWithReason, ...earlier } = readMetadata(metadata) ?? {}
  const hint = ruleWithReason === undefined ? forApprovers : `${toPlainText(reasonRequired(ruleWithReason))} ${forApprovers}`
  return [
    ...(isOther ? [] : relatedSentences(earlier)).flatMap((words) => context([words])),
    reasonInput({ entered: entered ?? reason, hint, optional: ruleWithReason === undefined }),
  ]
}
