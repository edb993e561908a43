import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'
import { TraceParent } from '../../domain/tracing.ts'

/** Returns the place of a span as text. */
export function placeOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}

/** Returns a context that continues a place, or undefined if there is none or it cannot be read: records come from Redis. */
export function contextAt(place: string | undefined): Context | undefined {
  if (place === undefined || !TraceParent.safeParse(place).success) return undefined
  const [, traceId = '', spanId = '', flags = ''] = place.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
}
