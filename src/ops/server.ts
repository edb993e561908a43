import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whyNotListening } from '../domain/listening.ts'

/**
 * Nobody waits for the answer to a request that takes longer than 5 s to arrive. Until then a slow sender holds a connection. Proxies reuse idle
 * ones, so they have to be open for longer: a request that meets the end of its connection is lost (nodejs/node 20256). Those of AWS do so for
 * 60 s, Caddy for 120 s, and those of Google for 600 s, which nobody can change (docs.cloud.google.com, "Backend HTTP keepalive timeout").
 */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 620_000,
  // Otherwise Node answers requests without it by itself, and any number of them.
  requireHostHeader: false,
} satisfies ServerOptions

/** A connection that neither sends nor takes a byte for this long is ended: also one whose answer nobody reads. Longer than any wait. */
const silentMs = 75_000

/** Programs that people use send one request after the other. */
const mostUnanswered = 5

interface Connection {
  socket: Socket
  /** Who has shown that they may send requests. Undefined for a stranger. */
  owner: string | undefined
  unanswered: number
  /** Of these, how many may change something. */
  posts: number
}

export interface LimitedRequest {
  request: IncomingMessage
  response: ServerResponse
  /**
   * Call it once the request has shown whose it is: its connection stays open, and counts among those of this owner. False: the owner has too
   * many that are busy. The connection of any other request ends with its answer.
   */
  trust: (owner?: string) => boolean
}

interface ServerSettings {
  /** The variables of both, for the error of an address that cannot be used. */
  named: { host: string; port: string }
  /** How many connections strangers have, and each owner. */
  mostConnections: number
  /** How long a stop waits for answers. The sender of a request that is cut off got none, so it sends it again. */
  stopWithinMs: number
  handle: (of: LimitedRequest) => void
  onStop?: () => void
}

/** An HTTP server on which nobody can use up the memory or the connections of others: all of Lockkeeper's ports are such servers. */
export function createLimitedServer({ named, mostConnections, stopWithinMs, handle, onStop = () => {} }: ServerSettings) {
  const connections = new Map<Socket, Connection>()
  const server = createServer(limits, take)
  server.setTimeout(silentMs)
  server.on('connection', (socket: Socket) => {
    makeRoom(undefined)
    const connection = { socket, owner: undefined, unanswered: 0, posts: 0 }
    connections.set(socket, connection)
    readOneByOne(connection, () => connections.has(socket))
    socket.once('close', () => connections.delete(socket))
  })
  server.on('checkExpectation', take)
  let isStopping = false

  function take(request: IncomingMessage, response: ServerResponse): void {
    const connection = connections.get(request.socket)
    // Its connection is about to end.
    if (!connection) return
    if (connection.unanswered >= mostUnanswered) return void end(request.socket)
    const ofPosts = request.method === 'GET' || request.method === 'HEAD' ? 0 : 1
    connection.unanswered += 1
    connection.posts += ofPosts
    response.once('close', () => {
      connection.unanswered -= 1
      connection.posts -= ofPosts
      if (isStopping) endAnswered()
    })
    const wantsToStay = response.shouldKeepAlive
    response.shouldKeepAlive = false
    const { host, expect } = request.headers
    if (host === undefined && request.httpVersion === '1.1') return void response.writeHead(400).end()
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') return void response.writeHead(417).end()
    handle({
      request,
      response,
      trust(owner = 'known') {
        if (connection.owner !== owner && !makeRoom(owner)) return false
        connection.owner = owner
        response.shouldKeepAlive = wantsToStay && !isStopping
        return true
      },
    })
  }

  /** Ends a connection of an owner that has as many as it may: the oldest idle one, or the oldest. False: each of them may change something. */
  function makeRoom(owner: string | undefined): boolean {
    const own = [...connections.values()].filter((each) => each.owner === owner)
    if (own.length < mostConnections) return true
    const oldest = own.find(({ unanswered }) => unanswered === 0) ?? own.find(({ posts }) => posts === 0)
    // A stranger that is idle may be about to send a valid request, so the oldest of all goes.
    const leaving = owner === undefined ? own[0] : oldest
    if (!leaving) return false
    connections.delete(leaving.socket)
    leaving.socket.destroy()
    return true
  }

  async function start({ host, port }: { host: string; port: number }): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error) => reject(whyNotListening(error, { hostVariable: named.host, host, portVariable: named.port, port }))
      server.once('error', onError).listen(port, host, resolve)
    })
    return (server.address() as { port: number }).port
  }

  async function stop(): Promise<void> {
    onStop()
    isStopping = true
    const closed = new Promise((resolve) => server.close(resolve))
    endAnswered()
    const timer = setTimeout(() => server.closeAllConnections(), stopWithinMs)
    await closed
    clearTimeout(timer)
  }

  function endAnswered(): void {
    for (const { socket, unanswered } of connections.values()) if (unanswered === 0) socket.destroySoon()
  }

  /** The answers that are ready are sent first, and nothing more is read. */
  function end(socket: Socket): void {
    connections.delete(socket)
    queueMicrotask(() => process.nextTick(() => socket.destroy()))
  }

  return { start, stop }
}

const endOfHead = Buffer.from('\r\n\r\n')

/** A part of a packet that brought no request is of a body. One with a blank line every 4 bytes must not be read in parts of 4 bytes. */
const leastOfBody = 512

/**
 * Passes on the requests of a packet one by one, until one ends the connection. Otherwise Node reads them all before anything else happens: 3,600
 * in 64 kB, which take 9 MB until the connection is closed.
 */
function readOneByOne(connection: Pick<Connection, 'socket' | 'unanswered'>, isOpen: () => boolean): void {
  const { socket } = connection
  const push = socket.push.bind(socket)
  socket.push = (packet: Buffer | null, encoding) => {
    if (packet === null) return push(null)
    let isRoom = true
    for (let start = 0, end = 0, least = 0; start < packet.length && isOpen(); start = end) {
      const head = packet.indexOf(endOfHead, start + least)
      end = head < 0 ? packet.length : head + endOfHead.length
      const { unanswered } = connection
      isRoom = push(packet.subarray(start, end), encoding)
      least = connection.unanswered > unanswered ? 0 : leastOfBody
    }
    return isRoom
  }
  // A server without a listener reads past `push`.
  socket.on('data', () => {})
}
