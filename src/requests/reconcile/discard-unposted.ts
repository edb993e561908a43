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

/** Discards a request whose card Slack refuses, after the requester was told in a direct message. `error` is Slack's code. */
export function createDiscardUnposted({ store, messenger }: DiscardUnpostedParts) {
  return async function discardUnposted(request: Request, error: string): Promise<void> {
    const told = await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
    // While Slack does not say whether it took the message, the request stays and is reconciled again.
    if (told.is === 'sent' || told.is === 'refused') await store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
  }
}
export type DiscardUnposted = ReturnType<typeof createDiscardUnposted>
