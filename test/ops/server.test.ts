import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createLimitedServer } from '../../src/ops/server.ts'

/** A server with two connections for each owner, whose name is the path. Only a GET of `/…/wait` and a POST are answered by `answerAll`. */
async function open() {
  const waiting: (() => void)[] = []
  const server = createLimitedServer({
    named: { host: 'HOST', port: 'PORT' },
    mostConnections: 2,
    stopWithinMs: 100,
    handle({ request, response, trust }) {
      const [, owner = '', what] = request.url?.split('/') ?? []
      if (owner === '') return void response.writeHead(401).end()
      if (!trust(owner)) return void response.writeHead(429).end()
      const answer = () => void response.writeHead(200).end('x')
      if (what === undefined) answer()
      else waiting.push(answer)
    },
  })
  const port = await server.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(server.stop)

  /** Opens a connection and sends requests. `answers` are the statuses so far. */
  function send(...lines: string[]) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    let read = ''
    socket.on('data', (chunk) => {
      read += chunk
    })
    socket.write(
      lines.map((line) => `${line} HTTP/1.1\r\nhost: x\r\n${line.startsWith('POST') ? 'content-length: 0\r\n' : ''}\r\n`).join(''),
    )
    return { socket, answers: () => [...read.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)) }
  }

  const answerAll = () => waiting.splice(0).map((answer) => answer())
  const until = (url: string) => fetch(`http://127.0.0.1:${port}${url}`).then(({ headers }) => headers.get('keep-alive'))
  return { port, send, waiting, answerAll, until }
}

const untilClosed = (socket: Socket) => expect.poll(() => socket.closed).toBe(true)

test.each(['GET /a/wait', 'POST /a/x'])('a connection may have five unanswered requests, and the sixth ends it (%s)', async (line) => {
  const { send, waiting, answerAll } = await open()
  const five = send(...Array(5).fill(line))
  await expect.poll(() => waiting.length).toBe(5)
  answerAll()
  await expect.poll(five.answers).toEqual(Array(5).fill(200))

  const six = send(...Array(6).fill(line))
  await untilClosed(six.socket)

  // None after the sixth reached the handler.
  expect(waiting).toHaveLength(5)
  expect(five.socket.closed).toBe(false)
})

test('the answer to a request of nobody ends its connection, and so does one without a host or with an expectation', async () => {
  const { port, send } = await open()
  const refused = send('GET /')
  await untilClosed(refused.socket)
  expect(refused.answers()).toEqual([401])

  for (const [bytes, status] of [
    ['GET /a HTTP/1.1\r\n\r\n', 400],
    ['GET /a HTTP/1.1\r\nhost: x\r\nexpect: coffee\r\n\r\n', 417],
  ] as const) {
    const socket = connect(port, '127.0.0.1')
    let read = ''
    socket.on('data', (chunk) => {
      read += chunk
    })
    socket.write(bytes)
    await untilClosed(socket)
    expect(read).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*connection: close`, 'i'))
  }
})

test('a body of blank lines is read in few parts, and is the same, with the requests that follow it', async () => {
  const bodies: { parts: number; text: string }[] = []
  const server = createLimitedServer({
    named: { host: 'HOST', port: 'PORT' },
    mostConnections: 2,
    stopWithinMs: 100,
    handle({ request, response, trust }) {
      trust()
      const body = { parts: 0, text: '' }
      bodies.push(body)
      request.on('data', (chunk) => {
        body.parts += 1
        body.text += chunk
      })
      request.on('end', () => response.writeHead(200).end())
    },
  })
  const port = await server.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(server.stop)
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  const sent = ['\r\n\r\n'.repeat(15_000), 'x\r\n\r\nGET / HTTP/1.1\r\n\r\n', '', '\r\n\r\n'.repeat(300)]
  socket.write(sent.map((body) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`).join(''))

  await expect.poll(() => bodies.map(({ text }) => text)).toEqual(sent)
  expect(bodies.reduce((sum, { parts }) => sum + parts, 0)).toBeLessThan(200)
})

test('an idle connection of an owner stays open for longer than proxies reuse one', async () => {
  const { until } = await open()
  expect([await until('/a'), await until('/')]).toEqual(['timeout=620', null])
})

test('a new connection of an owner ends its oldest idle one, and none of another owner', async () => {
  const { send } = await open()
  const other = send('GET /b')
  const [first, second] = [send('GET /a'), send('GET /a')]
  for (const { answers } of [other, first, second]) await expect.poll(answers).toEqual([200])

  const third = send('GET /a')
  await expect.poll(third.answers).toEqual([200])

  await untilClosed(first.socket)
  expect([second, third, other].map(({ socket }) => socket.closed)).toEqual([false, false, false])
})

test('a POST under way is never cut: a wait ends, or else the new request is refused', async () => {
  const { send, waiting, answerAll } = await open()
  const post = send('POST /a/x')
  await expect.poll(() => waiting.length).toBe(1)
  const wait = send('GET /a/wait')
  await expect.poll(() => waiting.length).toBe(2)
  const next = send('POST /a/x')
  await untilClosed(wait.socket)
  expect(next.socket.closed).toBe(false)
  await expect.poll(() => waiting.length).toBe(3)

  const refused = send('GET /a')
  await untilClosed(refused.socket)

  expect(refused.answers()).toEqual([429])
  answerAll()
  await expect.poll(post.answers).toEqual([200])
  await expect.poll(next.answers).toEqual([200])
})

test('strangers have their own connections, of which a new one ends the oldest', async () => {
  const { port, send } = await open()
  const known = send('GET /a')
  await expect.poll(known.answers).toEqual([200])
  const strangers: Socket[] = []
  for (let count = 0; count < 5; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await new Promise((resolve) => socket.once('connect', resolve))
    strangers.push(socket)
  }

  for (const socket of strangers.slice(0, 3)) await untilClosed(socket.resume())
  expect([known.socket, ...strangers.slice(3)].map(({ closed }) => closed)).toEqual([false, false, false])
})
