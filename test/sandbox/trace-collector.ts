import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })
const ExportedSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(Attribute).default([]),
  links: z.array(z.object({ traceId: z.string() })).default([]),
})
export type ExportedSpan = z.infer<typeof ExportedSpan>

const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(ExportedSpan) })),
    }),
  ),
})

/** Starts a collector on loopback that keeps what it gets over OTLP. `text`: everything as it was received, for searches. */
export async function startTraceCollector() {
  const bodies: string[] = []
  const paths = new Set<string>()
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      paths.add(request.url ?? '')
      bodies.push(body)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const exported = () => bodies.flatMap((body) => Export.parse(JSON.parse(body)).resourceSpans)
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    text: () => bodies.join('\n'),
    spans: () => exported().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => exported().map(({ resource }) => resource.attributes),
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
    },
  }
}
export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
