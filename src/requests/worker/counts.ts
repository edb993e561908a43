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
  /** How many of their items are under way. Present only if there are some. */
  items?: number
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
      for (const one of countsOf(part.slice(1))) {
        const known = total.get(`${one.kind} ${one.state}`)
        total.set(`${one.kind} ${one.state}`, known ? sumOf(known, one) : one)
      }
    }
    return { open: [...total.values()], unsent: await guardStore(() => redis.zcard(keys.outbox)) }
  }
}
export type Counts = ReturnType<typeof createCounts>

function countsOf(values: string[]): Count[] {
  return Array.from({ length: values.length / 4 }, (_, index) => {
    const [kind = '""', state = '""', count, items] = values.slice(index * 4)
    const counted = { kind: String(JSON.parse(kind)), state: String(JSON.parse(state)), count: Number(count) }
    return Number(items) > 0 ? { ...counted, items: Number(items) } : counted
  })
}

function sumOf(a: Count, b: Count): Count {
  const items = (a.items ?? 0) + (b.items ?? 0)
  return { ...a, count: a.count + b.count, ...(items > 0 ? { items } : {}) }
}
