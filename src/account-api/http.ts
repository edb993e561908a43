import { type Dispatcher, Pool } from 'undici'
import { ApiContractError, ApiError, ApiUnreachableError } from '../domain/errors.ts'
import type { Secret } from '../domain/secret.ts'
import { defaultTimings, type HttpCall, type HttpCallReport, type Timings } from './call.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { readErrorAnswer } from './error-answer.ts'
import { headMisfit, misfit } from './misfit.ts'
import { createPacing, type Pace, usualPace } from './pacing.ts'
import { parseRetryAfter, retryDelayMs } from './retry.ts'
import { codeOf, wasRequestSent } from './unreachable.ts'

/** A page of 100 Elastic IPs is about 80 KB and a list of 500 plans, which is not paged, 1 to 2 MB: room to grow, and no room to hurt. */
const maxResponseBytes = 8 * 1024 * 1024
/** 64 confirming reads and 8 pages at a time while many moves are followed, and some for people, who should not queue behind them. */
const maxConnections = 80
const maxReadTries = 3

/** After a 429 that does not say how long, and at most, whatever it says. */
const shortestPauseMs = 1_000
const longestPauseMs = 120_000

export interface HttpOptions {
  baseUrl: URL
  key: Secret
  timings?: Partial<Timings>
  pace?: Pace
  onCall?: (report: HttpCallReport) => void
}

/** One pool to one origin: the key can go nowhere else, since nothing here follows a redirect or takes an address. */
export function createHttp({ baseUrl, key, timings, pace = usualPace, onCall }: HttpOptions) {
  const pacing = createPacing(pace)
  const times: Timings = { ...defaultTimings, ...timings }
  const prefix = baseUrl.pathname.replace(/\/+$/, '')
  const redact = (words: string) => words.replaceAll(key.reveal(), '[redacted]')
  const pool = new Pool(baseUrl.origin, {
    connections: maxConnections,
    pipelining: 1,
    // With HTTP/2 one stuck connection would hold up every call.
    allowH2: false,
    connect: { timeout: times.connectMs },
    headersTimeout: times.headersMs,
    bodyTimeout: times.bodyMs,
    keepAliveTimeout: 4_000,
    maxResponseSize: maxResponseBytes,
  })

  async function call<T>(request: HttpCall<T>): Promise<T> {
    const { operation, method, signal } = request
    if (signal?.aborted) throw new ApiUnreachableError({ operation, requestSent: 'no', problem: 'cancelled before it was sent' })

    const tries = method === 'GET' ? maxReadTries : 1
    const deadline = startDeadline(method === 'GET' ? times.readMs : times.writeMs, signal)
    try {
      for (let attempt = 1; ; attempt++) {
        if (!(await pacing.turn(deadline.wait))) throw heldBack(operation)
        try {
          return await observed(request, attempt, deadline)
        } catch (error) {
          if (error instanceof ApiError && error.status === 429)
            pacing.pause(Math.min(error.retryAfterMs ?? shortestPauseMs, longestPauseMs))
          const delayMs = attempt < tries ? retryDelayMs(error, attempt, times) : undefined
          if (delayMs === undefined || !(await deadline.wait(delayMs))) throw error
        }
      }
    } finally {
      deadline.end()
    }
  }

  async function observed<T>(request: HttpCall<T>, attempt: number, deadline: Deadline): Promise<T> {
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

  async function exchange<T>(request: HttpCall<T>, deadline: Deadline): Promise<{ status: number; value: T }> {
    const { operation } = request
    const answer = await send(request, deadline).catch((error: unknown) => {
      throw unreachable(operation, error, deadline, wasRequestSent(error))
    })
    const { statusCode: status, headers } = answer
    if (status >= 400) throw await refusal(operation, answer)

    const empty = status === 204 || headers['content-length'] === '0'
    const problem = headMisfit(status, headers, empty && request.mayBeEmpty === true)
    if (problem) {
      abandon(answer)
      throw new ApiContractError({ operation, status, problem })
    }
    const body = await answer.body.text().catch((error: unknown) => {
      if (codeOf(error) !== 'UND_ERR_RES_EXCEEDED_MAX_SIZE') throw unreachable(operation, error, deadline, 'unknown')
      throw new ApiContractError({ operation, status, problem: `more than ${maxResponseBytes} bytes` })
    })
    try {
      return { status, value: request.read(empty ? undefined : JSON.parse(body)) }
    } catch (error) {
      throw new ApiContractError({ operation, status, problem: misfit(error) })
    }
  }

  function send({ method, path, body }: HttpCall<unknown>, deadline: Deadline) {
    return pool.request({
      method,
      path: `${prefix}${path}`,
      headers: {
        authorization: key.reveal(),
        accept: 'application/vnd.api+json, application/json',
        // Without this, any encoding would be acceptable by the rules of HTTP, and a compressed answer can be a bomb.
        'accept-encoding': 'identity',
        'api-version': '2023-06-01',
        'user-agent': 'lockkeeper',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: deadline.signal,
    })
  }

  async function refusal(operation: string, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
    // The status says enough when the rest of the answer does not arrive.
    const words = await body.text().catch(() => '')
    const retryAfterMs = parseRetryAfter(headers['retry-after'], headers.date)
    return new ApiError({ operation, status, ...readErrorAnswer(words, redact), ...(retryAfterMs !== undefined && { retryAfterMs }) })
  }

  return {
    call,
    /** Waits for the calls under way. */
    close: () => pool.close(),
  }
}
export type Http = ReturnType<typeof createHttp>

/** Ends the connection: the body is not wanted, and one that drips would otherwise hold the connection for ever. */
function abandon({ body }: Dispatcher.ResponseData) {
  body.on('error', () => {}).destroy()
}

/** Nothing was sent: there was no turn for it before its deadline. */
function heldBack(operation: string) {
  return new ApiUnreachableError({ operation, requestSent: 'no', problem: 'held back, because the account API asks to slow down' })
}

function unreachable(operation: string, error: unknown, deadline: Deadline, requestSent: 'no' | 'unknown') {
  const over = deadline.problem()
  if (over !== undefined) return new ApiUnreachableError({ operation, requestSent: 'unknown', problem: over })
  return new ApiUnreachableError({ operation, requestSent, problem: codeOf(error) })
}
