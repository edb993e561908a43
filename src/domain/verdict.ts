/** What an observation means for a request. `why` is a sentence for the thread, without the request's own subject repeated. */
export type Verdict =
  | { is: 'underway' }
  | { is: 'unclear'; why?: string }
  | { is: 'done' }
  /**
   * `next`: what to do, a sentence, where asking for the same again is of no use. `mayStillHappen`: look at it for a while longer.
   * `corrects`: what was done is taken back, which is true also of what was told as not started, and leaves nothing to look at.
   */
  | { is: 'failed'; why: string; next?: string; mayStillHappen?: boolean; corrects?: boolean }
  | { is: 'not-started'; why: string }
  | { is: 'superseded'; why: string }
