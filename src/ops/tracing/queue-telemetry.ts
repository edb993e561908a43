import type { Tracer } from '@opentelemetry/api'
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'
import type { Scopes } from './scope.ts'
import { contextAt, placeOf } from './trace-place.ts'

/** BullMQ's own attributes that are names, numbers or ids of jobs. The others hold results, options and messages of errors. */
const safeAttributes = new Set(['bullmq.queue.name', 'bullmq.queue.operation', 'bullmq.job.name', 'bullmq.job.id'])

/**
 * Creates the telemetry that BullMQ calls: a job continues the trace in which it was added. BullMQ's own loops belong to no trace and are
 * not recorded. The package `bullmq-otel` needs a global provider, and records results and messages of errors.
 */
export function createQueueTelemetry({ tracer, scopes }: { tracer: Tracer; scopes: Scopes }) {
  const contextManager = {
    with: <A extends (...args: never[]) => unknown>(context: Context, work: A) =>
      scopes.run(context, work as () => unknown) as ReturnType<A>,
    active: scopes.context,
    root: () => ROOT_CONTEXT,
    getMetadata(context: Context): string {
      const span = trace.getSpan(context)
      return span ? placeOf(span) : ''
    },
    fromMetadata: (active: Context, metadata: string) => contextAt(metadata) ?? active,
  }

  function startSpan(name: string, options: { kind?: number } = {}, context: Context = scopes.context()) {
    // BullMQ's kinds of spans have the numbers of OpenTelemetry.
    return asQueueSpan(trace.getSpan(context) ? tracer.startSpan(name, options, context) : undefined)
  }

  return { tracer: { startSpan }, contextManager }
}
export type QueueTelemetry = ReturnType<typeof createQueueTelemetry>

function asQueueSpan(span: Span | undefined) {
  function setAttribute(name: string, value: unknown): void {
    if (safeAttributes.has(name) && (typeof value === 'string' || typeof value === 'number')) span?.setAttribute(name, value)
  }
  return {
    setSpanOnContext: (context: Context) => (span ? trace.setSpan(context, span) : context),
    setAttribute,
    setAttributes(attributes: Record<string, unknown>): void {
      for (const [name, value] of Object.entries(attributes)) setAttribute(name, value)
    },
    addEvent: () => {},
    // The message of an error can quote what was sent. The log has it without.
    recordException: () => void span?.setAttribute('error.type', 'exception'),
    end: () => void span?.end(),
  }
}
