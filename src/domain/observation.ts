import { z } from 'zod'
import type { Finding } from './finding.ts'

/** What the account showed of the resource that is changed. */
export const Sighting = z.object({
  /** In the account's own word: `moving`. */
  status: z.string(),
  /** The server that it is on, by name; null where the account shows none. Absent for what is on none. */
  server: z.string().nullable().optional(),
})
export type Sighting = z.infer<typeof Sighting>

/** What a read of the account means for a request that was sent. */
export type Observation =
  | { is: 'underway'; seen?: Sighting }
  | { is: 'unclear'; seen?: Sighting }
  | { is: 'done' }
  /**
   * `mayStillHappen`: it is tracked for a while longer. `corrects`: what was done is taken back, which is true also of what was reported as not
   * started, and leaves nothing to track.
   */
  | { is: 'failed'; cause: Finding; mayStillHappen?: boolean; corrects?: boolean }
  | { is: 'not-started'; cause: Finding }
  | { is: 'superseded'; cause: Finding }
