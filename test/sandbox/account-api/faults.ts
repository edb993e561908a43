import type { Answer } from './answer.ts'
import type { JournalEntry } from './journal.ts'

/** What goes wrong. The request takes effect only where this is stated. */
export type FaultKind =
  /** The connection closes without an answer. */
  | 'drop-before'
  /** It takes effect; the connection closes without an answer. */
  | 'drop-after'
  /** The connection is reset. */
  | 'reset'
  /** It takes effect at once, and the answer comes after `delayMs`. */
  | 'delay'
  /** Answers `status`, with `body` (JSON) and `headers` if given. */
  | 'status'
  /** It takes effect, and the answer is a web page. */
  | 'html'
  /** It takes effect, and the answer ends in the middle. */
  | 'truncate'
  /** It takes effect, and the answer comes byte by byte, one every `delayMs`. */
  | 'drip'
  /** It takes effect, no answer comes, and the connection stays open. */
  | 'hang'
  /** It takes effect after `delayMs`, even if nobody waits for the answer any more. */
  | 'late'
  /** It takes effect, and `instead` replaces the answer. */
  | 'instead'
  /** Answers `bytes` of blanks with `status` (200). */
  | 'flood'
  /** Answers in a compression that was not requested, which unpacks to `bytes` of blanks. */
  | 'bomb'
  /** Redirects to `location`. */
  | 'redirect'

/** The answer of `instead`: a text as it is, or a body as JSON. Default status and type: those of the real answer. */
export interface OtherAnswer {
  status?: number
  type?: string
  text?: string
  body?: unknown
}

export interface FaultOrder {
  /** Default: any. */
  method?: string
  /** A text is the whole path. Default: any. */
  path?: RegExp | string
  /** How often. Default: once. */
  times?: number
  kind: FaultKind
  delayMs?: number
  status?: number
  body?: unknown
  headers?: Record<string, string>
  location?: string
  instead?: (answer: Answer) => OtherAnswer
  /** For `flood` and `bomb`. */
  bytes?: number
  /** Only for requests for which this returns true. */
  when?: (request: Pick<JournalEntry, 'query' | 'body'>) => boolean
  /** Runs just before the request takes effect. */
  meanwhile?: () => void
  /** Lets the request take effect before `drop-before`, `reset`, `status` or `redirect`, such as a 500 after the write. */
  applied?: boolean
}

export interface Fault extends FaultOrder {
  /** How often it has happened. A test checks it, because a fault that never happened proves nothing. */
  fired: number
}

const appliedKinds: readonly FaultKind[] = ['drop-after', 'delay', 'html', 'truncate', 'drip', 'hang', 'late', 'instead']

export function takesEffect(fault: FaultOrder | undefined): boolean {
  return !fault || fault.applied === true || appliedKinds.includes(fault.kind)
}

/** Keeps the ordered faults. A request gets the oldest fault that fits and is not used up. */
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
