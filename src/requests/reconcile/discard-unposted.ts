import type { Request } from '../../domain/request.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { CommonFinding } from '../messages/causes.ts'
import { refusedCard } from '../messages/words.ts'
import type { Store } from '../store/store.ts'

interface DiscardUnpostedParts {
  store: Pick<Store, 'discard'>
  messenger: Pick<Messenger, 'post'>
}

/**
 * Creates the function that discards a request whose card Slack refuses, after a direct message to the requester. `error` is Slack's code.
 */
export function createDiscardUnposted({ store, messenger }: DiscardUnpostedParts) {
  return async function discardUnposted(request: Request, error: string): Promise<void> {
    const posted = await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
    // If the outcome of the message is unknown, keep the request, so that it is reconciled again.
    if (posted.is === 'sent' || posted.is === 'refused') await store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
  }
}
export type DiscardUnposted = ReturnType<typeof createDiscardUnposted>
