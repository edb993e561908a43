import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject, type Json, parseJson } from './json.ts'

const largestBody = 2_000_000

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > largestBody) throw new Error('The request is too large.')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

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
