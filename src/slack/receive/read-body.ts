import type { IncomingMessage } from 'node:http'

/** The most bytes that all unfinished bodies together may hold. */
const maxOpenBytes = 32 * 1_048_576

type BodyReading = { is: 'read'; body: Buffer } | { is: 'too-large' } | { is: 'not-sent' }

/** Bodies are kept in blocks of this size. Most of Slack's requests fit into one. */
const blockBytes = 16_384

interface OpenBody {
  /** All blocks but the last one are full. */
  blocks: Buffer[]
  end: (reading: BodyReading) => void
}

/**
 * Creates the function that reads bodies. Bolt's own reader keeps each chunk as it arrived. A body in chunks of one byte then takes a hundred
 * times its size, and the bytes that it holds say little. Here all chunks are copied into blocks.
 */
export function createBodyReader({ maxBytes, maxOpen = maxOpenBytes }: { maxBytes: number; maxOpen?: number }) {
  /** In the order in which they began. */
  const open = new Map<IncomingMessage, OpenBody>()
  let held = 0

  /** Appends a chunk to a body that has `length` bytes. */
  function append({ blocks }: OpenBody, length: number, chunk: Buffer): void {
    for (let copied = 0; copied < chunk.length; ) {
      const at = (length + copied) % blockBytes
      if (at === 0) {
        blocks.push(Buffer.allocUnsafeSlow(blockBytes))
        held += blockBytes
      }
      copied += chunk.copy(blocks[blocks.length - 1] as Buffer, at, copied)
    }
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
      const body: OpenBody = { blocks: [], end }
      open.set(request, body)

      function end(reading: BodyReading): void {
        if (!open.delete(request)) return
        held -= body.blocks.length * blockBytes
        body.blocks = []
        resolve(reading)
      }

      request.on('data', (chunk: Buffer) => {
        // The rest of a body that is too large is discarded, so that the sender can read the answer.
        if (!open.has(request)) return
        if (length + chunk.length > maxBytes) return end({ is: 'too-large' })
        // Most bodies come in one chunk, which is not copied.
        if (chunk.length === Number(request.headers['content-length'])) return end({ is: 'read', body: chunk })
        append(body, length, chunk)
        length += chunk.length
        dropOldest()
      })
      request.on('end', () => end({ is: 'read', body: Buffer.concat(body.blocks, length) }))
      request.on('error', () => end({ is: 'not-sent' }))
      request.on('close', () => end({ is: 'not-sent' }))
    })
  }
}
