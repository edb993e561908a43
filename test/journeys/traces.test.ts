import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import type { Log } from '../../src/ops/log/log.ts'
import { startTracing } from '../../src/ops/tracing/start-tracing.ts'
import { type ExportedSpan, startTraceCollector } from '../sandbox/trace-collector.ts'
import { ops, people, startWorld, untilCard, untilReport, type WorldOptions } from './world.ts'

const quiet = { warn: () => {} } as unknown as Log

/** A world whose bots send their spans to a collector. */
async function startTracedWorld(options: WorldOptions = {}) {
  const collector = await startTraceCollector()
  onTestFinished(collector.close)
  const endpoint = new URL(collector.url)
  const start = () => {
    const tracing = startTracing({ endpoint, version: '1.2.3', environment: 'test', log: quiet, exportEveryMs: 50 })
    onTestFinished(tracing.stop)
    return tracing
  }
  return { collector, world: await startWorld({ ...options, startTracing: start }) }
}

/** Collects the headers of every HTTP request of this process, by the host that gets it. */
function collectHeaders(): { host: string; headers: string }[] {
  const requests: { host: string; headers: string }[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: { origin: string; headers: unknown } }
    requests.push({ host: String(request.origin), headers: JSON.stringify(request.headers) })
  }
  subscribe('undici:request:create', note)
  onTestFinished(() => void unsubscribe('undici:request:create', note))
  return requests
}

const named = (spans: ExportedSpan[], name: string) => spans.filter((span) => span.name === name)

describe('the trace of a request', () => {
  test('leads from the command to the report, across processes, with every call and step, and without a text', async () => {
    const requests = collectHeaders()
    const { collector, world } = await startTracedWorld({ env: { ROLE: 'web' } })
    const { slack, ada, ben } = world
    const { elasticIp, target } = world.accountApi.world.movable()
    await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} because the disk is full`, { channel: ops })
    const card = await untilCard(slack, /needs approval from/)
    // A process that did not see the command carries the request out.
    const worker = await world.startBot({ ROLE: 'worker' })
    onTestFinished(worker.stop)
    await ben.click(card, 'Approve')
    await untilReport(slack, card.ts, /Done/)
    await expect.poll(() => named(collector.spans(), 'deliver ended').length, { timeout: 10_000 }).toBeGreaterThan(0)

    const spans = collector.spans()
    const { traceId } = named(spans, 'step request')[0] ?? {}
    const trace = spans.filter((span) => span.traceId === traceId)
    const names = new Set(trace.map(({ name }) => name))
    expect([...names]).toEqual(
      expect.arrayContaining([
        'slack command',
        'account-api elasticIps.get',
        'step request',
        'deliver card',
        'slack chat.postMessage',
        'click request-approve',
        'step approve',
        'add wake-ups.ip.move',
        'process wake-ups',
        'reconcile',
        'step send',
        'account-api elasticIps.move',
        'step accept',
        'observe',
        'step finish',
        'deliver ended',
      ]),
    )
    const ids = new Set(trace.map(({ spanId }) => spanId))
    const roots = trace.filter(({ parentSpanId }) => !parentSpanId)
    expect(roots.map(({ name }) => name)).toEqual(['slack command'])
    expect(trace.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId))).toEqual([])
    const [click] = named(trace, 'click request-approve')
    expect(click?.links.map((link) => spans.find((span) => span.traceId === link.traceId && !span.parentSpanId)?.name)).toEqual([
      'slack click',
    ])

    expect([...collector.paths]).toEqual(['/v1/traces'])
    const [resource] = collector.resources()
    expect(Object.fromEntries(resource?.map(({ key, value }) => [key, Object.values(value)[0]]) ?? [])).toMatchObject({
      'service.name': 'lockkeeper',
      'service.version': '1.2.3',
      'deployment.environment.name': 'test',
    })
    const particular = [
      'the disk is full',
      elasticIp.address,
      elasticIp.id,
      target.hostname,
      'Ada',
      ...Object.values(people),
      ops,
      slack.botToken,
    ]
    expect(
      [...particular, world.accountApi.key, 'hooks.', '/commands/', 'http'].filter((text) => JSON.stringify(spans).includes(text)),
    ).toEqual([])

    expect(requests.length).toBeGreaterThan(20)
    expect(requests.filter(({ headers }) => /traceparent|tracestate|baggage/i.test(headers))).toEqual([])
    expect(world.log.map((line) => JSON.parse(line)).find(({ step }) => step === 'finish')?.traceId).toBe(traceId)
  })

  test('of a command that fails has its calls, without what was answered', async () => {
    const { collector, world } = await startTracedWorld()
    world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: 100 })
    await world.ada.command('/infra ip list', { channel: ops })
    await expect.poll(() => named(collector.spans(), 'account-api elasticIps.list').length, { timeout: 10_000 }).toBeGreaterThan(0)
    await expect.poll(() => named(collector.spans(), 'slack response_url').length, { timeout: 10_000 }).toBeGreaterThan(0)
    expect(collector.text()).not.toContain('503 ')
  })
})

test('without a collector there is no trace, not even in the record', async () => {
  const world = await startWorld()
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  await untilCard(world.slack, /needs approval from/)
  const steps = world.log.map((line) => JSON.parse(line)).filter(({ step }) => step !== undefined)
  expect(steps).toHaveLength(1)
  expect(steps[0]).not.toHaveProperty('traceId')
  const client = new Redis(inject('redisUrl'))
  onTestFinished(() => client.disconnect())
  const [key = ''] = await client.keys(`{${world.prefix}}:request:*`)
  expect(await client.hexists(key, 'state')).toBe(1)
  expect(await client.hexists(key, 'trace')).toBe(0)
})
