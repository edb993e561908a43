import type { OnAnswer } from '../../domain/change/on-answer.ts'

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
export type HttpTimings = typeof defaultHttpTimings

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
export interface HttpCallReport {
  operation: string
  /** Counted from 1. */
  attempt: number
  status: number | 'unreachable' | 'contract'
  ms: number
}
