import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBody } from './http.ts'
import { type Json, objectOf, parseJson, stringOf } from './json.ts'

/** What the bot of a test answers: a body (JSON, text or nothing), a status, or `hold` to let Slack wait. */
export type Script = (payload: Json) => Answer | Promise<Answer>

interface Answer {
  status?: number
  body?: unknown
  hold?: boolean
}

/** Events are JSON, commands are forms, and interactions are JSON within a form. */
function payloadOf(contentType: string, body: string): Json {
  if (contentType === 'application/json') return objectOf(parseJson(body))
  const form = Object.fromEntries(new URLSearchParams(body))
  return form.payload === undefined ? form : objectOf(parseJson(stringOf(form.payload)))
}

/** A bot without a library, to test what Slack sends and does with answers. */
export async function startScriptedBot(script: Script = () => ({})) {
  let current = script
  const received: { headers: Record<string, unknown>; payload: Json }[] = []

  const server = createServer((request, response) => {
    void (async () => {
      const payload = payloadOf(request.headers['content-type'] ?? '', await readBody(request))
      received.push({ headers: request.headers, payload })
      const { status = 200, body, hold } = await current(payload)
      if (hold) return
      response.writeHead(status)
      response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`,
    received,
    answer(next: Script): void {
      current = next
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
export type ScriptedBot = Awaited<ReturnType<typeof startScriptedBot>>
