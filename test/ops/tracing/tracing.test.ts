import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, expect, test } from 'vitest'
import { createTracing } from '../../../src/ops/tracing/create-tracing.ts'
import { createQueueTelemetry } from '../../../src/ops/tracing/queue-telemetry.ts'
import { createScopes } from '../../../src/ops/tracing/scope.ts'

const token = 'lk_9f2c1b7e4d'

function setUp() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('test')
  const scopes = createScopes()
  const spans = () => exporter.getFinishedSpans()
  return { tracing: createTracing({ tracer, scopes }), queue: createQueueTelemetry({ tracer, scopes }), spans }
}

const request = (trace: string | undefined) => ({ id: 'r1', kind: 'ip.move', trace })

describe('a trace', () => {
  test('continues from its place in another process', async () => {
    const [one, other] = [setUp(), setUp()]
    const place = await one.tracing.begin('slack command', {}, async () => one.tracing.current())

    await other.tracing.follow(request(place), 'reconcile', async () => other.tracing.note('account-api x', {}, 5))

    const [root] = one.spans()
    const [call, reconcile] = other.spans()
    expect(new Set([root, call, reconcile].map((span) => span?.spanContext().traceId)).size).toBe(1)
    expect(reconcile?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId)
    expect(call?.parentSpanContext?.spanId).toBe(reconcile?.spanContext().spanId)
  })

  test.each([undefined, '', 'not a place', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`, `00-${token}-${token}-01`])(
    'is not begun by a record that has no place or a wrong one: %s',
    async (place) => {
      const { tracing, spans } = setUp()
      const result = await tracing.follow(request(place), 'reconcile', async () => {
        tracing.note('account-api x', {}, 5)
        return 'done'
      })
      expect(result).toBe('done')
      expect(spans()).toEqual([])
    },
  )

  test('says of an error that there was one, and not which', async () => {
    const { tracing, spans } = setUp()
    await expect(tracing.begin('slack click', {}, () => Promise.reject(new Error(token)))).rejects.toThrow(token)
    expect(spans()).toHaveLength(1)
    expect(spans()[0]?.status).toEqual({ code: 2 })
    expect(spans()[0]?.events).toEqual([])
  })

  test('of a click continues in that of its request, and links both', async () => {
    const { tracing, spans } = setUp()
    const place = await tracing.begin('slack command', {}, async () => tracing.current())
    await tracing.begin('slack click', {}, async () => {
      tracing.join(request(place), 'click approve')
      tracing.note('step approve', {}, 0)
    })

    const [command, step, joined, click] = spans()
    expect([command, step, joined, click].map((span) => span?.name)).toEqual([
      'slack command',
      'step approve',
      'click approve',
      'slack click',
    ])
    expect(step?.parentSpanContext?.spanId).toBe(joined?.spanContext().spanId)
    expect(joined?.spanContext().traceId).toBe(command?.spanContext().traceId)
    expect(joined?.links.map(({ context }) => context.traceId)).toEqual([click?.spanContext().traceId])
  })
})

describe('what BullMQ reports', () => {
  test('is recorded only inside a trace, without options, results and messages of errors', async () => {
    const { tracing, queue, spans } = setUp()
    queue.tracer.startSpan('moveStalledJobsToWait').end()
    await tracing.begin('slack command', {}, async () => {
      const span = queue.tracer.startSpan('add wake-ups', { kind: 3 })
      span.setAttributes({ 'bullmq.queue.name': 'wake-ups', 'bullmq.job.options': token, 'bullmq.job.failed.reason': token })
      span.setAttribute('bullmq.job.result', token)
      const record: (error: Error) => void = span.recordException
      record(new Error(token))
      span.end()
    })

    expect(spans().map(({ name }) => name)).toEqual(['add wake-ups', 'slack command'])
    expect(spans()[0]?.attributes).toEqual({ 'bullmq.queue.name': 'wake-ups', 'error.type': 'exception' })
  })

  test('leads from the process that adds a job to the one that runs it', async () => {
    const [one, other] = [setUp(), setUp()]
    const metadata = await one.tracing.begin('slack command', {}, async () =>
      one.queue.contextManager.getMetadata(one.queue.contextManager.active()),
    )

    const context = other.queue.contextManager.fromMetadata(other.queue.contextManager.root(), metadata)
    other.queue.tracer.startSpan('process wake-ups', { kind: 4 }, context).end()

    expect(other.spans()[0]?.spanContext().traceId).toBe(one.spans()[0]?.spanContext().traceId)
  })
})
