import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** How many of the last changes of a kind count, and how many there must be. */
const mostKept = 50
const fewest = 5

/** How long changes of a kind took on this account, in ms: half of the last ones at most `medianMs`, nine of ten at most `p90Ms`. */
export interface Usual {
  medianMs: number
  p90Ms: number
}

/** Creates the record of how long the last changes of each kind took. A lost or doubled one decides nothing, so no error is thrown. */
export function createDurations({ redis, keys }: { redis: Redis; keys: Keys }) {
  async function note(kind: ChangeKind, ms: number): Promise<void> {
    const key = keys.durations(kind)
    const noted = redis
      .multi()
      .lpush(key, String(Math.round(ms)))
      .ltrim(key, 0, mostKept - 1)
      .exec()
    await noted.catch(() => {})
  }

  /** Returns undefined while too few are known, or if Redis does not answer. */
  async function usual(kind: ChangeKind): Promise<Usual | undefined> {
    const found = await guardStore(() => redis.lrange(keys.durations(kind), 0, mostKept - 1)).catch(() => [])
    const sorted = found
      .map(Number)
      .filter(Number.isFinite)
      .toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return sorted.length < fewest ? undefined : { medianMs: at(0.5), p90Ms: at(0.9) }
  }

  return { note, usual }
}
export type Durations = ReturnType<typeof createDurations>
