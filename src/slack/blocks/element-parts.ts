import type { PlainTextElement } from '@slack/web-api'
import { exact, plain } from '../text/text-objects.ts'

/** Slack's limits for the parts that many elements have (docs.slack.dev, "Block elements"), in characters. */
const mostActionId = 255
const mostPlaceholder = 150

export function actionIdOf(actionId: string): { action_id: string } {
  return { action_id: exact('an action id', actionId, mostActionId) }
}

/** Returns the text that an empty element shows. */
export function placeholderOf(text: string | undefined): { placeholder?: PlainTextElement } {
  return text ? { placeholder: plain(text, mostPlaceholder) } : {}
}
