import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Ends the oldest connection without a valid token while there are more than `most`. Otherwise somebody without a token could hold all connections
 * that a port takes, and keep every alert out. A sender with the token sends it at once, and its connection then counts no more. Returns the function
 * that says so.
 */
export function limitStrangers(server: Server, most: number): (known: Socket) => void {
  /** In the order in which they came. */
  const strangers = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    const [oldest] = strangers
    if (strangers.size >= most) oldest?.destroy()
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
  })

  return (known) => void strangers.delete(known)
}
