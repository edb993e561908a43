import { ErrorCode } from '@slack/web-api'

/**
 * A failed call to Slack. `refused`: nothing happened, and Slack says why. `rate-limited`: nothing happened; try again later. `unknown`: no
 * usable answer came, so it may have happened. That includes `internal_error` and `fatal_error`: Slack documents that some aspect of the
 * operation may have succeeded.
 */
export type SlackFailure = { is: 'refused'; error: string } | { is: 'rate-limited'; retryInMs: number } | { is: 'unknown'; problem: string }

const ambiguous = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org'])

/** Classifies an error of the Web API client. Only Slack's short codes are passed on, never other texts such as a proxy's page. */
export function classifySlackFailure(thrown: unknown): SlackFailure {
  const error = (thrown ?? {}) as { code?: unknown; data?: { error?: unknown }; retryAfter?: unknown; statusCode?: unknown; name?: unknown }
  if (error.code === ErrorCode.RateLimitedError) return { is: 'rate-limited', retryInMs: Math.max(1, Number(error.retryAfter) || 1) * 1000 }
  if (error.code === ErrorCode.PlatformError) return classifyRefusal(error.data?.error)
  if (error.code === ErrorCode.HTTPError) return { is: 'unknown', problem: `HTTP status ${Number(error.statusCode) || 'unknown'}` }
  if (error.code === ErrorCode.RequestError) return { is: 'unknown', problem: 'no answer' }
  // Any other error says nothing about the result.
  return { is: 'unknown', problem: typeof error.name === 'string' ? error.name : 'no answer' }
}

/** Classifies the `error` of an answer without `ok: true`. */
export function classifyRefusal(error: unknown): SlackFailure {
  if (typeof error !== 'string' || !/^[a-z0-9_]{1,60}$/.test(error)) return { is: 'unknown', problem: 'an answer that is not from Slack' }
  // chat.postMessage uses the code with an underscore.
  if (error === 'ratelimited' || error === 'rate_limited') return { is: 'rate-limited', retryInMs: 1000 }
  return ambiguous.has(error) ? { is: 'unknown', problem: error } : { is: 'refused', error }
}

/** Makes a call to Slack. Returns a failure instead of throwing it. */
export async function attempt<T>(call: () => Promise<T>): Promise<T | SlackFailure> {
  try {
    return await call()
  } catch (error) {
    return classifySlackFailure(error)
  }
}

/** Slack's codes for a channel that takes no messages from Lockkeeper: it is gone or archived, or the bot is not a member or not allowed. */
export const unreachableChannelErrors = new Set([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'user_not_in_channel',
  'restricted_action',
])

/** Slack's codes for a token that it does not take anymore: a person revoked or replaced it, or removed the app. */
export const rejectedTokenErrors = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'])

/** Slack's codes for a message whose content it does not take. `http_400` is a response URL that gives no code. */
const contentErrors = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_arguments',
  'invalid_payload',
  'invalid_attachments',
  'msg_blocks_too_long',
  'msg_too_long',
  'http_400',
])

/** Whether Slack refused what a message holds, and not where it was to go. */
export function isContentRefused(result: { is: string; error?: string }): boolean {
  return result.is === 'refused' && contentErrors.has(result.error ?? '')
}
