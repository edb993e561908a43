import type { OnAnswer } from '../domain/change.ts'

/** All in milliseconds. `readMs` and `writeMs` bound a whole call, with the tries of a read and the waits between them. */
export const defaultTimings = {
  connectMs: 5_000,
  headersMs: 10_000,
  /** Between two pieces of a body; a body that drips is ended by the deadline of the call. */
  bodyMs: 10_000,
  readMs: 15_000,
  writeMs: 20_000,
  retryBaseMs: 250,
  retryMaxMs: 2_000,
}
export type Timings = typeof defaultTimings

export interface HttpCall<T> {
  /** What is being done, as a name of ours: `elasticIps.move`. */
  operation: string
  /** GET is tried again after a transient failure. Everything else is a write and is sent once, whatever happens. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From `pathTo`, or a constant; with the query, if there is one. */
  path: string
  body?: unknown
  signal?: AbortSignal | undefined
  /** Hears what came of each try. */
  onAnswer?: OnAnswer | undefined
  /** Turns the JSON of a 2xx answer into what is wanted; throws when it does not fit. Gets undefined for an answer without a body. */
  read: (json: unknown) => T
  /** True when a 2xx answer may come without a body. */
  mayBeEmpty?: boolean
}

/** For every operation: whoever asks may stop waiting. A write that is already on its way may still be carried out. */
export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** For writes, whose answers are written down. */
export interface WriteOptions extends CallOptions {
  onAnswer?: OnAnswer | undefined
}

/** What came of one try. */
export interface HttpCallReport {
  operation: string
  /** 1 for the first. */
  attempt: number
  status: number | 'unreachable' | 'contract'
  ms: number
}
