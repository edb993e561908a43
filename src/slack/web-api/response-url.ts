import type { SlackFailure } from './failure.ts'
import type { Message } from './messenger.ts'

interface RespondOptions {
  /** Replaces the message that was clicked. Otherwise an ephemeral message is added. */
  replaceOriginal?: boolean
}

/** Lists the allowed origins of response URLs. Slack's are on other hosts than its Web API; those of a stand-in are on the same host. */
export function responseOrigins(apiUrl: URL): string[] {
  return [apiUrl.origin, 'https://hooks.slack.com', 'https://hooks.slack-gov.com']
}

/**
 * Creates the function that answers through a `response_url`. Slack takes five answers within 30 minutes, also in channels where the bot is
 * not a member (docs.slack.dev, "Handling user interaction"). A URL of another origin than those allowed is refused.
 */
export function createResponder({
  allowedOrigins,
  fetch = globalThis.fetch,
}: {
  allowedOrigins: string[]
  fetch?: typeof globalThis.fetch
}) {
  return async function respond(url: string, message: Message, options: RespondOptions = {}): Promise<{ is: 'sent' } | SlackFailure> {
    if (!URL.canParse(url) || !allowedOrigins.includes(new URL(url).origin)) return { is: 'refused', error: 'foreign_response_url' }
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(4_000),
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...message,
          response_type: 'ephemeral',
          replace_original: options.replaceOriginal ?? false,
          parse: 'none',
          link_names: false,
        }),
      })
      await response.arrayBuffer()
      if (response.ok) return { is: 'sent' }
      return response.status >= 500
        ? { is: 'unknown', problem: `HTTP status ${response.status}` }
        : { is: 'refused', error: `http_${response.status}` }
    } catch (error) {
      return { is: 'unknown', problem: error instanceof Error ? error.name : 'no answer' }
    }
  }
}
export type Respond = ReturnType<typeof createResponder>
