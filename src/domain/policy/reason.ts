import { withoutInvisible } from '../text/invisible.ts'
import type { PolicyRule } from './policy.ts'

/** The most characters of a reason. Slack's forms take no more. */
export const longestReason = 500

/** Matches what people can read. Control characters, for example, are removed wherever a reason is shown. */
const readable = /[\p{L}\p{N}\p{P}\p{S}]/u

/** Returns a reason without the white space around it. Undefined if it shows nothing: a requirement is not met by invisible characters. */
export function visibleReason(text: string | undefined): string | undefined {
  return readable.test(withoutInvisible(text ?? '')) ? text?.trim() : undefined
}

/** Whether the rule requires a reason, and there is none. */
export function lacksReason({ needsReason }: PolicyRule, reason: string | undefined): boolean {
  return needsReason && visibleReason(reason) === undefined
}
