import { writeSync } from 'node:fs'

const pauseMs = 10

/** A pipe that nobody empties for so long is given up: what is not written now is written later. */
const patienceMs = 1_000

/**
 * Writes the audit's lines, each whole and before it returns, so that a crash right after loses nothing. `destination` is a file
 * descriptor; standard output unless told. Throws where the line could not be written.
 */
export function createAuditLog({ destination = 1 }: { destination?: number } = {}) {
  /** The line before was given up in the middle. */
  let isTorn = false

  return function write(line: string): void {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`)
    const giveUpAt = performance.now() + patienceMs
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(destination, bytes, written)
      } catch (error) {
        if (isFull(error) && performance.now() < giveUpAt) {
          pause()
          continue
        }
        isTorn = isTorn ? written !== 1 : written > 0
        throw error
      }
    }
    isTorn = false
  }
}

/** A pipe takes no more just now. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
}
