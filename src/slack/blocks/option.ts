import type { PlainTextOption } from '@slack/web-api'
import { exact, plain } from '../text/text-objects.ts'

/** The limit of Slack is 75 characters, and it asks to stay below it (docs.slack.dev, "Option object"). */
export const mostOption = 74

/** Slack does not accept longer values, and a cut id could be the id of another resource. */
export const longestOptionValue = mostOption

/** Makes an option of a picker or of radio buttons. */
export function option({ text, value, description }: { text: string; value: string; description?: string }): PlainTextOption {
  return {
    text: plain(text, mostOption),
    value: exact("an option's value", value, mostOption),
    ...(description ? { description: plain(description, mostOption) } : {}),
  }
}
