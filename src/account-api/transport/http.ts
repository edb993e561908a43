import { type Dispatcher, Pool } from 'undici'
import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/errors.ts'
import type { Secret } from '../../domain/secret.ts'
import { defaultHttpTimings, type HttpCall, type HttpCallReport, type HttpTimings } from './call.ts'
import { bodyProblem, headProblem } from './contract-problem.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { readErrorAnswer } from './error-answer.ts'
import { createPacing, type Pace, usualPace } from './pacing.ts'
import { parseRetryAfter, retryDelayMs } from './retry.ts'
import { codeOf, wasRequestSent } from './unreachable.ts'

/** A page of 100 Elastic IPs has about 80 KB, and the unpaged list of 500 plans 1 to 2 MB. The limit leaves room to grow. */
const maxResponseBytes = 8 * 1024 * 1024
/** While many moves are tracked, 64 confirming reads and 8 pages run in parallel. The other 8 keep reads for people from queueing. */
const maxConnections = 80
const maxReadTries = 3

/** The pause after a 429 that names no time. */
const defaultPauseMs = 1_000
/** The longest pause after a 429, whatever time it names. */
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
  const times: HttpTimings = { ...defaultHttpTimings, ...timings }
  const prefix = baseUrl.pathname.replace(/\/+$/, '')
  const redact = (text: string) => text.replaceAll(key.reveal(), '[redacted]')
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

  async function exchange<T>(request: HttpCall<T>, deadline: Deadline): Promise<{ status: number; value: T }> {
    const { operation } = request
    const answer = await send(request, deadline).catch((error: unknown) => {
      throw unreachable(operation, error, deadline, wasRequestSent(error))
    })
    const { statusCode: status, headers } = answer
    if (status >= 400) throw await toApiError(operation, answer)

    const empty = status === 204 || headers['content-length'] === '0'
    const problem = headProblem(status, headers, empty && request.mayBeEmpty === true)
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
      throw new ApiContractError({ operation, status, problem: bodyProblem(error) })
    }
  }

  function send({ method, path, body }: HttpCall<unknown>, deadline: Deadline) {
    return pool.request({
      method,
      path: `${prefix}${path}`,
      headers: {
        authorization: key.reveal(),
        accept: 'application/vnd.api+json, application/json',
        // Without this header, HTTP allows any encoding, and a small compressed answer can fill the memory once it is decompressed.
        'accept-encoding': 'identity',
        'api-version': '2023-06-01',
        'user-agent': 'lockkeeper',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: deadline.signal,
    })
  }

  async function toApiError(operation: string, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
    // If the body does not arrive, the status is enough.
    const text = await body.text().catch(() => '')
    const retryAfterMs = parseRetryAfter(headers['retry-after'], headers.date)
    return new ApiError({ operation, status, ...readErrorAnswer(text, redact), ...(retryAfterMs !== undefined && { retryAfterMs }) })
  }

  return {
    call,
    /** Closes the connections after the running calls have ended. */
    close: () => pool.close(),
  }
}
export type Http = ReturnType<typeof createHttp>

/** Ends the connection of an unwanted body. Otherwise a body that keeps arriving slowly would occupy the connection forever. */
function abandon({ body }: Dispatcher.ResponseData) {
  body.on('error', () => {}).destroy()
}

/** Builds the error of a call that was not sent, because the pacing allowed none before its deadline. */
function sendingPaused(operation: string) {
  return new ApiUnreachableError({ operation, requestSent: 'no', problem: 'held back, because the account API asks to slow down' })
}

function unreachable(operation: string, error: unknown, deadline: Deadline, requestSent: 'no' | 'unknown') {
  const ended = deadline.problem()
  if (ended !== undefined) return new ApiUnreachableError({ operation, requestSent: 'unknown', problem: ended })
  return new ApiUnreachableError({ operation, requestSent, problem: codeOf(error) })
}
