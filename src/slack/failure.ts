import { ErrorCode } from '@slack/web-api'

/**
 * What a failed call to Slack means. `refused`: Slack said no, nothing happened. `rate-limited`: nothing happened, try later.
 * `unknown`: no usable answer, so it may have happened (also `internal_error` and `fatal_error`, whose documentation says that
 * some aspect of the operation may have succeeded).
 */
export type SlackFailure = { is: 'refused'; error: string } | { is: 'rate-limited'; retryInMs: number } | { is: 'unknown'; problem: string }

const ambiguous = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org'])

/** Classifies what the Web API client threw. An error text that is not one of Slack's short codes (a proxy's page, say) is never passed on. */
export function classifySlackFailure(thrown: unknown): SlackFailure {
  const error = (thrown ?? {}) as { code?: unknown; data?: { error?: unknown }; retryAfter?: unknown; statusCode?: unknown; name?: unknown }
  if (error.code === ErrorCode.RateLimitedError) return { is: 'rate-limited', retryInMs: Math.max(1, Number(error.retryAfter) || 1) * 1000 }
  if (error.code === ErrorCode.PlatformError) return classifyRefusal(error.data?.error)
  if (error.code === ErrorCode.HTTPError) return { is: 'unknown', problem: `HTTP status ${Number(error.statusCode) || 'unknown'}` }
  if (error.code === ErrorCode.RequestError) return { is: 'unknown', problem: 'no answer' }
  // A timeout while the body is read surfaces as a bare DOMException, without a code of Slack's.
  return { is: 'unknown', problem: typeof error.name === 'string' ? error.name : 'no answer' }
}

/** Classifies the `error` of an answer without `ok: true`. */
export function classifyRefusal(error: unknown): SlackFailure {
  if (typeof error !== 'string' || !/^[a-z0-9_]{1,60}$/.test(error)) return { is: 'unknown', problem: 'an answer that is not from Slack' }
  // chat.postMessage says it with an underscore.
  if (error === 'ratelimited' || error === 'rate_limited') return { is: 'rate-limited', retryInMs: 1000 }
  return ambiguous.has(error) ? { is: 'unknown', problem: error } : { is: 'refused', error }
}

/** Slack would not take the message: the channel is gone, or the bot is not in it. */
export const unreachableChannelErrors = new Set([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'user_not_in_channel',
  'restricted_action',
])
