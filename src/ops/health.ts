import { createServer, type ServerResponse } from 'node:http'

/** Resolves when all is well; throws an Error whose message is a sentence when not. */
export type Check = () => Promise<void>

const checkDeadlineMs = 2_000

/**
 * The port for those who run the bot, never for the public one: `/healthz` (the process turns) and `/readyz` (each check as `ok` or
 * a sentence). Port 0 takes any free one.
 */
export async function startHealth({ port, checks }: { port: number; checks: Record<string, Check> }) {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, { error: 'GET only' })
    if (path === '/healthz') return answer(response, 200, { alive: true })
    if (path !== '/readyz') return answer(response, 404, { error: 'There is /healthz and /readyz.' })
    void runChecks(checks).then((results) => {
      const ready = Object.values(results).every((result) => result === 'ok')
      answer(response, ready ? 200 : 503, { ready, checks: results })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  })

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  return { port: () => (server.address() as { port: number }).port, close }
}
export type Health = Awaited<ReturnType<typeof startHealth>>

async function runChecks(checks: Record<string, Check>): Promise<Record<string, string>> {
  const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const))
  return Object.fromEntries(results)
}

async function runCheck(check: Check): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('does not answer'), checkDeadlineMs)
  })
  const outcome = check().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message.slice(0, 200) : 'failed'),
  )
  try {
    return await Promise.race([outcome, deadline])
  } finally {
    clearTimeout(timer)
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
