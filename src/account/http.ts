import { EventEmitter } from 'node:events'
import { type Dispatcher, Pool } from 'undici'
import { z } from 'zod'
import type { KeyVariable } from '../domain/account.ts'
import type { OnAnswer } from '../domain/change.ts'
import {
  AccountLimitError,
  AnswerTooLongError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  isCertificateError,
  isRateLimited,
} from '../domain/errors.ts'
import {
  type CallKind,
  currentSpender,
  type KeyName,
  mayShareReads,
  mayUseReadKey,
  type Spender,
  type Turns,
  useTakenTurn,
} from '../domain/lane.ts'
import type { Secret } from '../domain/signing.ts'
import { unlessAborted } from '../domain/within.ts'
import { toNumber, toText } from './fields.ts'

/** All in milliseconds. `readMs` and `writeMs` limit a whole call: for a read, all attempts and the pauses between them. */
export const defaultHttpTimings = {
  connectMs: 5_000,
  headersMs: 10_000,
  /** The longest gap between two pieces of a body. A body that keeps arriving slowly is ended by the deadline of the whole call. */
  bodyMs: 10_000,
  readMs: 15_000,
  writeMs: 20_000,
  /** For a whole list with all its pages. */
  listMs: 30_000,
  retryBaseMs: 250,
  retryMaxMs: 2_000,
}
type HttpTimings = typeof defaultHttpTimings

export interface HttpCall<T> {
  /** Lockkeeper's own name for the operation, used in errors, logs and metrics: `elasticIps.move`. */
  operation: string
  /** GET is retried after a transient failure. Every other method is a write and is sent exactly once. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path and the query. Built by `pathTo` and `withQuery`, or a constant. */
  path: string
  body?: unknown
  /** The most bytes of the answer's body. By default 8 MB, which is also the most. */
  mostBytes?: number
  signal?: AbortSignal | undefined
  /** Called with the outcome of each attempt. */
  onAnswer?: OnAnswer | undefined
  /** Converts the JSON of a 2xx answer, or undefined for an answer without a body. `size` is the length of its text. Throws if it does not fit the schema. */
  read: (json: unknown, size: number) => T
  /** True if a 2xx answer may have no body. */
  mayBeEmpty?: boolean
}

/** Options of every operation. Aborting `signal` ends the wait; a write that was already sent may still be carried out. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** Options of a write. `onAnswer` receives the outcome, so that it can be recorded in the audit. */
export interface WriteOptions extends CallOptions {
  onAnswer?: OnAnswer | undefined
}

/** The outcome of one attempt. `status` is the HTTP status, or why there is none; `ms` is the duration in milliseconds. */
interface HttpCallReport {
  operation: string
  /** Counted from 1. */
  attempt: number
  status: number | 'unreachable' | 'contract'
  ms: number
}

/**
 * Describes why the body of an answer does not fit the schema, without any of its text: JSON.parse quotes the body in its messages, and a
 * body can hold a token. The path of a schema error is safe to show, because it consists of names from Lockkeeper's own schemas.
 */
function bodyProblem(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON'
  const issue = error instanceof z.ZodError ? error.issues[0] : undefined
  return issue ? `unexpected ${issue.path.map(String).join('.') || 'body'}` : 'an unexpected body'
}

const json = /^application\/(vnd\.api\+json|json)\s*(;|$)/i

/**
 * Describes why the status or the headers of a 2xx or 3xx answer rule out the requested resource. Returns undefined if they do not. Only an
 * answer that `hasNoBody` needs no content type.
 */
function headProblem(status: number, headers: Record<string, string | string[] | undefined>, hasNoBody: boolean): string | undefined {
  if (status >= 300) return 'a redirect, which is not followed'
  if (String(headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return 'an encoded body, which was not requested'
  if (!hasNoBody && !json.test(String(headers['content-type'] ?? ''))) return 'not JSON'
}

/**
 * Starts the time limit of a whole call with all its attempts. The deadline also ends when the caller's signal is aborted. Call `end`
 * afterwards; otherwise its timer keeps running. `signal` is an EventEmitter, which undici accepts in place of an AbortSignal: creating an
 * AbortSignal for each call takes a tenth of the time that reading a page takes.
 */
function startDeadline(ms: number, caller: AbortSignal | undefined) {
  const signal = new EventEmitter()
  const endsAt = performance.now() + ms
  let problem: string | undefined

  function stop(why: string) {
    problem ??= why
    signal.emit('abort')
  }
  const cancel = () => stop('cancelled by the caller')
  const timer = setTimeout(() => stop(`not finished within ${ms} ms`), ms)
  if (caller?.aborted) cancel()
  else caller?.addEventListener('abort', cancel, { once: true })

  return {
    signal,
    /** Returns why the deadline ended, or undefined while it has not. */
    problem: () => problem,
    /** Resolves with true after `waitMs`. Resolves with false at once if the wait would outlast the deadline or when the caller aborts. */
    wait(waitMs: number): Promise<boolean> {
      if (problem !== undefined || performance.now() + waitMs >= endsAt) return Promise.resolve(false)
      return new Promise((resolve) => {
        const end = (waited: boolean) => {
          clearTimeout(waiting)
          signal.off('abort', giveUp)
          resolve(waited)
        }
        const giveUp = () => end(false)
        const waiting = setTimeout(() => end(true), waitMs)
        signal.once('abort', giveUp)
      })
    },
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
type Deadline = ReturnType<typeof startDeadline>

/** Accepts both shapes of errors: `{code, message}` and `{code, status, title, detail, source, meta}`. Any member can be missing. */
const ErrorsResponse = z.object({ errors: z.array(z.unknown()) })
const ErrorItem = z
  .object({ code: z.unknown(), detail: z.unknown(), message: z.unknown(), title: z.unknown(), meta: z.unknown() })
  .partial()
/** `retry_after` accompanies a 429 and is in seconds. */
const ErrorMeta = z.object({ retry_after: z.unknown() }).partial()

const maxDetailLength = 200
const longestRetryAfterSeconds = 1_000_000_000
const plainCode = /^[\w.-]{1,64}$/
/** API tokens look like this. They are redacted, because no error needs to quote one. */
const tokenLike = /[0-9a-f]{32,}/gi
const blanks = /[\s\p{Cc}]+/gu

/**
 * Reads the codes (at most 10), the first message and the wait from the body of an error answer. Cuts the message to 200 characters and
 * removes keys and tokens. Returns no codes and no message for a body in any other shape (HTML, empty, cut short).
 */
function readErrorAnswer(body: string, redact: (text: string) => string): { codes: string[]; detail?: string; retryAfterMs?: number } {
  const items = parseErrors(body)
  const clean = (value: string) => redact(value).replace(tokenLike, '[redacted]').replace(blanks, ' ').trim()
  const codes = items.map((item) => clean(toText(item.code) ?? '')).filter((code) => plainCode.test(code))
  const detail = items.flatMap((item) => [item.detail, item.message, item.title]).map((words) => clean(toText(words) ?? ''))
  const first = detail.find((words) => words !== '')
  const retryAfterMs = retryAfterMsOf(items)
  return {
    codes: codes.slice(0, 10),
    ...(first && { detail: shorten(first) }),
    retryAfterMs,
  }
}

function retryAfterMsOf(items: z.infer<typeof ErrorItem>[]): number | undefined {
  const seconds = items
    .map(({ meta }) => toNumber(ErrorMeta.safeParse(meta).data?.retry_after))
    .find((number) => number !== undefined && number >= 0 && number <= longestRetryAfterSeconds)
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000)
}

function parseErrors(body: string): z.infer<typeof ErrorItem>[] {
  try {
    const { errors } = ErrorsResponse.parse(JSON.parse(body))
    return errors.flatMap((error) => ErrorItem.safeParse(error).data ?? [])
  } catch {
    return []
  }
}

/** Cuts by code points, so that no half of a surrogate pair is left. */
function shorten(words: string): string {
  return words.length <= maxDetailLength ? words : `${[...words.slice(0, maxDetailLength * 2)].slice(0, maxDetailLength - 1).join('')}…`
}

/**
 * Rate limits and temporary faults of proxies. 500 is included, although it may be a defect that recurs: a read changes nothing, and two
 * more reads are cheaper than an error that a person sees because one process of the account API died.
 */
const transientStatuses = new Set([429, 500, 502, 503, 504])

/** Returns the milliseconds to wait before a read is sent again, or undefined if another attempt would get the same answer. */
function retryDelayMs(error: unknown, failedTries: number, timings: { retryBaseMs: number; retryMaxMs: number }): number | undefined {
  if (error instanceof ApiError) {
    if (!transientStatuses.has(error.status)) return undefined
    if (error.retryAfterMs !== undefined) return error.retryAfterMs
  } else if (!(error instanceof ApiUnreachableError)) {
    return undefined
  }
  // Full jitter, so that replicas that failed together do not retry together.
  return Math.random() * Math.min(timings.retryBaseMs * 2 ** (failedTries - 1), timings.retryMaxMs)
}

/**
 * Parses a `Retry-After` header, which holds seconds or a date, to milliseconds. A date is compared with the `Date` header of the same
 * answer, so that a wrong local clock does no harm. Returns undefined for anything else.
 */
function parseRetryAfter(value: unknown, date: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000
  const until = Date.parse(trimmed)
  // Date.parse accepts some numbers, such as -5, as dates. A date in this header always contains letters.
  if (Number.isNaN(until) || !/[a-z]/i.test(trimmed)) return undefined
  const serverNow = typeof date === 'string' ? Date.parse(date) : Number.NaN
  return Math.max(0, until - (Number.isNaN(serverNow) ? Date.now() : serverNow))
}

/** Error codes that occur only before a connection exists, so no part of the request was sent. */
const beforeConnection = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_INVALID_ARG',
])
const connecting = new Set(['connect', 'getaddrinfo'])

/**
 * Returns `no` if a transport error proves that the request was not sent, and `unknown` otherwise. A reused connection that closes looks
 * the same whether or not the server had already read the request.
 */
function wasRequestSent(error: unknown): 'no' | 'unknown' {
  const errors = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error]
  return errors.every(isBeforeConnection) ? 'no' : 'unknown'
}

/** Returns only the code of a transport error (`ECONNRESET`), because its message may quote what was sent or received. */
function codeOf(error: unknown): string {
  const code = property(error, 'code')
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'transport error'
}

function isBeforeConnection(error: unknown): boolean {
  const code = codeOf(error)
  // A certificate is rejected in the TLS handshake, before the request is sent.
  return beforeConnection.has(code) || isCertificateError(code) || connecting.has(String(property(error, 'syscall')))
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined
}

/** A page of 100 Elastic IPs has about 80 KB, and the unpaged list of 500 plans 1 to 2 MB. The limit leaves room to grow. */
const maxResponseBytes = 8 * 1024 * 1024
interface ExchangeParts {
  pool: Pool
  baseUrl: URL
  /** Undefined if this process does not have it. Its calls then throw. */
  key: Secret | undefined
  /** The variable that holds it. */
  name: KeyVariable
}

/**
 * Creates the exchange of one request for one answer. It throws ApiError for a status of 400 or more, ApiContractError for an answer that
 * does not fit, and ApiUnreachableError if no answer came.
 */
function createExchange({ pool, baseUrl, key, name }: ExchangeParts) {
  const prefix = baseUrl.pathname.replace(/\/+$/, '')
  const redact = (text: string) => (key ? text.replaceAll(key.reveal(), '[redacted]') : text)

  return async function exchange<T>(request: HttpCall<T>, deadline: Deadline): Promise<{ status: number; value: T }> {
    const { operation } = request
    if (!key) throw new Error(`${operation} needs ${name}, which this process does not have`)
    const answer = await send(request, key, deadline).catch((error: unknown) => {
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
    const body = await readBody(answer, request.mostBytes).catch((error: unknown) => {
      if (error instanceof RangeError) throw new AnswerTooLongError({ operation, status, most: request.mostBytes ?? maxResponseBytes })
      throw unreachable(operation, error, deadline, 'unknown')
    })
    try {
      return { status, value: request.read(empty ? undefined : JSON.parse(body), body.length) }
    } catch (error) {
      throw new ApiContractError({ operation, status, problem: bodyProblem(error) })
    }
  }

  function send({ method, path, body }: HttpCall<unknown>, authorization: Secret, deadline: Deadline) {
    return pool.request({
      method,
      path: `${prefix}${path}`,
      headers: {
        authorization: authorization.reveal(),
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
    const answer = readErrorAnswer(text, redact)
    const retryAfterMs = parseRetryAfter(headers['retry-after'], headers.date) ?? answer.retryAfterMs
    return new ApiError({ operation, status, key: name, ...answer, retryAfterMs })
  }
}

/** Reads a body as text. Throws a RangeError if it has more than `most` bytes. */
async function readBody(answer: Dispatcher.ResponseData, most = maxResponseBytes): Promise<string> {
  const declared = Number(answer.headers['content-length'] ?? Number.NaN)
  if (declared > most) {
    abandon(answer)
    throw new RangeError('longer than requested')
  }
  // The pool ends bodies of more than 8 MB, and none is longer than its content-length.
  if (declared <= most || most >= maxResponseBytes) return answer.body.text().catch(asTooLong)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw new RangeError('longer than requested')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function asTooLong(error: unknown): never {
  throw codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? new RangeError('longer than 8 MB') : error
}

/** Ends the connection of an unwanted body. Otherwise a body that keeps arriving slowly would occupy the connection forever. */
function abandon({ body }: Dispatcher.ResponseData) {
  body.on('error', () => {}).destroy()
}

function unreachable(operation: string, error: unknown, deadline: Deadline, requestSent: 'no' | 'unknown') {
  const ended = deadline.problem()
  if (ended !== undefined) return new ApiUnreachableError({ operation, requestSent: 'unknown', problem: ended })
  return new ApiUnreachableError({ operation, requestSent, problem: codeOf(error) })
}

/**
 * Limits for one list, so that no answer of the account API can fill the memory: several lists are read and kept at the same time. A page
 * of 100 Elastic IPs has about 80 KB.
 */
export const listLimits = {
  items: 20_000,
  /** A server may ignore the page size and send everything at once. */
  itemsPerPage: 5_000,
  bytesPerPage: 2 * 1024 * 1024,
  pages: 1_000,
  bytes: 32 * 1024 * 1024,
  /** For all lists that are being read together. */
  bytesTogether: 64 * 1024 * 1024,
  /** A list without pages, such as 500 plans, has 1 to 2 MB. */
  bytesWithoutPages: 4 * 1024 * 1024,
} as const

/** Counts the bytes of the lists that are being read, so that many of them at once do not fill the memory. */
export function createListBudget() {
  let together = 0

  return {
    /** Opens the count of one list. */
    open() {
      let own = 0
      return {
        /** Returns false if this list has too many bytes, or if all together have. */
        add(bytes: number): boolean {
          own += bytes
          together += bytes
          return own <= listLimits.bytes && together <= listLimits.bytesTogether
        },
        close() {
          together -= own
          own = 0
        },
      }
    },
  }
}

/**
 * Starts the time limit of a whole list with all its pages. `signal` is aborted then, or when the caller aborts. Call `end` afterwards;
 * otherwise its timer keeps running.
 */
export function startListDeadline(ms: number, caller: AbortSignal | undefined) {
  const own = new AbortController()
  const timer = setTimeout(() => own.abort(), ms)
  return {
    signal: caller ? AbortSignal.any([own.signal, caller]) : own.signal,
    isOver: () => own.signal.aborted,
    end: () => clearTimeout(timer),
  }
}

const maxConnections = 20
const maxReadTries = 3

/** The pause after a 429 that names no time. The account names one, so such a 429 is another's. */
const defaultPauseMs = 5_000
/** The longest pause after a 429, even if the answer names a longer time. */
const longestPauseMs = 120_000

/** How long a call waits for its turn. Where nobody waits, the next attempt is soon enough. */
const patienceMs: Record<Spender['lane'], number> = {
  execute: 10_000,
  person: 1_500,
  track: 0,
  background: 0,
  bundle: 10_000,
  retract: 10_000,
}

export interface HttpOptions {
  baseUrl: URL
  /** Undefined in a process that only reads, which then needs `readKey`. */
  key: Secret | undefined
  timings?: Partial<HttpTimings>
  /** A second key, which can only read. It is used for reads that settle no write, and without `key` for all reads. */
  readKey?: Secret | undefined
  /** The allowances of the account. Default: everything may be sent at once. */
  turns?: Turns | undefined
  onCall?: (report: HttpCallReport) => void
}

/**
 * Creates the HTTP transport: a pool of connections to one origin. The key cannot reach any other host, because redirects are not followed
 * and callers pass paths only. `call` throws ApiError, ApiContractError and ApiUnreachableError.
 */
export function createHttp({ baseUrl, key, readKey, timings, turns, onCall }: HttpOptions) {
  const listBudget = createListBudget()
  const times: HttpTimings = { ...defaultHttpTimings, ...timings }
  const pool = openPool(baseUrl, times)
  const exchanges: Record<KeyName, ReturnType<typeof createExchange>> = {
    key: createExchange({ pool, baseUrl, key, name: 'INFRA_API_KEY' }),
    'read-key': createExchange({ pool, baseUrl, key: readKey, name: 'INFRA_READ_KEY' }),
  }

  /** The reads that are under way and may be shared, by their paths. */
  const underway = new Map<string, Promise<unknown>>()

  /** Sends a request. An equal read that is under way for somebody is shared, and goes on for the others if one of them stops waiting. */
  async function call<T>(request: HttpCall<T>): Promise<T> {
    const { operation, method, path, signal } = request
    if (method !== 'GET' || !mayShareReads()) return send(request)
    const running = underway.get(path) as Promise<T> | undefined
    const work = running ?? send({ ...request, signal: undefined }).finally(() => underway.delete(path))
    underway.set(path, work)
    try {
      return await (signal ? unlessAborted(signal, work) : work)
    } catch (error) {
      if (signal?.aborted) throw new ApiUnreachableError({ operation, requestSent: 'unknown', problem: 'cancelled by the caller' })
      // The limit may be that of the one who sent it alone.
      if (running && error instanceof AccountLimitError) return send(request)
      throw error
    }
  }

  async function send<T>(request: HttpCall<T>): Promise<T> {
    const { operation, method, signal } = request
    if (signal?.aborted) throw new ApiUnreachableError({ operation, requestSent: 'no', problem: 'cancelled before it was sent' })

    const kind = method === 'GET' ? 'read' : 'write'
    const tries = kind === 'read' ? maxReadTries : 1
    const deadline = startDeadline(kind === 'read' ? times.readMs : times.writeMs, signal)
    const use = { kind, keyName: keyFor(kind, operation), deadline } satisfies Use
    let failure: unknown
    try {
      for (let attempt = 1; ; attempt++) {
        // What happened to an attempt says more than that the next one has to wait.
        await takeTurn(operation, use).catch((error: unknown) => {
          throw failure ?? error
        })
        try {
          return await attemptOnce(request, attempt, use)
        } catch (error) {
          const limited = await pauseAfter(error, use)
          failure = limited ?? error
          // The next turn waits for the end of the pause, if that is soon enough.
          if (limited && turns && attempt < tries) continue
          const delayMs = attempt < tries ? retryDelayMs(error, attempt, times) : undefined
          if (delayMs === undefined || !(await deadline.wait(delayMs))) throw failure
        }
      }
    } finally {
      deadline.end()
    }
  }

  /** The lists of keys, and all reads before a write or that settle one, use the key that writes. */
  function keyFor(kind: CallKind, operation: string): KeyName {
    if (!key && kind === 'read') return 'read-key'
    if (!readKey || kind === 'write' || operation.startsWith('apiKeys.')) return 'key'
    return mayUseReadKey(currentSpender(operation).lane) ? 'read-key' : 'key'
  }

  async function takeTurn(operation: string, { kind, keyName, deadline }: Use): Promise<void> {
    if (!turns || (kind === 'write' && useTakenTurn())) return
    const by = currentSpender(operation)
    const until = performance.now() + patienceMs[by.lane]
    for (;;) {
      const waitMs = await turns.take(kind, by, keyName)
      if (waitMs === 0) return
      const isTooLong = performance.now() + waitMs > until
      if (!isTooLong && (await deadline.wait(waitMs))) continue
      const share = await turns.spentShare?.(kind, by, keyName)
      throw limitError(operation, kind, { waitMs, share, answered: false })
    }
  }

  /**
   * Pauses calls of this kind after a 429. Returns an AccountLimitError if the request was certainly not carried out: a read changes nothing
   * anyway. Another 429 of a write may come from a proxy that has passed the write on.
   */
  async function pauseAfter(error: unknown, { kind, keyName }: Use): Promise<AccountLimitError | undefined> {
    if (!(error instanceof ApiError) || error.status !== 429) return undefined
    const waitMs = Math.min(error.retryAfterMs ?? defaultPauseMs, longestPauseMs)
    // Without Redis no write is sent, and the next read gets the same answer at worst.
    await turns?.pause(kind, waitMs, keyName).catch(() => {})
    const { operation } = error
    return kind === 'read' || isRateLimited(error) ? limitError(operation, kind, { waitMs, answered: true }) : undefined
  }

  function limitError(
    operation: string,
    kind: CallKind,
    details: { waitMs: number; share?: number | undefined; answered: boolean },
  ): AccountLimitError {
    return new AccountLimitError({ operation, kind, perMinute: turns?.perMinute[kind], ...details })
  }

  async function attemptOnce<T>(request: HttpCall<T>, attempt: number, { keyName, deadline }: Use): Promise<T> {
    const startedAt = performance.now()
    const report = (status: HttpCallReport['status']) => {
      onCall?.({ operation: request.operation, attempt, status, ms: performance.now() - startedAt })
      request.onAnswer?.({ operation: request.operation, status })
    }
    try {
      const { status, value } = await exchanges[keyName](request, deadline)
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
    /** What is known of pages with fewer items than documented, by operation. */
    shortPages: new Map<string, 'last' | 'not-last'>(),
    /** Closes the connections after the running calls have ended. */
    close: () => pool.close(),
  }
}
export type Http = ReturnType<typeof createHttp>

/** How one call is sent. */
interface Use {
  kind: CallKind
  keyName: KeyName
  deadline: Deadline
}

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
