import { hash } from 'node:crypto'
import { stormMs } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import type { Stormy } from './firing/firing.ts'
import type { RefuseFiringParts } from './firing/refuse-firing.ts'
import { listedWords, stormWords } from './messages/messages.ts'
import type { PostedOnce } from './messages/post-once.ts'
import { sourceOf } from './payload/source-alert.ts'

interface ListStormParts extends Pick<RefuseFiringParts, 'states' | 'postOnce' | 'command' | 'onUnposted'> {
  waitMs?: number
}

/**
 * Creates the function that lists the excess alerts of one delivery in the thread of the storm's message. It returns false if the channel
 * takes no message.
 */
export function createListStorm({ states, postOnce, command, onUnposted, waitMs }: ListStormParts) {
  async function listStorm(channelId: string, stormy: Stormy[], signal: AbortSignal): Promise<boolean> {
    try {
      const opened = await openStorm(channelId, signal)
      const posted = opened.is === 'sent' ? await listIn(opened.ts, channelId, stormy) : opened
      if (posted.is === 'refused') await onUnposted(channelId, posted.error)
      for (const { claim, server } of stormy)
        await (posted.is === 'sent' ? states.settle(claim, { outcome: 'explained', serverId: server?.id }) : states.free(claim, server?.id))
      return posted.is === 'sent'
    } catch (error) {
      for (const { claim, server } of stormy) await states.free(claim, server?.id).catch(() => undefined)
      throw error
    }
  }

  /** Posts the message of the storm, unless it is there. */
  async function openStorm(channelId: string, signal: AbortSignal): Promise<PostedOnce> {
    const claimed = await untilFree(() => states.claim(`storm-${channelId}`, { isFiring: true }), { waitMs, signal })
    if (claimed.is !== 'claimed') return { is: 'sent', ts: claimed.is === 'done' ? claimed.value : '' }
    const { claim } = claimed
    try {
      const where = { channelId, key: `alerts-storm/${channelId}` }
      const posted = await postOnce(where, stormWords(command), { again: claim.again, sinceMs: stormMs })
      await (posted.is === 'sent' ? states.settle(claim, { outcome: 'storm', value: posted.ts }) : states.free(claim))
      return posted
    } catch (error) {
      await states.free(claim).catch(() => undefined)
      throw error
    }
  }

  function listIn(threadTs: string, channelId: string, stormy: Stormy[]): Promise<PostedOnce> {
    const key = `alerts-storm/${hash('sha256', stormy.map(({ claim }) => claim.key).join()).slice(0, 32)}`
    const words = listedWords(stormy.map(({ alert, server }) => ({ alert: sourceOf(alert), server: server?.name })))
    return postOnce({ channelId, threadTs, key }, words, { again: stormy.some(({ claim }) => claim.again) })
  }

  return listStorm
}
export type ListStorm = ReturnType<typeof createListStorm>
