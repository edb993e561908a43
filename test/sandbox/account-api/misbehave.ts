import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Answer } from './answer.ts'
import type { Fault } from './faults.ts'

export const jsonType = 'application/vnd.api+json; charset=utf-8'

/** Ends a request in the way the fault says. `answer` is what would have been said; undefined when the request took no effect. */
export async function misbehave(response: ServerResponse, fault: Fault, answer: Answer | undefined): Promise<void> {
  const text = answer?.body === undefined ? '' : JSON.stringify(answer.body)
  const status = answer?.status ?? 200
  const { delayMs = 50 } = fault
  // Without ref: what is still slow at the end of a test must not keep the process.
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
    case 'redirect':
      response.writeHead(307, { location: fault.location ?? 'http://127.0.0.1:9/' }).end()
      return
  }
}
