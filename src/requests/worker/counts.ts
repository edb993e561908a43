import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'

const scripts = readScripts(import.meta.url, ['counts'])

/** So many are counted in one step, which takes Redis about half a millisecond: whoever waits for it meanwhile does not notice. */
const countAtOnce = 500

export interface Count {
  kind: string
  state: string
  count: number
}

/**
 * How many requests are open, by kind and state, and how many messages are unsent. Counted in parts: one that ends meanwhile can make
 * another be missed, which figures for a graph may. Throws StoreUnavailableError when Redis does not answer.
 */
export function createCounts({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  return async function counts(): Promise<{ open: Count[]; unsent: number }> {
    const total = new Map<string, Count>()
    for (let at = 0, size = countAtOnce; size === countAtOnce; at += countAtOnce) {
      const part = await run('counts', [keys.open], [keys.recordPrefix, String(at), String(at + countAtOnce - 1)])
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
