import { mrkdwn } from '../text/text.ts'

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
export const interimAfterMs = 2_000

export const interimWords = mrkdwn`Still at it: something behind me is slow to answer. The result follows here.`
