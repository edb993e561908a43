import { hash } from 'node:crypto'
import { stormIn, stormMs } from './alert-states.ts'
import { untilFree } from './claiming.ts'
import type { Stormy } from './firing/firing.ts'
import type { RefuseFiringParts } from './firing/refuse-firing.ts'
import type { PostedOnce } from './messages/post-once.ts'
import { listedWords, stormWords } from './messages/thread-words.ts'
import { createNameServers, type NameServersParts } from './name-servers.ts'
import { placeText } from './notice-place.ts'
import { sourceOf } from './payload/source-alert.ts'
import { stormServersOf } from './storm-servers.ts'

interface ListStormParts extends Pick<RefuseFiringParts, 'states' | 'postOnce' | 'onUnposted'>, NameServersParts {
  waitMs?: number
}

/** The message of a storm. `words`: what it says, if this process has just posted it. */
type Opened = { is: 'sent'; ts: string; words?: string } | Extract<PostedOnce, { is: 'refused' }>

/**
 * Creates the function that lists the excess alerts of one delivery in the thread of the storm's message, and names their servers in the message.
 * It returns false if the channel takes no message.
 */
export function createListStorm({ states, postOnce, command, onUnposted, waitMs, ...parts }: ListStormParts) {
  const nameServers = createNameServers({ command, ...parts })

  async function listStorm(channelId: string, stormy: Stormy[], signal: AbortSignal): Promise<boolean> {
    try {
      const opened = await openStorm(channelId, stormy, signal)
      const posted = opened.is === 'sent' ? await listIn(opened, channelId, stormy) : opened
      if (posted.is === 'refused') await onUnposted(channelId, posted.error)
      const settled = { outcome: 'explained', value: opened.is === 'sent' ? placeText({ channelId, ts: opened.ts }) : '' } as const
      for (const { claim, server } of stormy)
        await (posted.is === 'sent' ? states.settle(claim, { ...settled, serverId: server?.id }) : states.free(claim, server?.id))
      return posted.is === 'sent'
    } catch (error) {
      for (const { claim, server } of stormy) await states.free(claim, server?.id).catch(() => undefined)
      throw error
    }
  }

  /** Posts the message of the storm, unless it is there. */
  async function openStorm(channelId: string, stormy: Stormy[], signal: AbortSignal): Promise<Opened> {
    const claimed = await untilFree(() => states.claim(stormIn(channelId), { isFiring: true }), { waitMs, signal })
    if (claimed.is !== 'claimed') return { is: 'sent', ts: claimed.is === 'done' ? claimed.value : '' }
    const { claim } = claimed
    try {
      const words = stormWords(command, stormServersOf(namesIn(stormy)))
      const posted = await postOnce({ channelId, key: stormKey(channelId) }, words, { again: claim.again, sinceMs: stormMs })
      await (posted.is === 'sent' ? states.settle(claim, { outcome: 'storm', value: posted.ts }) : states.free(claim))
      // An earlier attempt may have posted it, with the servers of another delivery.
      return posted.is === 'refused' || claim.again ? posted : { ...posted, words: words.text }
    } catch (error) {
      await states.free(claim).catch(() => undefined)
      throw error
    }
  }

  async function listIn({ ts, words: shown }: Extract<Opened, { is: 'sent' }>, channelId: string, stormy: Stormy[]): Promise<PostedOnce> {
    const again = stormy.some(({ claim }) => claim.again)
    await nameServers({ channelId, ts, key: stormKey(channelId) }, namesIn(stormy), { shown, again })
    const key = `alerts-storm/${hash('sha256', stormy.map(({ claim }) => claim.key).join()).slice(0, 32)}`
    const words = listedWords(stormy.map(({ alert, name }) => ({ alert: sourceOf(alert), server: name })))
    return postOnce({ channelId, threadTs: ts, key }, words, { again })
  }

  return listStorm
}
export type ListStorm = ReturnType<typeof createListStorm>

function stormKey(channelId: string): string {
  return `alerts-storm/${channelId}`
}

function namesIn(stormy: Stormy[]): string[] {
  return stormy.flatMap(({ name }) => name ?? [])
}
