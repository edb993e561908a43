import { isMachine } from '../../../domain/approval/origin.ts'
import type { Change } from '../../../domain/change/change.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { Phrase } from '../../../domain/text/phrase.ts'
import { phraseWords, type ShowPerson } from '../../../slack/text/phrase-words.ts'
import { type Mrkdwn, mention, profileLink } from '../../../slack/text/text.ts'
import { explain, whyWords } from '../refusals/causes.ts'
import { EarlierEnd, earlierEndWords } from './earlier-end.ts'
import { isRecent, LastChange, lastChangeWords, MoreChanges, moreChangesWords } from './last-change.ts'

/** The warnings of a request in words: those to check first, and small print. */
export interface WarningWords {
  checks: Mrkdwn[]
  notes: Mrkdwn[]
}

/** Puts the warnings of a request into words. People in them are named, because a mention would notify somebody who need not act. */
export function warningWords(
  { warnings, personNames = {} }: Pick<Request, 'warnings' | 'personNames'>,
  change: Pick<Change, 'explain'> | undefined,
  titleOf: (changed: LastChange) => Phrase,
  { profileOf = () => undefined }: { profileOf?: (userId: string) => string | undefined } = {},
): WarningWords {
  const showPerson: ShowPerson = (id) => (isMachine({ userId: id }) ? mention(id) : profileLink(id, profileOf(id), personNames[id]))
  const words: WarningWords = { checks: [], notes: [] }
  for (const finding of warnings) {
    const [last, earlier] = [LastChange.safeParse(finding), EarlierEnd.safeParse(finding)]
    const more = MoreChanges.safeParse(finding)
    if (last.success) {
      words[isRecent(last.data) ? 'checks' : 'notes'].push(phraseWords(lastChangeWords(last.data, titleOf(last.data)), showPerson))
    } else if (earlier.success) words.checks.push(phraseWords(earlierEndWords(earlier.data, change), showPerson))
    else if (more.success) words.checks.push(phraseWords(moreChangesWords(more.data)))
    else {
      const explained = explain(change, finding)
      words[explained.isNote ? 'notes' : 'checks'].push(whyWords(explained, showPerson))
    }
  }
  return words
}
