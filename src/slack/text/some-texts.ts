import { joinMrkdwn, type Mrkdwn, mrkdwn } from './text.ts'

/** Joins the first texts, and counts the others: `web-1, web-2 and 3 more`. */
export function someTexts(texts: readonly Mrkdwn[], most = 10): Mrkdwn {
  const shown = joinMrkdwn(texts.slice(0, most), ', ')
  const more = texts.length - most
  return more > 0 ? mrkdwn`${shown} and ${more} more` : shown
}
