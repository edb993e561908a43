import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { stormMs } from './alert-states.ts'

const scripts = readScripts(import.meta.url, ['take-alert-slot'])

/** How many requests, and how many notices, alerts may post in a channel within 10 minutes. More are a storm. */
export const mostInChannel = 3

/** Creates the limit for messages about alerts, shared by all replicas. Throws StoreUnavailableError if Redis does not answer. */
export function createSlots({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)
  const keyOf = (kind: SlotKind, channelId: string) => keys.alertSlots(`${kind}:${channelId}`)

  /** Returns whether one more message is allowed. A second call with the same `who` keeps its place. */
  async function take(kind: SlotKind, channelId: string, who: string): Promise<boolean> {
    const [outcome] = await run('take-alert-slot', [keyOf(kind, channelId)], [who, String(stormMs), String(mostInChannel)])
    return outcome === 'taken'
  }

  async function giveBack(kind: SlotKind, channelId: string, who: string): Promise<void> {
    await guardStore(() => redis.zrem(keyOf(kind, channelId), who))
  }

  return { take, giveBack }
}
export type Slots = ReturnType<typeof createSlots>

type SlotKind = 'proposals' | 'notices'
