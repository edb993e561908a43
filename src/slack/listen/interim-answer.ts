import { mrkdwn } from '../text/text.ts'

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
export const interimAfterMs = 2_000

/** Stands in a form until the result replaces it. */
export const interimWords = mrkdwn`Still working. The result will appear here.`

/** The answer to a command replaces these words. */
export const slowWords = mrkdwn`Slower than usual. The result follows.`

/** These words must stay true below the result, because an ephemeral message after a click can't be changed or deleted. */
export const slowClickWords = mrkdwn`Slower than usual. The message will show the result, or an answer will appear here.`
