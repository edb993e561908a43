import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Answer } from './answer.ts'
import type { Fault } from './faults.ts'

export const jsonType = 'application/vnd.api+json; charset=utf-8'

/** Ends a request as the fault says. `answer` is the usual answer. Undefined if the request took no effect. */
export async function misbehave(response: ServerResponse, fault: Fault, answer: Answer | undefined): Promise<void> {
  const text = answer?.body === undefined ? '' : JSON.stringify(answer.body)
  const status = answer?.status ?? 200
  const { delayMs = 50 } = fault
  // A slow answer at the end of a test must not keep the process alive.
  const pause = () => wait(delayMs, undefined, { ref: false })

  switch (fault.kind) {
    case 'drop-before':
    case 'drop-after':
      response.socket?.destroy()
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'delay':
      await pause()
      if (!response.destroyed) response.writeHead(status, { 'content-type': jsonType }).end(text)
      return
    case 'status':
      response.writeHead(fault.status ?? 500, { 'content-type': jsonType, ...fault.headers })
      response.end(fault.body === undefined ? '' : JSON.stringify(fault.body))
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<!doctype html><title>Just a moment…</title>')
      return
    case 'truncate':
      response.writeHead(status, { 'content-type': jsonType, 'content-length': Buffer.byteLength(text) })
      response.write(text.slice(0, text.length / 2), () => response.socket?.destroy())
      return
    case 'drip':
      response.writeHead(status, { 'content-type': jsonType })
      for (const letter of text) {
        if (response.destroyed) return
        response.write(letter)
        await pause()
      }
      response.end()
      return
    case 'hang':
      return
    case 'late':
      if (!response.destroyed) response.writeHead(status, { 'content-type': jsonType }).end(text)
      return
    case 'instead': {
      const other = fault.instead?.(answer ?? { status, body: undefined }) ?? {}
      response.writeHead(other.status ?? status, { 'content-type': other.type ?? jsonType })
      response.end(other.text ?? JSON.stringify(other.body) ?? '')
      return
    }
    case 'flood':
      response.writeHead(fault.status ?? 200, { 'content-type': jsonType })
      await pipeline(Readable.from(blanks(fault.bytes ?? 0)), response).catch(() => {})
      return
    case 'bomb':
      response.writeHead(200, { 'content-type': jsonType, 'content-encoding': 'gzip' })
      await pipeline(Readable.from(blanks(fault.bytes ?? 0)), createGzip(), response).catch(() => {})
      return
    case 'redirect':
      response.writeHead(307, { location: fault.location ?? 'http://127.0.0.1:9/' }).end()
      return
  }
}

const megabyte = Buffer.alloc(1024 * 1024, 32)

function* blanks(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= megabyte.length) yield megabyte.subarray(0, left)
}
