import { classifyRefusal, type SlackFailure } from './failure.ts'

/** A call of Slack and how it ended: `ok`, a SlackFailure's word, another HTTP status than 200, or `unreachable` without a whole answer. */
export interface SlackCall {
  /** `chat.postMessage`; `response_url` for an answer by such an address; `other`. */
  method: string
  status: 'ok' | SlackFailure['is'] | number | 'unreachable'
  /** Slack's own code, where it refused. */
  error?: string
  ms: number
}

export type OnSlackCall = (call: SlackCall) => void

type Fetch = typeof globalThis.fetch

/**
 * The fetch that the Web API client uses, told to somebody. Slack's word is in the body, which the client reads as text: it is looked at
 * there, so that nothing is read twice, and a call whose answer is never read is not told.
 */
export function measuredFetch(onCall: OnSlackCall, fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const tell = startCall(onCall, methodOf(input))
    const response = await fetch(input, init).catch(tell.lost)
    if (response.status !== 200) {
      tell.ended(statusOf(response))
      return response
    }
    const read = response.text.bind(response)
    response.text = async () => {
      const body = await read().catch(tell.lost)
      const said = readAnswer(body)
      tell.ended(said.is, said.is === 'refused' ? said : {})
      return body
    }
    return response
  }
}

/** The same for answers by a `response_url`, which is a secret and in no label. Its HTTP status tells all. */
export function measuredResponseFetch(onCall: OnSlackCall, fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const tell = startCall(onCall, 'response_url')
    const response = await fetch(input, init).catch(tell.lost)
    tell.ended(statusOf(response))
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

function readAnswer(body: string): { is: 'ok' } | SlackFailure {
  // Slack's answers begin with it. Those that say no are short; only they, and what is not from Slack, are parsed here, too.
  if (/^\s*\{\s*"ok"\s*:\s*true\b/.test(body)) return { is: 'ok' }
  const answer = parse(body)
  return answer?.ok === true ? { is: 'ok' } : classifyRefusal(answer?.error)
}

function parse(body: string): { ok?: unknown; error?: unknown } | undefined {
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
