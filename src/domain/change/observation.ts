import { z } from 'zod'
import type { Finding } from './finding.ts'

/** What a read of the account showed about the resource of a change. */
export const Sighting = z.object({
  /** The status as the account shows it: `moving`. */
  status: z.string(),
  /** The name of its server. Null: the account shows none. Absent for resources that are not on a server. */
  server: z.string().nullable().optional(),
})
export type Sighting = z.infer<typeof Sighting>

/** What one list shows of the resources of many changes, by their ids. Each kind of change knows the type of its rows. */
export type Rows = ReadonlyMap<string, unknown>

/** `rows`: a list that began after the answer to the write, or after its time limit. What it does not show is read alone. */
export interface ObserveOptions {
  signal: AbortSignal
  rows?: Rows | undefined
}

/** What a read of the account means for a request that was sent. */
export type Observation =
  | { is: 'underway'; seen?: Sighting }
  | { is: 'unclear'; seen?: Sighting }
  /** `notes`: the change is done, but something keeps it from being of use, such as a server that is off. */
  | { is: 'done'; notes?: Finding[] }
  /**
   * `mayStillHappen`: the change may still take effect, so the request stays tracked for a while. `corrects`: the effect of the write is
   * final and known, so this also replaces an earlier report of not started, and tracking ends.
   */
  | { is: 'failed'; cause: Finding; mayStillHappen?: boolean; corrects?: boolean }
  | { is: 'not-started'; cause: Finding }
  | { is: 'superseded'; cause: Finding }

/** The phase of a request when it is observed, and the time since its write was sent. */
export interface Moment {
  /**
   * `sent`: the answer to the write is unknown. `accepted`: the account API accepted it. `ended`: reported as not started or failed, and
   * still tracked.
   */
  phase: 'sent' | 'accepted' | 'ended'
  sinceSentMs: number
  /** True shortly after the write. It may not have arrived yet, or reads may not show it yet, so its absence proves nothing. */
  early: boolean
}
