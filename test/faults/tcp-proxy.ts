import { connect, createServer, type Socket } from 'node:net'

interface Pair {
  client: Socket
  server: Socket
  /** Loses the next answer, and is called with it. */
  lose?: () => void
}

/**
 * Starts a proxy on this machine between the bot and a service. `reset` breaks every connection. In a black hole, packets vanish and
 * connections look open. Each fault counts what it did, so that a test can show that it happened.
 */
export async function startTcpProxy(first: { port: number; host?: string }) {
  let target = first
  const pairs = new Set<Pair>()
  let hole = false
  let refusing = false
  let repliesToLose = 0
  let isLost = () => false
  let loss: { fits: (sent: Buffer) => boolean; before: number; andThen: () => void } | undefined
  let hold: { fits: (sent: Buffer) => boolean; until: Promise<void> } | undefined
  const fired = { resets: 0, swallowed: 0, refused: 0, lostReplies: 0, held: 0 }

  const proxy = createServer({ pauseOnConnect: false }, (client) => {
    if (refusing) {
      fired.refused += 1
      client.resetAndDestroy()
      return
    }
    const server = connect(target.port, target.host ?? '127.0.0.1')
    const pair: Pair = { client, server }
    pairs.add(pair)
    client.on('data', (data) => {
      if (loss?.fits(data)) {
        if (loss.before === 0) pair.lose = loss.andThen
        loss = loss.before === 0 ? undefined : { ...loss, before: loss.before - 1 }
      }
      if (hole) fired.swallowed += 1
      else if (hold?.fits(data)) {
        fired.held += 1
        client.pause()
        void hold.until.then(() => {
          server.write(data)
          client.resume()
        })
        hold = undefined
      } else server.write(data)
    })
    server.on('data', (data) => {
      if (hole) fired.swallowed += 1
      else if (repliesToLose > 0 || isLost()) {
        repliesToLose = Math.max(0, repliesToLose - 1)
        fired.lostReplies += 1
        client.resetAndDestroy()
      } else if (pair.lose) {
        fired.lostReplies += 1
        client.resetAndDestroy()
        pair.lose()
      } else client.write(data)
    })
    const end = () => {
      pairs.delete(pair)
      // A connection whose packets vanish does not learn that its other end is closed.
      if (!hole) for (const socket of [client, server]) socket.destroy()
    }
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', end)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))

  function reset(): void {
    for (const { client, server } of pairs) {
      fired.resets += 1
      client.resetAndDestroy()
      server.destroy()
    }
    pairs.clear()
  }

  return {
    port: (proxy.address() as { port: number }).port,
    fired,
    reset,
    /** Loses the next answer and its connection. The command was executed. */
    loseNextReply: () => {
      repliesToLose += 1
    },
    /**
     * Loses the answer to the first matching command, after `before` other matching ones, with its connection. Returns a function that
     * disarms it.
     */
    loseReplyTo: (fits: (sent: Buffer) => boolean, { before = 0, andThen = () => {} } = {}) => {
      loss = { fits, before, andThen }
      return () => {
        loss = undefined
        for (const pair of pairs) delete pair.lose
      }
    },
    /** Delays the first matching command and everything after it on its connection until then. */
    holdSent: (fits: (sent: Buffer) => boolean, until: Promise<void>) => {
      hold = { fits, until }
    },
    /** Asks for every answer whether to lose it, with its connection. */
    loseRepliesIf: (lost: () => boolean) => {
      isLost = lost
    },
    /** Lets packets vanish, also those of new connections. */
    blackhole: () => {
      hole = true
    },
    /** Lets packets pass again. Half-open connections stay dead, and swallowed packets do not come back. */
    heal: () => {
      hole = false
      refusing = false
    },
    /** Sends new connections elsewhere, as when an address moves to another server. Open connections stay. */
    retarget: (next: { port: number; host?: string }) => {
      target = next
    },
    refuse: () => {
      refusing = true
      reset()
    },
    async close(): Promise<void> {
      const closed = new Promise((resolve) => proxy.close(resolve))
      reset()
      await closed
    },
  }
}
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>
