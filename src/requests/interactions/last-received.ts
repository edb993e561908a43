import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** What arrives from Slack at an address of its own, so that one may work while another does not. */
export type Received = 'click' | 'options'

/** Written down no more often than this. */
const restMs = 60_000

/** Remembers when something last arrived from Slack, for all replicas: nothing else tells that interactivity works. */
export function createLastReceived({ redis, keys, now = Date.now }: { redis: Redis; keys: Keys; now?: () => number }) {
  const noted = new Map<Received, number>()

  /** Never throws: it is only for the doctor. */
  function note(what: Received): void {
    if (now() - (noted.get(what) ?? 0) < restMs) return
    noted.set(what, now())
    void guardStore(() => redis.hset(keys.lastReceived, what, String(now()))).catch(() => noted.delete(what))
  }

  /** How long ago each was, in ms. Throws StoreUnavailableError when Redis does not answer. */
  async function read(): Promise<Record<Received, number | undefined>> {
    const [click, options] = await guardStore(() => redis.hmget(keys.lastReceived, 'click', 'options'))
    const ago = (at: string | null | undefined) => (at == null ? undefined : Math.max(0, now() - Number(at)))
    return { click: ago(click), options: ago(options) }
  }

  return { note, read }
}
export type LastReceived = ReturnType<typeof createLastReceived>
