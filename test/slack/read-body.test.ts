import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createBodyReader } from '../../src/slack/http-receiver.ts'

/** Stands for a request: only its stream and its headers are read. */
function startRequest(headers: IncomingMessage['headers'] = {}): IncomingMessage & PassThrough {
  return Object.assign(new PassThrough(), { headers }) as unknown as IncomingMessage & PassThrough
}

const text = (length: number) => 'abcdefghij'.repeat(length / 10)
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a body is read whole, whatever the pieces that it comes in', async () => {
  const readBody = createBodyReader({ maxBytes: 40_000 })
  const request = startRequest()
  const reading = readBody(request)

  const whole = text(40_000)
  const cuts = [0, 1, 2, 4_098, 16_384, 16_385, 39_000, 40_000]
  for (const [index, from] of cuts.entries()) request.write(whole.slice(from, cuts[index + 1]))
  request.end()

  expect(await reading).toEqual({ is: 'read', body: Buffer.from(whole) })
})

test('a body in one piece is read before its end is noticed', async () => {
  const request = startRequest({ 'content-length': '100' })
  const reading = createBodyReader({ maxBytes: 1_000 })(request)

  request.write(text(100))

  expect(await reading).toEqual({ is: 'read', body: Buffer.from(text(100)) })
})

test('a body that grows past the limit is refused, and the rest of it is discarded', async () => {
  const readBody = createBodyReader({ maxBytes: 1_000 })
  const request = startRequest()
  const reading = readBody(request)

  request.write(text(990))
  request.write(text(20))
  request.write(text(900_000))

  expect(await reading).toEqual({ is: 'too-large' })
  await turn()
  expect(request.readableLength).toBe(0)
})

test('where half-sent bodies hold too much, the oldest are dropped, and a new one is read', async () => {
  const readBody = createBodyReader({ maxBytes: 100_000, maxOpen: 500_000 })
  const halfSent = Array.from({ length: 8 }, () => {
    const request = startRequest()
    const reading = readBody(request)
    request.write(text(90_000))
    return { request, reading }
  })
  await turn()
  const latest = startRequest()
  const reading = readBody(latest)
  latest.end(text(90_000))

  expect(await reading).toEqual({ is: 'read', body: Buffer.from(text(90_000)) })
  const dropped = halfSent.map(({ request }) => request.destroyed)
  expect(dropped).toEqual([true, true, true, true, false, false, false, false])
  expect(await Promise.all(halfSent.slice(0, 4).map((one) => one.reading))).toEqual(Array(4).fill({ is: 'not-sent' }))
})

test('bodies that have ended hold nothing: thousands in turn drop nothing', async () => {
  const readBody = createBodyReader({ maxBytes: 100_000, maxOpen: 200_000 })

  for (let count = 0; count < 2_000; count += 1) {
    const request = startRequest()
    const reading = readBody(request)
    if (count % 3 === 0) request.destroy()
    else request.end(text(count % 3 === 1 ? 50_000 : 100_010))
    expect((await reading).is).toBe((['not-sent', 'read', 'too-large'] as const)[count % 3])
  }
})
