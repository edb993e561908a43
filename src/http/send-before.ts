import { Agent, type Dispatcher, fetch, type Response } from 'undici'
import type { Deadline } from '../domain/deadline.ts'

export class TooLateError extends Error {
  override name = 'TooLateError'
}

/**
 * Compares the time where the bytes of a request leave. A process can stand still while its connection opens, for longer than every limit that
 * was checked before, and sockets are served before the timers that would have ended the call.
 */
export function sendBefore(deadline: Deadline, through: Dispatcher) {
  let state: 'waiting' | 'sent' | 'given up' = 'waiting'

  const dispatcher = through.compose((dispatch) => (options, handler) => {
    const guarded: Dispatcher.DispatchHandler = {
      onRequestStart(controller, context) {
        handler.onRequestStart?.(controller, context)
        if (!controller.aborted && (state === 'given up' || deadline.leftMs() <= 0)) controller.abort(new TooLateError('too late to send'))
        if (!controller.aborted) state = 'sent'
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStarted: () => handler.onResponseStarted?.(),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    }
    return dispatch(options, guarded)
  })

  /** Whether a request that failed may have arrived. After a no, it is not sent any more. */
  function wasSent(): boolean {
    if (state === 'waiting') state = 'given up'
    return state === 'sent'
  }

  return { dispatcher, wasSent }
}

/** A call that failed before anything of it was sent. `cause`: why. */
export class NotSentError extends Error {
  override name = 'NotSentError'
}

/**
 * A call that finds no free connection waits here, where its deadline counts. With HTTP/2 it could wait behind another one after its time was
 * compared, and one connection that no longer answers would hold up every call.
 */
const agent = new Agent({ connections: 100, allowH2: false })

/** The `fetch` of undici, which sends before the deadline or not at all: a NotSentError then. */
export async function fetchBefore(deadline: Deadline, input: string | URL, init: RequestInit | undefined): Promise<globalThis.Response> {
  const { dispatcher, wasSent } = sendBefore(deadline, agent)
  try {
    // The types of undici and of Node describe the same classes.
    const response: Response = await fetch(input, { ...(init as object), dispatcher })
    return response as unknown as globalThis.Response
  } catch (error) {
    throw wasSent() ? error : new NotSentError('not sent', { cause: error instanceof TypeError && error.cause ? error.cause : error })
  }
}
