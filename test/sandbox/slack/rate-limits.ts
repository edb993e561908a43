import { type Json, stringOf } from './json.ts'

interface Limit {
  calls: number
  perMs: number
  /** What is counted separately. */
  by?: string
}

const perMinute = (calls: number): Limit => ({ calls, perMs: 60_000 })

/**
 * Slack's published tiers. A burst of posts to one channel is allowed before the limit of one a second applies
 * (docs.slack.dev/apis/web-api/rate-limits).
 */
const limits: Record<string, Limit> = {
  'chat.postMessage': { calls: 5, perMs: 5000, by: 'channel' },
  'chat.update': perMinute(50),
  'chat.postEphemeral': perMinute(100),
  'views.open': perMinute(100),
  'views.update': perMinute(100),
  'views.publish': perMinute(100),
  'users.info': perMinute(100),
  'usergroups.list': perMinute(20),
  'usergroups.users.list': perMinute(20),
  'conversations.info': perMinute(50),
  'conversations.history': perMinute(50),
  'conversations.replies': perMinute(50),
}

/** Counts calls in sliding windows. `now` is wall clock in ms. */
export function createRateLimits(now: () => number) {
  const calls = new Map<string, number[]>()

  return {
    /** Returns the seconds for `Retry-After`, or undefined if the call is within the limit. */
    retryAfter(method: string, args: Json): number | undefined {
      const limit = limits[method]
      if (limit === undefined) return undefined
      const key = `${method} ${limit.by ? stringOf(args[limit.by]) : ''}`
      const recent = (calls.get(key) ?? []).filter((at) => at > now() - limit.perMs)
      const oldest = recent[0]
      if (oldest !== undefined && recent.length >= limit.calls) return Math.max(1, Math.ceil((oldest + limit.perMs - now()) / 1000))
      calls.set(key, [...recent, now()])
      return undefined
    },
  }
}
