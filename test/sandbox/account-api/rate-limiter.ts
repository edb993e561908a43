import type { Answer } from './wire.ts'

/** What one key may send in a window, as documented by the account API for a minute. */
export const documentedLimits = { reads: 60, writes: 20 }

export interface Limits {
  reads?: number
  writes?: number
  /** `fixed`: begins with its first request. `sliding`: every span of its length, which is stricter. The documentation names neither. Default: sliding. */
  window?: 'fixed' | 'sliding'
  /** The length of a window. A shorter one compresses a test. Default: 60,000 ms. */
  windowMs?: number
}

export type RequestKind = 'read' | 'write'

interface Bucket {
  /** What counts in the current window, in order. */
  used: { at: number; byAnotherTool: boolean }[]
  /** When Lockkeeper sent a request within the last window, whatever the answer. */
  sent: number[]
  refused: number
  most: number
}

/** Counts the requests of each key by kind, and refuses those beyond the limits. A refused request doesn't count. */
export function createRateLimiter(limits: Limits, ownKey: string, now: () => number) {
  const { window = 'sliding', windowMs = 60_000 } = limits
  const most: Record<RequestKind, number> = {
    read: limits.reads ?? Number.POSITIVE_INFINITY,
    write: limits.writes ?? Number.POSITIVE_INFINITY,
  }
  const buckets = new Map<string, Bucket>()

  function bucketOf(kind: RequestKind, key: string): Bucket {
    const name = `${kind} ${key}`
    const bucket = buckets.get(name) ?? { used: [], sent: [], refused: 0, most: 0 }
    buckets.set(name, bucket)
    const start = now() - windowMs
    const first = bucket.used[0]
    if (window === 'fixed' && first && first.at <= start) bucket.used = []
    while (bucket.used[0] && bucket.used[0].at <= start) bucket.used.shift()
    while (bucket.sent[0] !== undefined && bucket.sent[0] <= start) bucket.sent.shift()
    return bucket
  }

  return {
    take(method: string, key = ''): Answer | undefined {
      const kind = method === 'GET' ? 'read' : 'write'
      const bucket = bucketOf(kind, key)
      bucket.sent.push(now())
      bucket.most = Math.max(bucket.most, bucket.sent.length)
      if (bucket.used.length < most[kind]) {
        bucket.used.push({ at: now(), byAnotherTool: false })
        return undefined
      }
      bucket.refused++
      // In a sliding window, there is room again as soon as fewer than the limit are left.
      const awaited = window === 'fixed' ? bucket.used[0] : bucket.used.at(-most[kind])
      return tooMany(kind, most[kind], Math.ceil(((awaited?.at ?? now()) + windowMs - now()) / 1_000))
    },

    used: (kind: RequestKind, key = ownKey) => bucketOf(kind, key).used.length,
    refused: (kind: RequestKind, key = ownKey) => bucketOf(kind, key).refused,
    /** The most requests that were sent in any span of a window's length, with the refused ones. */
    most: (kind: RequestKind, key = ownKey) => bucketOf(kind, key).most,

    /** Counts as many requests as sent by another tool with the same key. Default: the whole limit, so that nothing is left for a window. */
    useByAnotherTool(kind: RequestKind, count = most[kind], key = ownKey): void {
      if (count === Number.POSITIVE_INFINITY) return
      bucketOf(kind, key).used.push(...Array.from({ length: count }, () => ({ at: now(), byAnotherTool: true })))
    },
    forgetAnotherTool(): void {
      for (const bucket of buckets.values()) bucket.used = bucket.used.filter(({ byAnotherTool }) => !byAnotherTool)
    },
    usedByAnotherTool: (kind: RequestKind, key = ownKey) => bucketOf(kind, key).used.filter(({ byAnotherTool }) => byAnotherTool).length,
  }
}

function tooMany(kind: RequestKind, limit: number, retryAfter: number): Answer {
  const error = {
    code: 'RATE_LIMIT_EXCEEDED',
    title: 'Too Many Requests',
    status: '429',
    detail: `The limit of ${limit} ${kind}s per minute is exceeded`,
    meta: { retry_after: retryAfter },
  }
  return { status: 429, body: { errors: [error] } }
}
