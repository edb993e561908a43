import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Answer } from './wire.ts'

export interface JournalEntry {
  method: string
  /** As sent, without the query. */
  path: string
  query: Record<string, string>
  headers: Record<string, string | string[] | undefined>
  /** Parsed. The text itself if it is not JSON, undefined if there is no body. */
  body: unknown
  time: number
  /** Beyond the limit of its key, and therefore never applied. */
  refused?: true
}

/** Records every request in order, whatever its answer. */
export function createJournal() {
  const entries: JournalEntry[] = []
  return Object.assign(entries, {
    writes: () => entries.filter(({ method }) => method !== 'GET'),
    clear: () => void entries.splice(0),
  })
}

/** What goes wrong. The request takes effect only where this is stated. */
export type FaultKind =
  | 'drop-before' // The connection closes without an answer.
  | 'drop-after' // It takes effect; the connection closes without an answer.
  | 'reset' // The connection is reset.
  | 'delay' // It takes effect at once, and the answer comes after `delayMs`.
  | 'status' // Answers `status` after `delayMs`, with `body` (JSON) and `headers` if given.
  | 'html' // It takes effect, and the answer is a web page.
  | 'truncate' // It takes effect, and the answer ends in the middle.
  | 'hang' // It takes effect, no answer comes, and the connection stays open.
  | 'late' // It takes effect after `delayMs`, even if nobody waits for the answer any more.
  | 'instead' // It takes effect, and `instead` replaces the answer.

/** The answer of `instead`: a text as it is, or a body as JSON. Default status and type: those of the real answer. */
export interface OtherAnswer {
  status?: number
  type?: string
  text?: string
  body?: unknown
}

export interface FaultOrder {
  method?: string
  /** A text is the whole path. Default: any. */
  path?: RegExp | string
  times?: number
  kind: FaultKind
  delayMs?: number
  status?: number
  body?: unknown
  headers?: Record<string, string>
  instead?: (answer: Answer) => OtherAnswer
  /** Only for requests for which this returns true. */
  when?: (request: Pick<JournalEntry, 'query' | 'body'>) => boolean
  /** Runs just before the request takes effect. */
  meanwhile?: () => void
  /** Lets the request take effect before `drop-before`, `reset` or `status`, such as a 500 after the write. */
  applied?: boolean
}

export interface Fault extends FaultOrder {
  /** How often it has happened. A test checks it, because a fault that never happened proves nothing. */
  fired: number
}

const appliedKinds: readonly FaultKind[] = ['drop-after', 'delay', 'html', 'truncate', 'hang', 'late', 'instead']

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

export const jsonType = 'application/vnd.api+json; charset=utf-8'

/** Ends a request as the fault says. `answer` is the usual answer. Undefined if the request took no effect. */
export async function misbehave(response: ServerResponse, fault: Fault, answer: Answer | undefined): Promise<void> {
  const json = (body: unknown) => (body === undefined ? '' : JSON.stringify(body))
  const [status, text] = [answer?.status ?? 200, json(answer?.body)]
  // A slow answer at the end of a test must not keep the process alive.
  const pause = () => wait(fault.delayMs ?? 50, undefined, { ref: false })
  const send = (code: number, content: string, headers: OutgoingHttpHeaders = {}) => {
    if (!response.destroyed) response.writeHead(code, { 'content-type': jsonType, ...headers }).end(content)
  }

  switch (fault.kind) {
    case 'drop-before':
    case 'drop-after':
      response.socket?.destroy()
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'hang':
      return
    case 'late':
      return send(status, text)
    case 'delay':
      await pause()
      return send(status, text)
    case 'status':
      if (fault.delayMs !== undefined) await pause()
      return send(fault.status ?? 500, json(fault.body), fault.headers)
    case 'html':
      return send(200, '<!doctype html><title>Just a moment…</title>', { 'content-type': 'text/html; charset=utf-8' })
    case 'instead': {
      const other = fault.instead?.(answer ?? { status, body: undefined }) ?? {}
      return send(other.status ?? status, other.text ?? json(other.body), { 'content-type': other.type ?? jsonType })
    }
    case 'truncate':
      response.writeHead(status, { 'content-type': jsonType, 'content-length': Buffer.byteLength(text) })
      response.write(text.slice(0, text.length / 2), () => response.socket?.destroy())
      return
  }
}
