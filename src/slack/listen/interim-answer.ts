import { mrkdwn } from '../text/text.ts'

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
export const interimAfterMs = 2_000

export const interimWords = mrkdwn`Still working. The result will appear here.`
