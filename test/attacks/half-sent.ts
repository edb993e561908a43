import { connect, type Socket } from 'node:net'

export const form = 'application/x-www-form-urlencoded'
export const nowSeconds = () => Math.floor(Date.now() / 1_000)

/** Headers that look signed, to everybody who does not know the signing secret. */
export function plausibleHeaders(timestamp: number | string = nowSeconds()): Record<string, string> {
  return { 'content-type': form, 'x-slack-request-timestamp': String(timestamp), 'x-slack-signature': `v0=${'0'.repeat(64)}` }
}

/** Sends a request line, headers and a part of the body that they announce, and then nothing more. */
export function halfSend(port: number, line: string, headers: Record<string, string>, part: string | Buffer = 'payload='): Socket {
  const socket = connect(port, '127.0.0.1')
  // The bot may end the connection at any time.
  socket.on('error', () => {})
  const length = headers['transfer-encoding'] === undefined ? { 'content-length': '1000000' } : {}
  const fields = Object.entries({ host: 'bot.example.com', ...length, ...headers })
  socket.write(`${line} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  socket.write(part)
  return socket
}

/** The status that a connection gets within `withinMs`, or undefined. */
export function statusOn(socket: Socket, withinMs: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const end = (status: number | undefined) => {
      clearTimeout(timer)
      resolve(status)
    }
    const timer = setTimeout(end, withinMs, undefined)
    socket.once('data', (answer: Buffer) => end(Number(/^HTTP\/1\.1 (\d{3})/.exec(String(answer))?.[1])))
    socket.once('close', () => end(undefined))
  })
}
