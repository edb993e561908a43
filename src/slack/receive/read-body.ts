import type { IncomingMessage } from 'node:http'

/** The most bytes that all bodies may hold which have not arrived whole. */
export const maxOpenBytes = 32 * 1_048_576

export type BodyReading = { is: 'read'; body: Buffer } | { is: 'too-large' } | { is: 'not-sent' }

interface OpenBody {
  /** Has room for more than has arrived. */
  buffer: Buffer
  end: (reading: BodyReading) => void
}

/**
 * Creates the function that reads bodies. Bolt's own reader keeps each chunk as it arrived. A chunk of one byte then keeps the 64 kB that were
 * read with it, so the memory that is held cannot be counted. Here every body is copied into one buffer that grows.
 */
export function createBodyReader({ maxBytes, maxOpen = maxOpenBytes }: { maxBytes: number; maxOpen?: number }) {
  /** In the order in which they began. */
  const open = new Map<IncomingMessage, OpenBody>()
  let held = 0

  function makeRoom(body: OpenBody, needed: number): void {
    const { buffer } = body
    if (needed <= buffer.length) return
    body.buffer = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(needed, 2 * buffer.length, 4_096)))
    buffer.copy(body.buffer)
    held += body.buffer.length - buffer.length
  }

  /** Drops the oldest bodies until the rest fits. Slack sends a request at once, so the oldest is hardly ever one of Slack's. */
  function dropOldest(): void {
    for (const [request, body] of open) {
      if (held <= maxOpen) return
      body.end({ is: 'not-sent' })
      request.destroy()
    }
  }

  /** Reads a whole body. `too-large`: it has more than `maxBytes`. `not-sent`: it was cut off, or dropped because others needed the room. */
  return function readBody(request: IncomingMessage): Promise<BodyReading> {
    return new Promise((resolve) => {
      let length = 0
      const body: OpenBody = { buffer: Buffer.alloc(0), end }
      open.set(request, body)

      function end(reading: BodyReading): void {
        if (!open.delete(request)) return
        held -= body.buffer.length
        resolve(reading)
      }

      request.on('data', (chunk: Buffer) => {
        // What follows a body that is too large is discarded, so that the sender gets to read the answer.
        if (!open.has(request)) return
        if (length + chunk.length > maxBytes) return end({ is: 'too-large' })
        makeRoom(body, length + chunk.length)
        length += chunk.copy(body.buffer, length)
        dropOldest()
      })
      request.on('end', () => end({ is: 'read', body: body.buffer.subarray(0, length) }))
      request.on('error', () => end({ is: 'not-sent' }))
      request.on('close', () => end({ is: 'not-sent' }))
    })
  }
}
