import { hash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whyNotListening } from '../domain/listening.ts'
import type { Secret } from '../domain/signing.ts'
import { settleWithin } from '../domain/within.ts'
import { serverLimits } from '../slack/http-receiver.ts'

/** Those without a valid token have the same room, apart from these. */
const maxConnections = 100

/** How long a stop waits for running requests. The sender of one that is cut off got no answer, so it sends it again. */
const stopWithinMs = 5_000

interface PortSettings {
  host: string
  port: number
  /** The variables of both. */
  named: { host: string; port: string }
  /** `trust`: call it once the sender of the request has shown a valid token. */
  handle: (request: IncomingMessage, response: ServerResponse, trust: (socket: Socket) => void) => Promise<void>
  onStop: () => void
}

/** A port for machines that send a bearer token. Senders without one can't use up the connections. */
export function createPort({ host, port, named, handle, onStop }: PortSettings) {
  const running = new Set<Promise<unknown>>()
  const server = createServer(serverLimits, (request, response) => {
    const work = handle(request, response, trust).finally(() => running.delete(work))
    running.add(work)
  })
  server.maxConnections = 2 * maxConnections
  const trust = limitStrangers(server, maxConnections)

  async function start(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error) => reject(whyNotListening(error, { hostVariable: named.host, host, portVariable: named.port, port }))
      server.once('error', onError)
      server.listen(port, host, resolve)
    })
    return (server.address() as { port: number }).port
  }

  async function stop(): Promise<void> {
    onStop()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    await settleWithin(stopWithinMs, [...running])
    server.closeAllConnections()
    await closed
  }

  return { start, stop }
}

const digest = (text: string) => hash('sha256', text, 'buffer')

/** Returns the function that finds whose token a request sent. It compares hashes of one length with all tokens, so its time says nothing. */
export function createTokenCheck<Owner>(tokens: Iterable<readonly [Owner, readonly Secret[]]>) {
  const known = [...tokens].flatMap(([owner, own]) => own.map((token) => ({ owner, token: digest(token.reveal()) })))

  return ({ headers }: Pick<IncomingMessage, 'headers'>): Owner | undefined => {
    const [, token = ''] = /^Bearer +([\x21-\x7e]{1,1000}) *$/i.exec(headers.authorization ?? '') ?? []
    const sent = digest(token)
    return known.filter((each) => timingSafeEqual(each.token, sent))[0]?.owner
  }
}

/** Otherwise connections without a valid token could keep every sender out. The returned function says that a connection sent one. */
function limitStrangers(server: Server, most: number): (known: Socket) => void {
  const strangers = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    const [oldest] = strangers
    if (strangers.size >= most) oldest?.destroy()
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
  })

  return (known) => void strangers.delete(known)
}
