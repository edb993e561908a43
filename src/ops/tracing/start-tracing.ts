import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Tracing } from '../../domain/tracing.ts'
import { settleWithin } from '../../domain/within.ts'
import type { Log } from '../log/log.ts'
import { createRepeatedLines, type RepeatedLines } from '../log/repeated-lines.ts'
import { createTracing } from './create-tracing.ts'
import { createQueueTelemetry, type QueueTelemetry } from './queue-telemetry.ts'
import { createScopes } from './scope.ts'

/** How long the stop waits for the last spans. */
const flushMs = 1_000

/** How long spans wait for others, so that few requests carry many. */
const usualExportMs = 5_000

export interface StartedTracing extends Tracing {
  queueTelemetry: QueueTelemetry
  /** Sends the remaining spans. Waits at most a second. */
  stop(): Promise<void>
}

interface TracingParts {
  /** The base address of the collector, for OTLP over HTTP. */
  endpoint: URL
  version: string
  environment: string | undefined
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** How long spans wait for others, in ms. */
  exportEveryMs?: number
}

/**
 * Starts to send spans to a collector. Only this file and its neighbours import OpenTelemetry, and they are imported only if traces are on. Spans
 * wait in memory, at most 2,048 of them; while the collector is away they are lost.
 */
export function startTracing({ endpoint, version, environment, log, exportEveryMs = usualExportMs }: TracingParts): StartedTracing {
  const own = resourceFromAttributes({
    'service.name': 'lockkeeper',
    'service.version': version,
    ...(environment === undefined ? {} : { 'deployment.environment.name': environment }),
  })
  const exporter = new OTLPTraceExporter({ url: tracesUrl(endpoint) })
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of the environment come last, so they win.
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: exportEveryMs })],
  })
  const lines = createRepeatedLines(log)
  reportFailures(lines)
  const tracer = provider.getTracer('lockkeeper', version)
  const scopes = createScopes()

  return {
    ...createTracing({ tracer, scopes }),
    queueTelemetry: createQueueTelemetry({ tracer, scopes }),
    async stop() {
      await settleWithin(flushMs, [provider.shutdown()])
      lines.flush()
    },
  }
}

/** Returns the address for traces below the base address (OpenTelemetry, "OTLP Exporter Configuration"). */
function tracesUrl({ href }: URL): string {
  return `${href.replace(/\/+$/, '')}/v1/traces`
}

/** Logs that spans were lost, without the text of OpenTelemetry, which can hold addresses and answers. */
function reportFailures(lines: RepeatedLines): void {
  const warn = () =>
    lines.write({
      fields: { code: 'traces-not-sent' },
      text: 'Traces could not be sent to the collector, and are lost',
      over: 'Traces are sent again',
    })
  const ignore = () => {}
  const logger = { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
}
