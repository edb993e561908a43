import { z } from 'zod'

/** What the account showed of the resource that is changed. */
export const Sighting = z.object({
  /** In the account's own word: `moving`. */
  status: z.string(),
  /** The server that it is on, by name; null where the account shows none. Absent for what is on none. */
  server: z.string().nullable().optional(),
})
export type Sighting = z.infer<typeof Sighting>

/** What an observation means for a request. `why` is a sentence for the thread, without the request's own subject repeated. */
export type Verdict =
  | { is: 'underway'; seen?: Sighting }
  | { is: 'unclear'; seen?: Sighting }
  | { is: 'done' }
  /**
   * `next`: what to do, a sentence, where asking for the same again is of no use. `mayStillHappen`: look at it for a while longer.
   * `corrects`: what was done is taken back, which is true also of what was told as not started, and leaves nothing to look at.
   */
  | { is: 'failed'; why: string; next?: string; mayStillHappen?: boolean; corrects?: boolean }
  | { is: 'not-started'; why: string }
  | { is: 'superseded'; why: string }
