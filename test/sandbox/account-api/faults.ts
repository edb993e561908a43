import type { Answer } from './answer.ts'
import type { JournalEntry } from './journal.ts'

/** What goes wrong. Where the request still takes effect, that is said; elsewhere it does not. */
export type FaultKind =
  /** The connection closes without an answer. */
  | 'drop-before'
  /** It takes effect; the connection closes without an answer. */
  | 'drop-after'
  /** The connection is reset. */
  | 'reset'
  /** It takes effect at once; the answer comes after `delayMs`. */
  | 'delay'
  /** `status`, with `body` (JSON) and `headers` where given. */
  | 'status'
  /** It takes effect; the answer is a web page. */
  | 'html'
  /** It takes effect; the answer ends in the middle. */
  | 'truncate'
  /** It takes effect; the answer comes a byte at a time, one every `delayMs`. */
  | 'drip'
  /** It takes effect; no answer comes, and the connection stays open. */
  | 'hang'
  /** It takes effect only after `delayMs`, whether or not anybody still waits for the answer. */
  | 'late'
  /** It takes effect; what is answered is what `instead` makes of the answer. */
  | 'instead'
  /** `bytes` of blanks as the answer, with `status` (200). */
  | 'flood'
  /** A compressed answer, nobody asked for one, that unpacks to `bytes` of blanks. */
  | 'bomb'
  /** A redirect to `location`. */
  | 'redirect'

/** What `instead` answers: a text as it is, or a body as JSON; status and type are those of the answer where not given. */
export interface OtherAnswer {
  status?: number
  type?: string
  text?: string
  body?: unknown
}

export interface FaultOrder {
  /** Any where not given. */
  method?: string
  /** A text is the whole path. Any where not given. */
  path?: RegExp | string
  /** How often. Once where not given. */
  times?: number
  kind: FaultKind
  delayMs?: number
  status?: number
  body?: unknown
  headers?: Record<string, string>
  location?: string
  instead?: (answer: Answer) => OtherAnswer
  /** Of `flood` and `bomb`. */
  bytes?: number
  /** Only requests of which this holds. */
  when?: (asked: Pick<JournalEntry, 'query' | 'body'>) => boolean
  /** What happens elsewhere just before the request takes effect. */
  meanwhile?: () => void
  /** The request takes effect before `drop-before`, `reset`, `status` or `redirect`: a 500 after all was done. */
  applied?: boolean
}

export interface Fault extends FaultOrder {
  /** How often it has happened: a test of a fault that never happened proves nothing. */
  fired: number
}

const appliedKinds: readonly FaultKind[] = ['drop-after', 'delay', 'html', 'truncate', 'drip', 'hang', 'late', 'instead']

export function takesEffect(fault: FaultOrder | undefined): boolean {
  return !fault || fault.applied === true || appliedKinds.includes(fault.kind)
}

/** The programme of faults: for each request the oldest that fits and is not used up. */
export function createFaults() {
  const faults: Fault[] = []

  return {
    add(order: FaultOrder): Fault {
      const fault: Fault = { ...order, fired: 0 }
      faults.push(fault)
      return fault
    },
    clear: () => void faults.splice(0),
    next({ method, path, query, body }: Pick<JournalEntry, 'method' | 'path' | 'query' | 'body'>): Fault | undefined {
      const fault = faults.find(
        (one) =>
          one.fired < (one.times ?? 1) &&
          (one.method ?? method) === method &&
          fitsPath(one.path, path) &&
          (one.when?.({ query, body }) ?? true),
      )
      if (fault) fault.fired++
      return fault
    },
  }
}
export type Faults = ReturnType<typeof createFaults>

function fitsPath(wanted: RegExp | string | undefined, path: string): boolean {
  return wanted === undefined || (typeof wanted === 'string' ? wanted === path : wanted.test(path))
}
