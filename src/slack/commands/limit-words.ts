import { Refusal } from '../errors.ts'
import { mostWords } from '../text/contains-words.ts'
import { mrkdwn } from '../text/text.ts'

/** Slack's own clients send less. If a text has many quotes, the time to split it into words grows with the square of its length. */
export const longestCommand = 3_000

/** Throws a Refusal if a search has more words than one search takes. */
export function limitWords(words: string[]): void {
  if (words.length <= mostWords) return
  throw new Refusal(mrkdwn`Too many words: a search can have up to ${mostWords}. This one has ${words.length}. Use fewer words.`)
}

/** Refuses a command whose text is too long to be split into words. */
export async function refuseLongCommand(): Promise<void> {
  throw new Refusal(mrkdwn`Nothing was done. A command can have up to ${longestCommand} characters. Use fewer words, or the form.`)
}
