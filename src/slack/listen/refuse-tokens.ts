import { Refusal } from '../errors.ts'
import { type Mrkdwn, mrkdwn } from '../text/text.ts'

/** The ids of requests have 32 hexadecimal characters, and tokens of the account 36. */
const longHex = /[0-9a-f]{33,}/gi

/** The rest of a Slack token is long. A server may be called `xapp-1`. */
const slackToken = /\bx(?:ox[a-z]|app)-[\w-]{10,}/i

/** Hashes of commits have one of these lengths. Reasons may name them. */
const hashLengths = [40, 64]

/** Whether a person typed what looks like a token of the account or of Slack. */
export function hasToken(text: string): boolean {
  return slackToken.test(text) || (text.match(longHex) ?? []).some(({ length }) => !hashLengths.includes(length))
}

export const tokenAdvice: Mrkdwn = mrkdwn`Nothing was done, because what you typed looks like a token. Revoke that token now: Slack may keep what you typed. Name a key by its name or id.`

export async function refuseToken(): Promise<void> {
  throw new Refusal(tokenAdvice)
}
