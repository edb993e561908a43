import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import type { HTTPReceiver } from '@slack/bolt'

/**
 * Slack waits 3 s for an answer, so nobody reads the answer to a request that takes longer than 5 s to arrive. Until then a slow sender
 * holds one of the connections. Alertmanager sends its payloads just as fast.
 */
export const serverLimits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 } satisfies ServerOptions

/** Slack waits this long for an answer. A connection that is still open then must not delay the end of the process. */
const stopWithinMs = 3_000

/** An address in `trustedProxies` may send this many unsigned requests in a second over kept connections: probes, and what scanners send. */
const unsignedPerSecond = 20

export interface ConnectionLimits {
  /** IP addresses, or ranges such as 10.0.0.0/8, whose connections carry the requests of many. */
  trustedProxies: readonly string[]
  maxConnections?: number
  /** How long a connection may send nothing signed while there are many. */
  quietMs?: number
}

interface Connection {
  /** When it last sent something signed, or else began. */
  since: number
  inFlight: number
  isTrusted: boolean
}

/**
 * Limits the server of a receiver: how long a request may take to arrive, how many connections there may be, who may keep theirs, and how long
 * it takes to stop.
 */
export function limitServer(receiver: HTTPReceiver, { trustedProxies, maxConnections = 1_000, quietMs = 5_000 }: ConnectionLimits) {
  const start = receiver.start.bind(receiver)
  const stop = receiver.stop.bind(receiver)
  const trusted = blockListOf(trustedProxies)
  /** The one that has been quiet for longest comes first. */
  const connections = new Map<Socket, Connection>()
  /** How many unsigned requests each trusted address has sent within this second. */
  const unsigned = new Map<string | undefined, number>()
  let server: Server | undefined

  function limit(started: Server): void {
    started.maxConnections = maxConnections
    started.on('connection', (socket: Socket) => {
      const { remoteAddress } = socket
      const isTrusted = remoteAddress !== undefined && trusted.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')
      connections.set(socket, { since: performance.now(), inFlight: 0, isTrusted })
      socket.once('close', () => connections.delete(socket))
    })
    started.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = connections.get(socket)
      if (!connection) return
      connection.inFlight += 1
      response.once('close', () => {
        connection.inFlight -= 1
      })
    })
    const timer = setInterval(() => {
      unsigned.clear()
      makeRoom()
    }, 1_000).unref()
    started.once('close', () => clearInterval(timer))
  }

  /** Keeps a fifth of the connections free, for those who sign their requests. */
  function makeRoom(): void {
    let tooMany = connections.size - 0.8 * maxConnections
    for (const [socket, { since, inFlight, isTrusted }] of connections) {
      if (tooMany <= 0 || performance.now() - since < quietMs) return
      if (inFlight > 0 || isTrusted) continue
      socket.destroy()
      tooMany -= 1
    }
  }

  function noteSigned({ socket }: IncomingMessage): void {
    const connection = connections.get(socket)
    if (!connection) return
    connection.since = performance.now()
    connections.delete(socket)
    connections.set(socket, connection)
  }

  /**
   * Returns what becomes of the connection of an unsigned request. Otherwise somebody could hold all connections with them, and keep Slack out.
   * `limited`: a trusted proxy sends too many.
   */
  function noteUnsigned({ socket }: IncomingMessage): 'kept' | 'ended' | 'limited' {
    if (!connections.get(socket)?.isTrusted) return 'ended'
    const count = (unsigned.get(socket.remoteAddress) ?? 0) + 1
    unsigned.set(socket.remoteAddress, count)
    return count > unsignedPerSecond ? 'limited' : 'kept'
  }

  const limited = Object.assign(receiver, {
    async start(listenOn?: Parameters<typeof start>[0], options: ServerOptions = {}): Promise<Server> {
      server = (await start(listenOn as number, { ...serverLimits, ...options })) as Server
      limit(server)
      return server
    },
    async stop(): Promise<void> {
      const timer = setTimeout(() => server?.closeAllConnections(), stopWithinMs)
      await stop().finally(() => clearTimeout(timer))
    },
  })
  return { receiver: limited, noteSigned, noteUnsigned }
}

/** `BlockList` also finds an IPv4 address that is written as an IPv6 one, as on a server that listens on `::`. */
function blockListOf(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}
