import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import { z } from 'zod'
import type { OnAnswer } from '../domain/change.ts'
import { type Deadline, deadlineIn } from '../domain/deadline.ts'
import {
  AccountLimitError,
  AnswerTooLongError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  isRateLimited,
  isUnanswered,
} from '../domain/errors.ts'
import { type CallKind, currentSpender, type Lane, useTakenTurn } from '../domain/lane.ts'
import type { Secret } from '../domain/signing.ts'
import { sendBefore, TooLateError } from '../http/send-before.ts'
import { type AccountBudget, turnValidMs } from './budget.ts'
import { toNumber, toText } from './fields.ts'

/** All in milliseconds. `readMs` and `writeMs` limit a whole call: for a read, all attempts and the pauses between them. */
export const defaultHttpTimings = {
  connectMs: 5_000,
  readMs: 15_000,
  writeMs: 20_000,
  listMs: 30_000,
  retryBaseMs: 250,
  retryMaxMs: 2_000,
}
type HttpTimings = typeof defaultHttpTimings

/** A page of 100 Elastic IPs has about 80 KB, and the unpaged list of 500 plans 1 to 2 MB. The limit leaves room to grow. */
const maxResponseBytes = 8 * 1024 * 1024
/** More than the calls that the account allows in a minute: a write that waited behind slow reads would lose its turn, again and again. */
export const maxConnections = 100
const maxReadTries = 3

/** The pause after a 429 that names no time. The account names one, so such a 429 is another's. */
const defaultPauseMs = 5_000
const longestPauseMs = 120_000

/** How long a call waits for its turn. Where nobody waits, the next attempt is soon enough. */
const patienceMs: Record<Lane, number> = { send: 10_000, person: 1_500, track: 0, background: 0, bundle: 10_000, retract: 10_000 }

export interface HttpCall<T> {
  /** Lockkeeper's own name for the operation, used in errors, logs and metrics: `elasticIps.move`. */
  operation: string
  /** GET is retried after a transient failure. Every other method is a write and is sent exactly once. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path and the query. Ids in it are encoded by `pathTo`. */
  path: string
  body?: unknown
  mostBytes?: number
  /** How often a GET is sent at most. */
  tries?: number
  signal?: AbortSignal
  onAnswer?: OnAnswer
  /** Converts the JSON of a 2xx answer, or undefined for one without a body. `size` is the length of its text. Throws if it does not fit. */
  read: (json: unknown, size: number) => T
}

/** Aborting `signal` ends the wait; a write that was already sent may still be carried out. `onAnswer` receives the outcome for the audit. */
export type CallOptions = Pick<HttpCall<unknown>, 'signal' | 'tries'>
export type WriteOptions = Pick<HttpCall<unknown>, 'signal' | 'onAnswer'>

/** One attempt, counted from 1. `status`: the HTTP status, or why there is none. */
interface HttpCallReport {
  operation: string
  attempt: number
  status: number | 'unreachable' | 'contract'
  ms: number
}

export interface HttpOptions {
  baseUrl: URL
  key: Secret
  timings?: Partial<HttpTimings>
  turns?: Pick<AccountBudget, 'perMinute' | 'take' | 'pause'> & Partial<Pick<AccountBudget, 'spentShare'>>
  onCall?: (report: HttpCallReport) => void
  onSkipped?: (report: { operation: string; count: number }) => void
}

interface Use {
  kind: CallKind
  deadline: CallDeadline
}

/** How long a read that the account did not answer explains that there is no turn for another one. */
const unansweredMs = 60_000

/** The key cannot reach any other host, because redirects are not followed and callers pass paths only. */
export function createHttp({ baseUrl, key, timings, turns, onCall, onSkipped = () => {} }: HttpOptions) {
  const times: HttpTimings = { ...defaultHttpTimings, ...timings }
  const prefix = baseUrl.pathname.replace(/\/+$/, '')
  const pool = new Pool(baseUrl.origin, {
    connections: maxConnections,
    pipelining: 1,
    // With HTTP/2 one stuck connection would hold up every call.
    allowH2: false,
    connect: { timeout: times.connectMs },
    keepAliveTimeout: 4_000,
  })

  /** Why the account did not answer the last read. */
  let unanswered: { error: unknown; at: number } | undefined

  async function call<T>(request: HttpCall<T>): Promise<T> {
    const { operation, method, signal, tries: mostTries = maxReadTries } = request
    if (signal?.aborted) throw new ApiUnreachableError({ operation, requestSent: 'no', problem: 'cancelled before it was sent' })

    const kind = method === 'GET' ? 'read' : 'write'
    const tries = kind === 'read' ? mostTries : 1
    const deadline = startDeadline(kind === 'read' ? times.readMs : times.writeMs, signal)
    const use: Use = { kind, deadline }
    let failure: unknown
    for (let attempt = 1; ; attempt++) {
      // What happened to an attempt says more than that the next one has to wait.
      const turn = await takeTurn(operation, use).catch((error: unknown) => {
        throw failure ?? error
      })
      try {
        return await exchange(request, attempt, use, turn)
      } catch (error) {
        const limited = await pauseAfter(error, use)
        failure = limited ?? error
        // The next turn waits for the end of the pause, if that is soon enough.
        if (limited && turns && attempt < tries) continue
        const delayMs = attempt < tries ? retryDelayMs(error, attempt, times) : undefined
        if (delayMs === undefined || !(await deadline.wait(delayMs))) throw failure
      }
    }
  }

  /** `turn`: until when it may be sent at the latest. The account would count it too late otherwise. */
  async function exchange<T>(request: HttpCall<T>, attempt: number, { deadline }: Use, turn?: Deadline): Promise<T> {
    const { operation, method, path, body, mostBytes = maxResponseBytes } = request
    const startedAt = performance.now()
    const report = (status: HttpCallReport['status']) => {
      onCall?.({ operation, attempt, status, ms: performance.now() - startedAt })
      request.onAnswer?.({ operation, ...(typeof status === 'number' ? { status } : { problem: status }) })
    }
    try {
      const headers = {
        authorization: key.reveal(),
        accept: 'application/vnd.api+json, application/json',
        // Without this header, HTTP allows any encoding, and a small compressed answer can fill the memory once it is decompressed.
        'accept-encoding': 'identity',
        'api-version': '2023-06-01',
        'user-agent': 'lockkeeper',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      }
      const sent = { method, path: `${prefix}${path}`, headers, body: body === undefined ? null : JSON.stringify(body) }
      const { dispatcher, wasSent } = sendBefore(turn ?? deadline, pool)
      const answer = await dispatcher.request({ ...sent, signal: deadline.signal }).catch((error: unknown) => {
        // Without its turn it waits for the next one, like a call that the account API refused because of its limit.
        if (turn && error instanceof TooLateError)
          throw new AccountLimitError({ operation, kind: 'write', perMinute: turns?.perMinute.write, waitMs: 0, answered: false })
        throw unreachable(operation, error, deadline, wasSent() ? 'unknown' : 'no')
      })
      const status = answer.statusCode
      if (status >= 400) {
        // If the body does not arrive, the status is enough.
        const text = await readBody(answer, maxResponseBytes).catch(() => '')
        const redact = (shown: string) => shown.replaceAll(key.reveal(), '[redacted]')
        throw new ApiError({ operation, status, ...readErrorAnswer(text, answer.headers['retry-after'], redact) })
      }
      const isEmpty = status === 204 || answer.headers['content-length'] === '0'
      const problem = headProblem(answer, isEmpty)
      if (problem) {
        // Otherwise a body that keeps arriving slowly would occupy the connection forever.
        answer.body.on('error', () => {}).destroy()
        throw new ApiContractError({ operation, status, problem })
      }
      const text = await readBody(answer, mostBytes).catch((error: unknown) => {
        if (error instanceof RangeError) throw new AnswerTooLongError({ operation, status, problem: `more than ${mostBytes} bytes` })
        throw unreachable(operation, error, deadline, 'unknown')
      })
      const value = readValue(request, status, isEmpty ? undefined : text)
      report(status)
      unanswered = undefined
      return value
    } catch (error) {
      if (method === 'GET') unanswered = isUnanswered(error) && !isRateLimited(error) ? { error, at: startedAt } : undefined
      report(error instanceof ApiError ? error.status : error instanceof ApiContractError ? 'contract' : 'unreachable')
      throw error
    }
  }

  /** Returns the time until which a write may use its turn. A read may use it for as long as its call lasts, because it changes nothing. */
  async function takeTurn(operation: string, { kind, deadline }: Use): Promise<Deadline | undefined> {
    if (!turns) return undefined
    const taken = kind === 'write' ? useTakenTurn() : undefined
    if (taken) return taken
    const by = currentSpender(operation)
    const until = performance.now() + patienceMs[by.lane]
    for (;;) {
      const turn = kind === 'write' ? deadlineIn(turnValidMs) : undefined
      const waitMs = await turns.take(kind, by)
      if (waitMs === 0) return turn
      if (performance.now() + waitMs <= until && (await deadline.wait(waitMs))) continue
      const share = await turns.spentShare?.(kind, by)
      const limited = new AccountLimitError({ operation, kind, perMinute: turns.perMinute[kind], waitMs, share, answered: false })
      // Reads that fail spend the limit, too, and people must learn why they failed.
      const isAway = kind === 'read' && by.lane === 'person' && unanswered && performance.now() - unanswered.at < unansweredMs
      throw isAway ? Object.assign(limited, { cause: unanswered?.error }) : limited
    }
  }

  /** An AccountLimitError: certainly not carried out. Another 429 of a write may come from a proxy that has passed the write on. */
  async function pauseAfter(error: unknown, { kind }: Use): Promise<AccountLimitError | undefined> {
    if (!(error instanceof ApiError) || error.status !== 429) return undefined
    const waitMs = Math.min(error.retryAfterMs ?? defaultPauseMs, longestPauseMs)
    // Without Redis no write is sent, and the next read gets the same answer at worst.
    await turns?.pause(kind, waitMs).catch(() => {})
    if (kind === 'write' && !isRateLimited(error)) return undefined
    return new AccountLimitError({ operation: error.operation, kind, perMinute: turns?.perMinute[kind], waitMs, answered: true })
  }

  return {
    call,
    onSkipped,
    listMs: times.listMs,
    /** The bytes of the lists that are being read, so that many of them at once do not fill the memory. */
    reading: { bytes: 0 },
    shortPages: new Map<string, 'last' | 'not-last'>(),
    close: () => pool.close(),
  }
}
export type Http = ReturnType<typeof createHttp>

export function startDeadline(ms: number, caller: AbortSignal | undefined) {
  const signal = AbortSignal.any([AbortSignal.timeout(ms), ...(caller ? [caller] : [])])
  const { leftMs } = deadlineIn(ms)

  return {
    signal,
    leftMs,
    reason: () => (caller?.aborted ? 'cancelled by the caller' : `not finished within ${ms} ms`),
    /** Resolves with true after `waitMs`, and with false at once if the wait would outlast the deadline or when the caller aborts. */
    async wait(waitMs: number): Promise<boolean> {
      if (waitMs >= leftMs()) return false
      return delay(waitMs, true, { signal }).catch(() => false)
    },
  }
}
type CallDeadline = ReturnType<typeof startDeadline>

function headProblem({ statusCode, headers }: Dispatcher.ResponseData, isEmpty: boolean): string | undefined {
  if (statusCode >= 300) return 'a redirect, which is not followed'
  if (String(headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return 'an encoded body, which was not requested'
  const isJson = /^application\/(vnd\.api\+json|json)\s*(;|$)/i.test(String(headers['content-type'] ?? ''))
  return isEmpty || isJson ? undefined : 'not JSON'
}

/** Reads a body as text. Throws a RangeError if it has more than `most` bytes; its connection is then closed. */
async function readBody({ body }: Dispatcher.ResponseData, most: number): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw new RangeError('longer than requested')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** Its errors have no text of the body, which can hold a token. The path of a schema error consists of names from our own schemas. */
function readValue<T>({ operation, read }: HttpCall<T>, status: number, text: string | undefined): T {
  try {
    return read(text === undefined ? undefined : JSON.parse(text), text?.length ?? 0)
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined
    const unexpected = issue ? `unexpected ${issue.path.map(String).join('.') || 'body'}` : 'an unexpected body'
    throw new ApiContractError({ operation, status, problem: error instanceof SyntaxError ? 'not JSON' : unexpected })
  }
}

/** Accepts both shapes of errors: `{code, message}` and `{code, status, title, detail, source, meta}`. Any member can be missing. */
const ErrorItem = z
  .object({
    code: z.unknown(),
    detail: z.unknown(),
    message: z.unknown(),
    title: z.unknown(),
    /** Accompanies a 429. In seconds. */
    meta: z.object({ retry_after: z.unknown() }).partial().catch({}),
  })
  .partial()
const ErrorsResponse = z.object({ errors: z.array(ErrorItem.catch({})) })

const maxDetailLength = 200

/** Leaves codes and message out for a body in another shape (HTML, empty, cut short). The wait is in seconds, in the header or the body. */
function readErrorAnswer(
  body: string,
  retryAfter: unknown,
  redact: (text: string) => string,
): Pick<ApiError, 'codes' | 'detail' | 'retryAfterMs'> {
  const items = parseErrors(body)
  // No error needs to quote what looks like a token.
  const clean = (value: unknown) =>
    redact(toText(value) ?? '')
      .replace(/[0-9a-f]{32,}/gi, '[redacted]')
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
  const codes = items.map(({ code }) => clean(code)).filter((code) => /^[\w.-]{1,64}$/.test(code))
  const detail = items.flatMap(({ detail, message, title }) => [detail, message, title].map(clean)).find((words) => words !== '')
  const waits = [retryAfter, ...items.map(({ meta }) => meta?.retry_after)].map(toNumber)
  const seconds = waits.find((number) => number !== undefined && number >= 0)
  return {
    codes: codes.slice(0, 10),
    // Without half of a surrogate pair at the end.
    detail: detail && detail.length > maxDetailLength ? `${detail.slice(0, maxDetailLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : detail,
    retryAfterMs: seconds && Math.ceil(seconds * 1000),
  }
}

function parseErrors(body: string): z.infer<typeof ErrorItem>[] {
  try {
    return ErrorsResponse.parse(JSON.parse(body)).errors
  } catch {
    return []
  }
}

/** 500 is included: two more reads are cheaper than an error that a person sees because one process of the account API died. */
const transientStatuses = [429, 500, 502, 503, 504]

/** Undefined if another attempt would get the same answer. */
function retryDelayMs(error: unknown, failedTries: number, { retryBaseMs, retryMaxMs }: HttpTimings): number | undefined {
  const isTransient = error instanceof ApiError ? transientStatuses.includes(error.status) : error instanceof ApiUnreachableError
  if (!isTransient) return undefined
  if (error instanceof ApiError && error.retryAfterMs !== undefined) return error.retryAfterMs
  // Full jitter, so that replicas that failed together do not retry together.
  return Math.random() * Math.min(retryBaseMs * 2 ** (failedTries - 1), retryMaxMs)
}

function unreachable(operation: string, error: unknown, { signal, leftMs, reason }: CallDeadline, requestSent: 'no' | 'unknown') {
  const problem = signal.aborted || leftMs() <= 0 ? reason() : codeOf(error)
  return new ApiUnreachableError({ operation, requestSent, problem })
}

/** Only the code (`ECONNRESET`), because the message may quote what was sent or received. */
function codeOf(error: unknown): string {
  const code = error instanceof Error ? String(Reflect.get(error, 'code') ?? '') : ''
  return /^\w{1,60}$/.test(code) ? code : 'transport error'
}
