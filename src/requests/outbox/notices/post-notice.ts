import type { Message, Messenger } from '../../../slack/web-api/messenger.ts'
import { asRepeat } from '../../messages/reports/resent.ts'
import type { OwedNotice } from './owed-notices.ts'

/** From this try on, a notice is posted although Slack doesn't answer the search for it: a repeated alarm is better than a missing one. */
const triesOfSearch = 5

/** A search begins this long before a notice was owed, in case this clock is fast. */
const beforeMs = 60_000

/** The result of one try. `isOver`: the operators are notified. `isUnsure`: Slack may have the notice. */
export interface Tried {
  isOver: boolean
  isUnsure?: boolean
  problem?: string
  retryInMs?: number
}

interface NoticeToPost {
  key: string
  channelId: string
  notice: OwedNotice
  /** An earlier try may have posted it. */
  isUnsure: boolean
  tries: number
}

/** Creates the function that posts a notice, unless an earlier try has posted it. Without a search, the notice says that it may be a repeat. */
export function createPostNotice({ post, find }: Pick<Messenger, 'post' | 'find'>) {
  return async function postNotice({ key, channelId, notice: { message, at }, isUnsure, tries }: NoticeToPost): Promise<Tried> {
    const place = { channelId, key: `notice/${key}` }
    const found = isUnsure ? await find({ ...place, oldestMs: at - beforeMs }) : undefined
    if (found?.is === 'found') return { isOver: true }
    const isSearched = found === undefined || found.is === 'absent' || found.is === 'cannot-search' || tries >= triesOfSearch
    if (!isSearched) return { isOver: false, problem: JSON.stringify(found), ...retryOf(found) }
    const isMarked = found !== undefined && found.is !== 'absent'
    const posted = await post(place, isMarked ? (asRepeat(message) as Message) : message)
    if (posted.is === 'sent') return { isOver: true }
    return { isOver: false, isUnsure: posted.is === 'unknown', problem: JSON.stringify(posted), ...retryOf(posted) }
  }
}

function retryOf(failure: { is: string; retryInMs?: number }): { retryInMs?: number } {
  return failure.retryInMs === undefined ? {} : { retryInMs: failure.retryInMs }
}
