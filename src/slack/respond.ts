import { classifyRefusal, type Done, fetchInTime, type Message, type MessengerParts } from './web-api.ts'

/** Lists the allowed origins of response URLs. Slack's are on other hosts than its Web API; those of a stand-in are on the same host. */
export function responseOrigins(apiUrl: URL): string[] {
  return [apiUrl.origin, 'https://hooks.slack.com', 'https://hooks.slack-gov.com']
}

interface ResponderParts {
  allowedOrigins: string[]
  named?: MessengerParts['named']
  fetch?: typeof globalThis.fetch
}

/** Five answers within 30 minutes, also where the bot is no member (docs.slack.dev, "Handling user interaction"). Other origins are refused. */
export function createResponder({ allowedOrigins, named = (sent) => sent, fetch = fetchInTime }: ResponderParts) {
  return async (url: string, message: Message, { replaceOriginal = false } = {}): Promise<Done> => {
    if (!URL.canParse(url) || !allowedOrigins.includes(new URL(url).origin)) return { is: 'refused', error: 'foreign_response_url' }
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(4_000),
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({
          ...named(message),
          response_type: 'ephemeral',
          replace_original: replaceOriginal,
          parse: 'none',
          link_names: false,
        }),
      })
      return resultOf(response.status, await response.text())
    } catch (error) {
      return { is: 'unknown', problem: problemOf(error) }
    }
  }
}
export type Respond = ReturnType<typeof createResponder>

/** What `fetch` fails with has a cause with the code (`ECONNREFUSED`). After a timeout, it is a TimeoutError, without one. */
function problemOf(error: unknown): string {
  const { name, cause } = error as Error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : name
  return /^\w{1,60}$/.test(code) && code !== 'TypeError' ? code : 'no answer'
}

/** Undocumented: the statuses 200, 400, 404 and 500, with the code as text or JSON (bolt-js, issue 377; node-slack-sdk, issue 1627). */
function resultOf(status: number, body: string): Done {
  const code = errorCodeIn(body)
  if (code !== undefined && status !== 429) {
    const failure = classifyRefusal(code)
    if (failure.is === 'refused') return failure
  }
  if (status < 300 && code === undefined) return { is: 'sent' }
  return status >= 500 || status < 300 ? { is: 'unknown', problem: `HTTP status ${status}` } : { is: 'refused', error: `http_${status}` }
}

/** Finds Slack's code in a body such as `invalid_payload` or `{"ok":false,"error":"invalid_blocks"}`. Undefined for `ok` and for anything else. */
function errorCodeIn(body: string): string | undefined {
  const text = body.trim()
  if (/^[a-z]+(_[a-z]+)+$/.test(text)) return text
  const [, error] = /^\{\s*"ok"\s*:\s*false\b.*"error"\s*:\s*"([a-z0-9_]+)"/s.exec(text) ?? []
  return error
}
