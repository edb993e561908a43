import type { ListLimit } from '../../domain/errors/list-errors.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { formatDuration } from '../../domain/text/duration.ts'
import { toUserMessage } from '../errors.ts'
import { type Mrkdwn, mrkdwn } from '../text/text.ts'

/** The words for each limit that kept a list of the account API from being read to its end. */
const because: Record<ListLimit, string> = {
  items: 'it has too many items',
  'items of a page': 'it has too many items in one answer',
  pages: 'it has too many pages',
  bytes: 'it has too many bytes',
  'bytes of a page': 'it has too many bytes in one answer',
  time: 'the account API took too long',
}

/**
 * Says that a list is incomplete, and why, and counts the items that are left out. Empty if it is complete. `words` filter the list: items
 * that are being provisioned have no facts yet that these words could match, so a filtered list does not mention them.
 */
export function cutNotes(missing: Missing, count: number, words: string[]): Mrkdwn[] {
  const { cut, unreadable = 0, unready = 0 } = missing
  const limit =
    cut === undefined
      ? []
      : [mrkdwn`:warning: *This list is incomplete:* ${because[cut]}. The first ${count} were read and searched. Others may exist.`]
  return [
    ...oldNotes(missing),
    ...limit,
    ...(unreadable > 0 ? [mrkdwn`:warning: Not listed: ${unreadable} that couldn't be read.`] : []),
    ...(unready > 0 && words.length === 0
      ? [mrkdwn`Not listed: ${unready} still being provisioned. Run the command again in a few minutes.`]
      : []),
  ]
}

/** Says how old an earlier copy of a list is, and why it could not be read again: `As of 40 s ago. The account allows 60 reads a minute. …` */
export function oldNotes({ old }: Missing): Mrkdwn[] {
  if (!old) return []
  const why = old.because === undefined ? 'The account API takes longer than usual.' : toUserMessage(old.because)
  return [mrkdwn`:hourglass: *As of ${formatDuration(old.agoMs)} ago.* ${why ?? ''}`]
}
