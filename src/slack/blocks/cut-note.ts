import type { ListLimit } from '../../domain/list-errors.ts'
import { type Mrkdwn, mrkdwn } from '../text/text.ts'

/** Says in words what kept a list of the account API from being read to its end. */
const because: Record<ListLimit, string> = {
  items: 'it has too many items',
  'items of a page': 'it has too many items in one answer',
  pages: 'it has too many pages',
  bytes: 'it has too many bytes',
  'bytes of a page': 'it has too many bytes in one answer',
  time: 'the account API took too long',
}

/** Says that a list is incomplete, and why. Empty if it is complete. */
export function cutNotes(cut: ListLimit | undefined, count: number): Mrkdwn[] {
  if (cut === undefined) return []
  return [mrkdwn`:warning: *This list is incomplete:* ${because[cut]}. The first ${count} were read and searched. Others may exist.`]
}
