import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { addressOf } from './http.ts'
import { isObject, type Json, parseJson } from './json.ts'

export type Acknowledged = { outcome: 'answered'; payload: unknown } | { outcome: 'timeout' } | { outcome: 'unreachable' }

export interface SocketModeOptions {
  baseUrl: () => string
  appId: string
  /** Is called when a connection was opened or closed. */
  changed: () => void
}

/**
 * The server side of Socket Mode: `hello`, envelopes with their acknowledgements, `disconnect`
 * (docs.slack.dev/apis/events-api/using-socket-mode).
 */
export function createSocketMode(options: SocketModeOptions) {
  const server = new WebSocketServer({ noServer: true })
  const tickets = new Set<string>()
  const open = new Set<WebSocket>()
  const waiting = new Map<string, (payload: unknown) => void>()
  let turn = 0

  function received(data: string): void {
    const message = parseJson(data)
    if (!isObject(message) || typeof message.envelope_id !== 'string') return
    waiting.get(message.envelope_id)?.(message.payload)
  }

  function welcome(socket: WebSocket): void {
    open.add(socket)
    socket.on('message', (data) => received(data.toString()))
    socket.on('close', () => {
      open.delete(socket)
      options.changed()
    })
    socket.on('error', () => socket.terminate())
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: open.size,
        debug_info: { host: 'applink-1', build_number: 1, approximate_connection_time: 18_060 },
        connection_info: { app_id: options.appId },
      }),
    )
    options.changed()
  }

  return {
    /** Returns a URL for one connection. */
    issueUrl(): string {
      const ticket = randomUUID()
      tickets.add(ticket)
      return `${options.baseUrl().replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=${options.appId}`
    },

    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const url = addressOf(request)
      if (url.pathname !== '/link/' || !tickets.delete(url.searchParams.get('ticket') ?? '')) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        return
      }
      server.handleUpgrade(request, socket, head, welcome)
    },

    count: (): number => open.size,

    /** Sends an envelope over the connections in turn, and waits for its acknowledgement. */
    send(envelopeId: string, envelope: string, deadlineMs: number): Promise<Acknowledged> {
      const socket = [...open][turn++ % Math.max(open.size, 1)]
      if (socket === undefined) return Promise.resolve({ outcome: 'unreachable' })
      return new Promise((resolve) => {
        const end = (result: Acknowledged) => {
          clearTimeout(deadline)
          waiting.delete(envelopeId)
          socket.off('close', gone)
          resolve(result)
        }
        const gone = () => end({ outcome: 'unreachable' })
        const deadline = setTimeout(() => end({ outcome: 'timeout' }), deadlineMs)
        waiting.set(envelopeId, (payload) => end({ outcome: 'answered', payload }))
        socket.on('close', gone)
        socket.send(envelope)
      })
    },

    disconnect(reason: string): void {
      const message: Json = { type: 'disconnect', reason, debug_info: { host: 'applink-1' } }
      for (const socket of open) socket.send(JSON.stringify(message))
    },

    close(): void {
      for (const socket of open) socket.terminate()
      server.close()
    },
  }
}
export type SocketMode = ReturnType<typeof createSocketMode>
