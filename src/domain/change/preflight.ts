import type { Finding } from './finding.ts'

/** The result of the reads before a change. */
export interface Preflight<Facts, Input = unknown> {
  facts: Facts
  /** The input with the ids that the account API returned. A typed id can differ in case, or be another name of the same resource. */
  input?: Input
  /** What could not be checked. */
  unchecked: Finding[]
  /** What approvers should know, although it does not prevent the change. */
  warnings?: Finding[]
  /** True if a needed read got no answer, so that the account may differ from `facts`. */
  incomplete: boolean
}

export interface PreflightOptions<Facts = unknown> {
  signal?: AbortSignal
  /** True when a change is requested. The check then also makes the reads that only the warnings need. */
  forRequest?: boolean
  /** What the account showed earlier: at the approval, or for the request that this one repeats or undoes. It names what no longer exists. */
  earlier?: Facts | undefined
}
