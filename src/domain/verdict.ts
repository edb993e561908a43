/** What an observation means for a request. `why` is a sentence for the thread, without the request's own subject repeated. */
export type Verdict =
  | { is: 'underway' }
  | { is: 'unclear'; why?: string }
  | { is: 'done' }
  | { is: 'failed'; why: string; mayStillHappen?: boolean }
  | { is: 'not-started'; why: string }
  | { is: 'superseded'; why: string }
