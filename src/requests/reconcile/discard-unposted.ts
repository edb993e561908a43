import { isMachine } from '../../domain/approval/origin.ts'
import type { Request } from '../../domain/request/request.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { CommonFinding } from '../messages/refusals/causes.ts'
import { refusedCard } from '../messages/words.ts'
import type { Store } from '../store/store.ts'

interface DiscardUnpostedParts {
  store: Pick<Store, 'discard'>
  messenger: Pick<Messenger, 'post'>
  /** Receives a request of a machine, which has no direct messages, with Slack's error code. */
  onUndeliverable: (request: Request, error: string) => Promise<void> | void
}

/**
 * Creates the function that discards a request whose card Slack refuses, after a direct message to the requester. `error` is Slack's code.
 */
export function createDiscardUnposted({ store, messenger, onUndeliverable }: DiscardUnpostedParts) {
  /** Returns whether the requester, or the operators for a machine, got the news as far as Slack takes it. */
  async function notifyRequester(request: Request, error: string): Promise<boolean> {
    if (isMachine(request.origin)) {
      await onUndeliverable(request, error)
      return true
    }
    const posted = await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
    return posted.is === 'sent' || posted.is === 'refused'
  }

  return async function discardUnposted(request: Request, error: string): Promise<void> {
    // If the outcome of the message is unknown, keep the request, so that it is reconciled again.
    if (await notifyRequester(request, error)) await store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
  }
}
export type DiscardUnposted = ReturnType<typeof createDiscardUnposted>
