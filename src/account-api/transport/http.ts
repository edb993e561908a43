import { Pool } from 'undici'
import {
  type CallKind,
  currentSpender,
  type KeyName,
  mayShareReads,
  mayUseReadKey,
  type Spender,
  type Turns,
  useTakenTurn,
} from '../../domain/account/lane.ts'
import { AccountLimitError, ApiContractError, ApiError, ApiUnreachableError, isRateLimited } from '../../domain/errors/api-errors.ts'
import type { Secret } from '../../domain/signing/secret.ts'
import { unlessAborted } from '../../domain/within.ts'
import { defaultHttpTimings, type HttpCall, type HttpCallReport, type HttpTimings } from './call.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { createExchange, maxResponseBytes } from './exchange.ts'
import { createListBudget } from './list-limits.ts'
import { retryDelayMs } from './retry.ts'

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
