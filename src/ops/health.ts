import { createServer, type ServerResponse } from 'node:http'
import type { Log } from './log.ts'
import { describeError, scrub } from './safe-value.ts'
import { shareRuns } from './shared-runs.ts'

/** Returns or resolves when all is well; throws an Error whose message is a sentence when not. */
export type Check = () => Promise<void> | void

/** What a page answers with. */
export interface Page {
  status: number
  type: string
  body: string
}

const checkDeadlineMs = 2_000

interface HealthParts {
  /** 0 takes any free one. */
  port: number
  checks: Record<string, Check>
  /** Hears when the bot stops or begins to be ready. */
  log?: Pick<Log, 'info' | 'warn'>
  /** More pages for those who run the bot, by path. */
  pages?: Record<string, () => Promise<Page>>
}

/**
 * The port for those who run the bot, never the public one: `/healthz` (the process turns) and `/readyz` (each check as `ok` or a
 * sentence; 503 until all are). Rejects when the port cannot be had.
 */
export async function startHealth({ port, checks, log, pages = {} }: HealthParts) {
  const shared = Object.entries(checks).map(([name, check]) => [name, shareRuns(() => runCheck(check))] as const)
  let wasReady: boolean | undefined

  async function readiness(): Promise<Page> {
    const results = Object.fromEntries(await Promise.all(shared.map(async ([name, run]) => [name, await run()] as const)))
    const ready = Object.values(results).every((result) => result === 'ok')
    if (!ready && wasReady !== false) log?.warn({ checks: results }, 'not ready')
    if (ready && wasReady === false) log?.info('ready again')
    wasReady = ready
    return json(ready ? 200 : 503, { ready, checks: results })
  }

  const known: Record<string, () => Promise<Page>> = {
    ...pages,
    '/healthz': async () => json(200, { alive: true }),
    '/readyz': readiness,
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const page = Object.hasOwn(known, path) ? known[path] : undefined
    if (!page) return answer(response, json(404, { error: `There is ${Object.keys(known).join(', ')}.` }))
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, json(405, { error: 'Only GET and HEAD.' }))
    page().then(
      (ready) => answer(response, ready),
      (error: unknown) => {
        log?.warn({ error, path }, 'a page for operators failed')
        answer(response, json(500, { error: 'This page failed; the log says more.' }))
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  })

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  return { port: () => (server.address() as { port: number }).port, close }
}
export type Health = Awaited<ReturnType<typeof startHealth>>

async function runCheck(check: Check): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${checkDeadlineMs / 1000} s`), checkDeadlineMs)
  })
  const outcome = Promise.resolve()
    .then(check)
    .then(
      () => 'ok',
      (error: unknown) => scrub(describeError(error).message) || 'failed',
    )
  try {
    return await Promise.race([outcome, deadline])
  } finally {
    clearTimeout(timer)
  }
}

function json(status: number, body: unknown): Page {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

function answer(response: ServerResponse, { status, type, body }: Page): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(body)
}
