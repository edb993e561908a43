import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** Interactions that Slack sends to separate addresses. One address can work while the other does not. */
type Received = 'click' | 'options'

/** The time is stored at most once a minute. */
const storeEveryMs = 60_000

/** Creates the record of when the last interaction arrived from Slack, for all replicas. It is the only proof that interactivity works. */
export function createLastReceived({ redis, keys, now = Date.now }: { redis: Redis; keys: Keys; now?: () => number }) {
  const noted = new Map<Received, number>()

  /** Never throws, because only `/infra doctor` reads the time. */
  function note(what: Received): void {
    if (now() - (noted.get(what) ?? 0) < storeEveryMs) return
    noted.set(what, now())
    void guardStore(() => redis.hset(keys.lastReceived, what, String(now()))).catch(() => noted.delete(what))
  }

  /** Returns how long ago each arrived, in ms. Throws StoreUnavailableError if Redis does not answer. */
  async function read(): Promise<Record<Received, number | undefined>> {
    const [click, options] = await guardStore(() => redis.hmget(keys.lastReceived, 'click', 'options'))
    const ago = (at: string | null | undefined) => (at == null ? undefined : Math.max(0, now() - Number(at)))
    return { click: ago(click), options: ago(options) }
  }

  return { note, read }
}
export type LastReceived = ReturnType<typeof createLastReceived>
