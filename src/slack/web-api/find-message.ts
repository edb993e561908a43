import type { WebClient } from '@slack/web-api'
import { classifySlackFailure, type SlackFailure } from './failure.ts'

/** `cannot-search`: Slack refuses the search, or there are too many messages. The other failures may pass. */
export type SearchResult =
  | { is: 'found'; ts: string }
  | { is: 'absent' }
  | { is: 'cannot-search' }
  | Exclude<SlackFailure, { is: 'refused' }>

/** A search for a lost message reads at most five pages of the messages from the time when it may have been sent. */
const pageSize = 200
const mostPages = 5

interface SearchedMessage {
  channelId: string
  threadTs?: string
  key: string
  oldestMs: number
  latestMs?: number
}

interface FindMessageParts {
  client: WebClient
  /** Undefined until the identity has been fetched. */
  botUserId: () => string | undefined
}

/**
 * Searches for a message whose answer was lost, among those from `oldestMs` to `latestMs` (by default now). Needs the optional history
 * scopes.
 */
export function createFindMessage({ client, botUserId }: FindMessageParts) {
  return async function find(where: SearchedMessage): Promise<SearchResult> {
    const self = botUserId()
    // Without the bot's own id no message would match, and one that is there would be sent again.
    if (self === undefined) return { is: 'unknown', problem: 'Slack has not said yet who the bot is' }
    const range = {
      channel: where.channelId,
      include_all_metadata: true,
      limit: pageSize,
      oldest: String(Math.floor(where.oldestMs / 1000)),
      ...(where.latestMs === undefined ? {} : { latest: String(Math.ceil(where.latestMs / 1000)) }),
    }
    try {
      let cursor: string | undefined
      for (let page = 0; page < mostPages; page += 1) {
        const at = cursor ? { ...range, cursor } : range
        const answer = where.threadTs
          ? await client.conversations.replies({ ...at, ts: where.threadTs })
          : await client.conversations.history(at)
        const messages = (answer.messages ?? []) as { ts?: string; user?: string; metadata?: { event_payload?: { key?: unknown } } }[]
        const match = messages.find((message) => message.metadata?.event_payload?.key === where.key && message.user === self)
        if (match?.ts) return { is: 'found', ts: match.ts }
        cursor = answer.response_metadata?.next_cursor
        if (!answer.has_more || !cursor) return { is: answer.has_more ? 'cannot-search' : 'absent' }
      }
      // The message may be on a page that was not read. `cannot-search` makes the caller repeat it with a note.
      return { is: 'cannot-search' }
    } catch (error) {
      const failure = classifySlackFailure(error)
      return failure.is === 'refused' ? { is: 'cannot-search' } : failure
    }
  }
}
