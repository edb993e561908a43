import { z } from 'zod'

/** The place of a span in its trace, as a `traceparent` of W3C Trace Context: the ids of the trace and the span, and whether it is recorded. */
export const TraceParent = z.string().regex(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/)

/** The attributes of a span: only names from fixed sets, ids and numbers, never a text, a person's name, an address or a token. */
type SpanAttributes = Record<string, string | number>

/** The part of a request that continues its trace. */
interface Traced {
  id: string
  kind: string
  trace?: string | undefined
}

/**
 * Records what belongs to one command, click or request, as spans of a trace. A request keeps the place of the command in its record, so its trace
 * continues in other processes and days later. Nothing is recorded outside a trace, and no `traceparent` is sent to Slack or the account API.
 */
export interface Tracing {
  /** Begins a trace, and runs `work` in its first span. */
  begin<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Runs `work` in a span of the trace of a request. */
  follow<T>(request: Traced, name: string, work: () => Promise<T>): Promise<T>
  /**
   * Continues the present work in the trace of a request, and links both traces. The request of a click is known only after its record was
   * read.
   */
  join(request: Traced, name: string): void
  /** Adds something that took `ms` and ends now. */
  note(name: string, attributes: SpanAttributes, ms: number): void
  /** Returns the present place, or undefined outside a trace. */
  current(): string | undefined
}

/** Records nothing. */
export const noTracing: Tracing = {
  begin: (_name, _attributes, work) => work(),
  follow: (_request, _name, work) => work(),
  join: () => {},
  note: () => {},
  current: () => undefined,
}

/** Returns the id of the trace of a place. */
export function traceIdOf(place: string | undefined): string | undefined {
  return place?.split('-')[1]
}
