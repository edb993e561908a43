import { connect, createServer, type Socket } from 'node:net'

interface Pair {
  client: Socket
  server: Socket
  /** Its next answer is lost; called with it. */
  lose?: () => void
}

/**
 * A proxy on this machine between the bot and what it talks to. `reset` breaks every connection; while it is a black hole, packets
 * vanish and connections look open. Each fault counts what it did, so that a test can show that it happened.
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
      // A connection whose packets vanish does not learn that the other end is gone.
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
    /** The next answer is lost, and its connection with it: what was asked was done. */
    loseNextReply: () => {
      repliesToLose += 1
    },
    /** The answer to the first thing sent that fits, after so many others that do, is lost, and its connection with it. Returns how to take this back. */
    loseReplyTo: (fits: (sent: Buffer) => boolean, { before = 0, andThen = () => {} } = {}) => {
      loss = { fits, before, andThen }
      return () => {
        loss = undefined
        for (const pair of pairs) delete pair.lose
      }
    },
    /** The first thing sent that fits is on its way until then, and what its connection sends after it. */
    holdSent: (fits: (sent: Buffer) => boolean, until: Promise<void>) => {
      hold = { fits, until }
    },
    /** Asked of every answer from now on: those are lost, and their connections with them. */
    loseRepliesIf: (lost: () => boolean) => {
      isLost = lost
    },
    /** Packets vanish, also those of new connections. */
    blackhole: () => {
      hole = true
    },
    /** Packets pass again; connections that were half open stay dead, as in life: whatever was swallowed does not come back. */
    heal: () => {
      hole = false
      refusing = false
    },
    /** New connections lead elsewhere, as when an address is given to another server; old ones stay where they are. */
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
