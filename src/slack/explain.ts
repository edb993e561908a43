import { randomUUID } from 'node:crypto'
import { toUserWords } from './errors.ts'
import { code, type Mrkdwn, mrkdwn } from './text.ts'

/** Hears of everything that goes wrong, with the reference that the person was told. */
export type OnError = (error: unknown, context: { reference?: string; at: string }) => void

/** Any error as words for the person whose act led to it. `at` names the act in the log. */
export type Explain = (error: unknown, at: string) => Mrkdwn

export function createExplain(onError: OnError): Explain {
  return (error, at) => {
    const words = toUserWords(error)
    if (words !== undefined) {
      onError(error, { at })
      return words
    }
    const reference = randomUUID().slice(0, 8)
    onError(error, { at, reference })
    return mrkdwn`Something went wrong on my side, and I do not know what. Tell the people who run this bot, with the reference ${code(reference)}.`
  }
}
