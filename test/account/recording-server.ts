import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type AccountApiOptions, createAccountApi } from '../../src/account/client.ts'
import { Secret } from '../../src/domain/signing.ts'

/** A request as it was received. */
export interface Recorded {
  method: string
  /** The path and the query, not decoded. */
  target: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** An answer, by default with status 200 and the content type of the account API. A function writes the response by itself. */
export type Reply =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string | Buffer }
  | ((response: ServerResponse) => void)

export type Respond = (request: Recorded, index: number) => Reply

export const jsonType = 'application/vnd.api+json'
export const key = '5e1f0c9a7b3d24680ace13579bdf02468ace'
/** So long that a busy machine never runs out of them, with short pauses between tries. */
const patientTimings = {
  connectMs: 20_000,
  readMs: 20_000,
  writeMs: 20_000,
  retryBaseMs: 1,
  retryMaxMs: 4,
}

/** Short timings, so that tests of timeouts are fast. */
export const timings = { connectMs: 300, readMs: 900, writeMs: 900, retryBaseMs: 1, retryMaxMs: 4 }

/** Starts a server on loopback that records its requests. Closes it when the test ends. */
export async function startRecordingServer(respond: Respond) {
  const requests: Recorded[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const recorded = { method, target: url, headers, body: await text(request) }
    requests.push(recorded)
    const reply = respond(recorded, requests.length - 1)
    if (typeof reply === 'function') return reply(response)
    const { status = 200, headers: more, json, text: plain = json === undefined ? '' : JSON.stringify(json) } = reply
    response.writeHead(status, { 'content-type': jsonType, ...more }).end(plain)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), requests }
}

/** Starts a recording server and a client that calls it. Closes both when the test ends. */
export async function startClient(respond: Respond, options: Partial<AccountApiOptions> = {}) {
  const server = await startRecordingServer(respond)
  const api = createAccountApi({ baseUrl: server.url, key: new Secret(key), timings: patientTimings, ...options })
  onTestFinished(() => api.close())
  return { api, requests: server.requests, url: server.url }
}

/** Returns the error of a rejected promise. Throws if the promise is fulfilled. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}
