import { Pool } from 'undici'
import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/errors/api-errors.ts'
import type { Secret } from '../../domain/signing/secret.ts'
import { defaultHttpTimings, type HttpCall, type HttpCallReport, type HttpTimings } from './call.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { createExchange, maxResponseBytes } from './exchange.ts'
import { createListBudget } from './list-limits.ts'
import { createPacing, type Pace, usualPace } from './pacing.ts'
import { retryDelayMs } from './retry.ts'

/** Tracking uses up to 72 connections at once: 64 single reads and 8 pages of a list. The other 8 are for the reads of people. */
const maxConnections = 80
const maxReadTries = 3

/** The pause after a 429 that names no time. */
const defaultPauseMs = 1_000
/** The longest pause after a 429, even if the answer names a longer time. */
const longestPauseMs = 120_000

export interface HttpOptions {
  baseUrl: URL
  key: Secret
  timings?: Partial<HttpTimings>
  pace?: Pace
  onCall?: (report: HttpCallReport) => void
}

/**
 * Creates the HTTP transport: a pool of connections to one origin. The key cannot reach any other host, because redirects are not followed
 * and callers pass paths only. `call` throws ApiError, ApiContractError and ApiUnreachableError.
 */
export function createHttp({ baseUrl, key, timings, pace = usualPace, onCall }: HttpOptions) {
  const pacing = createPacing(pace)
  const listBudget = createListBudget()
  const times: HttpTimings = { ...defaultHttpTimings, ...timings }
  const pool = openPool(baseUrl, times)
  const exchange = createExchange({ pool, baseUrl, key })

  async function call<T>(request: HttpCall<T>): Promise<T> {
    const { operation, method, signal } = request
    if (signal?.aborted) throw new ApiUnreachableError({ operation, requestSent: 'no', problem: 'cancelled before it was sent' })

    const tries = method === 'GET' ? maxReadTries : 1
    const deadline = startDeadline(method === 'GET' ? times.readMs : times.writeMs, signal)
    try {
      for (let attempt = 1; ; attempt++) {
        if (!(await pacing.turn(deadline.wait))) throw sendingPaused(operation)
        try {
          return await attemptOnce(request, attempt, deadline)
        } catch (error) {
          if (error instanceof ApiError && error.status === 429)
            pacing.pause(Math.min(error.retryAfterMs ?? defaultPauseMs, longestPauseMs))
          const delayMs = attempt < tries ? retryDelayMs(error, attempt, times) : undefined
          if (delayMs === undefined || !(await deadline.wait(delayMs))) throw error
        }
      }
    } finally {
      deadline.end()
    }
  }

  async function attemptOnce<T>(request: HttpCall<T>, attempt: number, deadline: Deadline): Promise<T> {
    const startedAt = performance.now()
    const report = (status: HttpCallReport['status']) => {
      onCall?.({ operation: request.operation, attempt, status, ms: performance.now() - startedAt })
      request.onAnswer?.({ operation: request.operation, status })
    }
    try {
      const { status, value } = await exchange(request, deadline)
      report(status)
      return value
    } catch (error) {
      report(error instanceof ApiError ? error.status : error instanceof ApiContractError ? 'contract' : 'unreachable')
      throw error
    }
  }

  return {
    call,
    /** The time limit of a whole list, in milliseconds. */
    listMs: times.listMs,
    listBudget,
    /** Closes the connections after the running calls have ended. */
    close: () => pool.close(),
  }
}
export type Http = ReturnType<typeof createHttp>

function openPool({ origin }: URL, { connectMs, headersMs, bodyMs }: HttpTimings): Pool {
  return new Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    // With HTTP/2 one stuck connection would hold up every call.
    allowH2: false,
    connect: { timeout: connectMs },
    headersTimeout: headersMs,
    bodyTimeout: bodyMs,
    keepAliveTimeout: 4_000,
    maxResponseSize: maxResponseBytes,
  })
}

/** Builds the error of a call that was not sent, because the pacing allowed none before its deadline. */
function sendingPaused(operation: string) {
  return new ApiUnreachableError({ operation, requestSent: 'no', problem: 'not sent, because the account API limits requests' })
}
