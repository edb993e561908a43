import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
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

export type Posted = { outcome: 'answered'; status: number; body: string } | { outcome: 'timeout' } | { outcome: 'unreachable' }

/** Sends one POST with exactly these headers. After `deadlineMs` Slack closes the connection. */
export function postToBot(url: string, headers: Record<string, string>, body: string, deadlineMs: number): Promise<Posted> {
  return new Promise((resolve) => {
    const request = httpRequest(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      agent: false,
    })
    const deadline = setTimeout(() => {
      resolve({ outcome: 'timeout' })
      request.destroy()
    }, deadlineMs)
    const end = (posted: Posted) => {
      clearTimeout(deadline)
      resolve(posted)
    }
    request.on('error', () => end({ outcome: 'unreachable' }))
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => end({ outcome: 'unreachable' }))
      response.on('end', () => {
        end({ outcome: 'answered', status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    request.end(body)
  })
}
