import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Tracing } from '../../domain/tracing.ts'
import type { Scopes } from './scope.ts'
import { contextAt, placeOf } from './trace-place.ts'

/** Creates the recording of spans with a tracer of OpenTelemetry. */
export function createTracing({ tracer, scopes }: { tracer: Tracer; scopes: Scopes }): Tracing {
  /** Runs work in a span, which ends with the work. The span says only that there was an error, not which one. */
  async function runIn<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
    return scopes.run(trace.setSpan(parent, span), async () => {
      try {
        return await work()
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        scopes.current()?.joined?.end()
        span.end()
      }
    })
  }

  /** Starts a span of the trace of a request: below the present span if that belongs to the same trace, otherwise linked to it. */
  function startSpanOf(request: Parameters<Tracing['join']>[0], name: string): { span: Span; parent: Context } | undefined {
    const stored = contextAt(request.trace)
    if (!stored) return undefined
    const present = scopes.span()?.spanContext()
    const isSame = present?.traceId === trace.getSpanContext(stored)?.traceId
    const parent = isSame ? scopes.context() : stored
    const links: Link[] = present && !isSame ? [{ context: present }] : []
    const attributes: Attributes = { 'lockkeeper.request.id': request.id, 'lockkeeper.request.kind': request.kind }
    return { span: tracer.startSpan(name, { attributes, links }, parent), parent }
  }

  return {
    begin: (name, attributes, work) =>
      runIn(tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, ROOT_CONTEXT), ROOT_CONTEXT, work),
    follow(request, name, work) {
      const started = startSpanOf(request, name)
      return started ? runIn(started.span, started.parent, work) : work()
    },
    join(request, name) {
      const scope = scopes.current()
      const started = scope && startSpanOf(request, name)
      if (!started) return
      scope.joined?.end()
      scope.joined = started.span
      scope.context = trace.setSpan(started.parent, started.span)
    },
    note(name, attributes, ms) {
      if (!scopes.span()) return
      const startTime = Date.now() - ms
      tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, scopes.context()).end()
    },
    current() {
      const span = scopes.span()
      return span && placeOf(span)
    },
  }
}
