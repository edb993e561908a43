import type { Server, ServerOptions } from 'node:http'
import type { HTTPReceiver } from '@slack/bolt'

/**
 * Slack waits 3 s for an answer, so nobody reads the answer to a request that takes longer than 5 s to arrive. Until then a slow sender
 * holds one of the connections. Alertmanager sends its payloads just as fast.
 */
export const serverLimits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 } satisfies ServerOptions
const maxConnections = 1_000

/** Slack waits this long for an answer. A connection that is still open then must not delay the end of the process. */
const stopWithinMs = 3_000

/** Limits the server of a receiver: how long a request may take to arrive, how many connections there may be, and how long it takes to stop. */
export function limitServer(receiver: HTTPReceiver): HTTPReceiver {
  const start = receiver.start.bind(receiver)
  const stop = receiver.stop.bind(receiver)
  let server: Server | undefined

  return Object.assign(receiver, {
    async start(listenOn?: Parameters<typeof start>[0], options: ServerOptions = {}): Promise<Server> {
      server = (await start(listenOn as number, { ...serverLimits, ...options })) as Server
      server.maxConnections = maxConnections
      return server
    },
    async stop(): Promise<void> {
      const timer = setTimeout(() => server?.closeAllConnections(), stopWithinMs)
      await stop().finally(() => clearTimeout(timer))
    },
  })
}
