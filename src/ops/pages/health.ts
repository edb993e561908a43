import { createServer, type ServerResponse } from 'node:http'
import { whyNotListening } from '../../domain/listening.ts'
import { likenessOf } from '../log/likeness.ts'
import type { RepeatedLines } from '../log/repeated-lines.ts'

/** The answer of a page. `type` is the content type. */
export interface Page {
  status: number
  type: string
  body: string
}

interface HealthParts {
  /** Default: the loopback address, because the pages have no authentication. */
  host?: string
  /** 0 selects any free port. */
  port: number
  /** Returns why the bot is not ready, in words, or undefined if it is ready. Must answer within seconds and never throw. */
  whyNotReady: () => Promise<string | undefined>
  lines?: Pick<RepeatedLines, 'write'>
  /** Further pages for operators, by path. */
  pages?: Record<string, () => Promise<Page>>
}

/**
 * Opens the operations port, which is never the public port. Serves `/healthz` (200: the process is alive), `/readyz` (200, or 503 with the
 * reason) and the given pages.
 * Throws StartError if another program uses the port, or the address is not one of this machine.
 */
export async function startHealth({ host = '127.0.0.1', port, whyNotReady, lines, pages = {} }: HealthParts) {
  async function readiness(): Promise<Page> {
    const why = await whyNotReady()
    return why === undefined ? json(200, { ready: true }) : json(503, { ready: false, why })
  }

  const known: Record<string, () => Promise<Page>> = {
    '/healthz': async () => json(200, { alive: true }),
    '/readyz': readiness,
    ...pages,
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(known, path) ? known[path] : undefined
    if (!page) return answer(response, json(404, { error: `Not found. Pages: ${Object.keys(known).join(', ')}.` }))
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, json(405, { error: 'Use GET or HEAD.' }))
    page().then(
      (content) => answer(response, content),
      (error: unknown) => {
        lines?.write({
          fields: { code: 'page-failed', error, path },
          text: 'A page for operators failed',
          about: `${path} ${likenessOf(error)}`,
        })
        answer(response, json(500, { error: 'This page failed. See the log.' }))
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(whyNotListening(error, { hostVariable: 'OPS_HOST', host, portVariable: 'OPS_PORT', port })))
    server.listen(port, host, resolve)
  })

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  return { port: (server.address() as { port: number }).port, close }
}
export type Health = Awaited<ReturnType<typeof startHealth>>

export function json(status: number, body: unknown): Page {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

function answer(response: ServerResponse, { status, type, body }: Page): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(body)
}
