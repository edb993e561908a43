/** Hears of every call of Slack's Web API: `chat.postMessage`, its HTTP status (or `unreachable`), and how long it took. */
export type OnSlackCall = (call: { method: string; status: number | 'unreachable'; ms: number }) => void

/** The fetch that the Web API client uses, told to somebody. Addresses other than methods are `other`. */
export function measuredFetch(onCall: OnSlackCall, fetch: typeof globalThis.fetch = globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const startedAt = performance.now()
    const method = methodOf(input)
    const told = (status: number | 'unreachable') => onCall({ method, status, ms: performance.now() - startedAt })
    try {
      const response = await fetch(input, init)
      told(response.status)
      return response
    } catch (error) {
      told('unreachable')
      throw error
    }
  }
}

function methodOf(input: Parameters<typeof globalThis.fetch>[0]): string {
  const address = input instanceof Request ? input.url : String(input)
  return /\/([a-z]+(?:\.[A-Za-z]+)+)(?:\?|$)/.exec(address)?.[1] ?? 'other'
}
