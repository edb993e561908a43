import { classifyRefusal, type SlackFailure } from './failure.ts'

/** The longest time that one call to Slack takes, with its whole answer, in ms. */
export const longestCallMs = 5_000

/** A call to Slack. `status`: `ok`, the kind of a SlackFailure, another HTTP status than 200, or `unreachable` if no whole answer came. */
export interface SlackCall {
  /** `chat.postMessage` and so on; `response_url` for an answer through one; or `other`. */
  method: string
  status: 'ok' | SlackFailure['is'] | number | 'unreachable'
  /** Slack's code, if it refused. */
  error?: string
  ms: number
}

export type OnSlackCall = (call: SlackCall) => void

type Fetch = typeof globalThis.fetch

/**
 * Makes a fetch for the Web API client that reports every call. Slack's result is in the body, which the client reads as text. The result
 * is taken from that text, so that no body is read twice. A call whose body is never read is not reported.
 */
export function measuredFetch(onCall: OnSlackCall, fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const call = startCall(onCall, methodOf(input))
    const response = await fetch(input, init).catch(call.lost)
    if (response.status !== 200) {
      call.ended(statusOf(response))
      return response
    }
    const read = response.text.bind(response)
    response.text = async () => {
      const body = await read().catch(call.lost)
      const result = resultOf(body)
      call.ended(result.is, result.is === 'refused' ? result : {})
      return body
    }
    return response
  }
}

/** Makes the same for answers through a `response_url`. Its HTTP status is the result. The URL is a secret and is never reported. */
export function measuredResponseFetch(onCall: OnSlackCall, fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const call = startCall(onCall, 'response_url')
    const response = await fetch(input, init).catch(call.lost)
    call.ended(statusOf(response))
    return response
  }
}

function startCall(onCall: OnSlackCall, method: string) {
  const startedAt = performance.now()
  const ended = (status: SlackCall['status'], { error }: { error?: string } = {}) =>
    onCall({ method, status, ...(error === undefined ? {} : { error }), ms: performance.now() - startedAt })
  const lost = (error: unknown): never => {
    ended('unreachable')
    throw error
  }
  return { ended, lost }
}

function statusOf({ ok, status }: Response): SlackCall['status'] {
  if (ok) return 'ok'
  return status === 429 ? 'rate-limited' : status
}

function resultOf(body: string): { is: 'ok' } | SlackFailure {
  // Successful answers begin like this and are not parsed twice. The others are short, or not from Slack.
  if (/^\s*\{\s*"ok"\s*:\s*true\b/.test(body)) return { is: 'ok' }
  const answer = parseJson(body)
  return answer?.ok === true ? { is: 'ok' } : classifyRefusal(answer?.error)
}

function parseJson(body: string): { ok?: unknown; error?: unknown } | undefined {
  try {
    return JSON.parse(body) ?? undefined
  } catch {
    return undefined
  }
}

function methodOf(input: Parameters<Fetch>[0]): string {
  const address = input instanceof Request ? input.url : String(input)
  return /\/([a-z]+(?:\.[A-Za-z]+)+)(?:\?|$)/.exec(address)?.[1] ?? 'other'
}
