import type { Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { stormIn } from './alert-states.ts'

const scripts = readScripts(import.meta.url, ['alert-name-servers'])

/** The message of a storm names this many servers, and counts the others. */
const mostNamed = 8

/** Redis keeps this many names for a storm. With more, the message says "at least". */
export const mostKept = 200

/** The servers of a storm. */
export interface StormServers {
  /** The names of the first ones. */
  first: string[]
  count: number
}

/** Returns the servers of a storm that begins with these names. */
export function stormServersOf(names: string[]): StormServers {
  const all = [...new Set(names)]
  return { first: all.slice(0, mostNamed), count: Math.min(all.length, mostKept) }
}

/**
 * Creates the list of the servers that the message of a storm names, shared by all replicas. It ends with the storm. Throws
 * StoreUnavailableError if Redis does not answer.
 */
export function createStormServers({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** Adds names, and returns all that the storm has. Undefined if the storm is over. */
  async function add(channelId: string, names: string[]): Promise<(StormServers & { added: number }) | undefined> {
    const values = [String(mostKept), String(mostNamed), ...new Set(names)]
    const [added, count, ...first] = await run('alert-name-servers', [keys.alert(stormIn(channelId))], values)
    return added === 'over' ? undefined : { first, count: Number(count), added: Number(added) }
  }

  return { add }
}
export type StormServerList = ReturnType<typeof createStormServers>
