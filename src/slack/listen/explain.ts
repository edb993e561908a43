import { randomUUID } from 'node:crypto'
import { NothingRequested, toUserWords } from '../errors.ts'
import { code, type Mrkdwn, mrkdwn } from '../text/text.ts'

/** Is called for every error. `reference` is what the person was given to find it in the log. */
export type OnError = (error: unknown, context: { reference?: string; at: string }) => void

/** Explains an error to the person, and reports it. `at` names the interaction in the log. */
export type Explain = (error: unknown, at: string) => Mrkdwn

export function createExplain(onError: OnError): Explain {
  return (thrown, at) => {
    const words = toUserWords(thrown)
    // The log and the operators get the error that the account API gave.
    const error = thrown instanceof NothingRequested ? thrown.cause : thrown
    if (words !== undefined) {
      onError(error, { at })
      return words
    }
    const reference = randomUUID().slice(0, 8)
    onError(error, { at, reference })
    return mrkdwn`Something went wrong. Tell the people who run Lockkeeper, with the reference ${code(reference)}.`
  }
}
