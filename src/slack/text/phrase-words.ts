import { type Phrase, phraseText, withoutOwner } from '../../domain/text/phrase.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from './text.ts'

/** Returns the text for a person: a mention, or a name where a mention would notify somebody who should not be. */
export type ShowPerson = (userId: string) => Mrkdwn

/** Shows a phrase in a message: names as code, so that nothing in them is markup, and people as mentions. */
export function phraseWords(phrase: Phrase, showPerson: ShowPerson = mention): Mrkdwn {
  const parts = phrase.map((part) => {
    if (typeof part === 'string') return mrkdwn`${part}`
    if ('time' in part) return dateTime(part.time)
    if ('owner' in part) return mrkdwn`, for ${showPerson(part.owner)}`
    return 'person' in part ? showPerson(part.person) : code(part.name)
  })
  return joinMrkdwn(parts, '')
}

/** Quotes a title, without for whom it is: a mention in a thread rings that person's phone, each time. */
export function quotedTitle(title: Phrase): Mrkdwn {
  return mrkdwn`“${phraseWords(withoutOwner(title))}”`
}

/** Shows a phrase in bold. Code and mentions keep their form in it. */
export function boldPhrase(phrase: Phrase): Mrkdwn {
  return mrkdwn`*${phraseWords(phrase)}*`
}

/** Shows a phrase where a notification shows it: names as they are, in quotation marks if they could be mistaken for other words. */
export function plainPhrase(phrase: Phrase): Mrkdwn {
  return mrkdwn`${phraseText(phrase)}`
}
