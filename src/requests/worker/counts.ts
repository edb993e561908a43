import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'

const scripts = readScripts(import.meta.url, ['counts'])

/** How many requests one command counts. This takes Redis about half a millisecond, so nobody notices the wait. */
const chunkSize = 500

export interface Count {
  kind: string
  state: string
  count: number
}

/**
 * Creates the function that counts open requests by kind and state, and unsent messages. It counts in chunks, so it can miss a request when
 * another one ends at the same moment. That is good enough for a graph. Throws StoreUnavailableError if Redis does not answer.
 */
export function createCounts({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  return async function counts(): Promise<{ open: Count[]; unsent: number }> {
    const total = new Map<string, Count>()
    for (let at = 0, size = chunkSize; size === chunkSize; at += chunkSize) {
      const part = await run('counts', [keys.open], [keys.recordPrefix, String(at), String(at + chunkSize - 1)])
      size = Number(part[0])
      for (const { kind, state, count } of countsOf(part.slice(1))) {
        const sum = (total.get(`${kind} ${state}`)?.count ?? 0) + count
        total.set(`${kind} ${state}`, { kind, state, count: sum })
      }
    }
    return { open: [...total.values()], unsent: await guardStore(() => redis.zcard(keys.outbox)) }
  }
}
export type Counts = ReturnType<typeof createCounts>

function countsOf(triples: string[]): Count[] {
  return Array.from({ length: triples.length / 3 }, (_, index) => {
    const [kind = '""', state = '""', count] = triples.slice(index * 3)
    return { kind: String(JSON.parse(kind)), state: String(JSON.parse(state)), count: Number(count) }
  })
}
