import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { isObject, type Json, parseJson } from './json.ts'

export const readBody = (request: IncomingMessage): Promise<string> => text(request)

export function sendJson(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(body))
}

export function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(body)
}

export function addressOf(request: IncomingMessage): URL {
  return new URL(request.url ?? '/', 'http://localhost')
}

/** Returns the arguments of a request, form-encoded or JSON. Undefined for any other type of body. */
export function parseArguments(contentType: string, body: string): Json | undefined {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json') {
    const parsed = parseJson(body)
    return isObject(parsed) ? parsed : undefined
  }
  if (type === 'application/x-www-form-urlencoded' || (type === '' && body === '')) return Object.fromEntries(new URLSearchParams(body))
  return undefined
}

export type Posted = { outcome: 'answered'; status: number; body: string } | { outcome: 'timeout' } | { outcome: 'unreachable' }

/** Sends one POST with exactly these headers, over its own connection. After `deadlineMs` Slack closes it. */
export async function postToBot(url: string, headers: Record<string, string>, body: string, deadlineMs: number): Promise<Posted> {
  try {
    const answer = await request(url, { method: 'POST', headers, body, reset: true, signal: AbortSignal.timeout(deadlineMs) })
    return { outcome: 'answered', status: answer.statusCode, body: await answer.body.text() }
  } catch (error) {
    return { outcome: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'unreachable' }
  }
}
