import { hash } from 'node:crypto'
import { isPassing } from '../requests/outbox/send-once.ts'
import type { RefuseFiringParts } from './firing/refuse-firing.ts'
import { resolvedWords } from './messages/thread-words.ts'
import type { NoticePlace } from './notice-place.ts'
import { TryLater } from './outcome.ts'
import { sourceOf } from './payload/source-alert.ts'
import type { Explained } from './take-resolved.ts'

/**
 * Creates the function that says in the thread of a message that alerts without a request have resolved: those of one delivery in one reply,
 * because many alerts of a storm can resolve at once. It is safe to repeat. Throws TryLater if Slack gives no answer.
 */
export function createNoteResolved({ states, postOnce, onUnposted }: Pick<RefuseFiringParts, 'states' | 'postOnce' | 'onUnposted'>) {
  /** `resolved`: alerts that one message explained. */
  async function noteResolved(resolved: Explained[]): Promise<void> {
    try {
      const [first] = resolved
      if (first) await reply(first.notice, resolved)
      for (const { claim, serverId, alert } of resolved)
        await states.settle(claim, { outcome: 'resolved', startsAt: alert.startsAt, serverId })
    } catch (error) {
      for (const { claim, serverId } of resolved) await states.free(claim, serverId).catch(() => undefined)
      throw error
    }
  }

  async function reply({ channelId, ts }: NoticePlace, resolved: Explained[]): Promise<void> {
    const words = resolvedWords(resolved.map(({ alert, name }) => ({ alert: sourceOf(alert), server: name, endedAt: alert.endedAt })))
    const again = resolved.some(({ claim }) => claim.again)
    const posted = await postOnce({ channelId, threadTs: ts, key: replyKey(resolved) }, words, { again })
    if (posted.is === 'sent') return
    if (isPassing(posted.error)) throw new TryLater(posted.error)
    // Somebody deleted the message. Then its thread needs no end.
    if (posted.error !== 'thread_not_found') await onUnposted(channelId, posted.error)
  }

  return noteResolved
}
export type NoteResolved = ReturnType<typeof createNoteResolved>

/** The same alert can fire and resolve twice in the thread of one storm, so the start is a part of the key. */
function replyKey(resolved: Explained[]): string {
  const alerts = resolved.map(({ alert: { key, startsAt = '' } }) => `${key}@${startsAt}`)
  return `alerts-resolved/${hash('sha256', alerts.join()).slice(0, 32)}`
}
