import { writeSync } from 'node:fs'

/** The pause between attempts to write to a full pipe. */
const pauseMs = 10

/** How long a full pipe may block a write. After that the write fails, and the caller writes the line again later. */
const maxBlockedMs = 1_000

/**
 * Creates the function that writes lines of the audit. It returns after the whole line is written, so that a crash right after it loses
 * nothing. It throws if the line could not be written. `destination` is a file descriptor, by default standard output.
 */
export function createAuditLog({ destination = 1 }: { destination?: number } = {}) {
  /** Whether the previous write failed in the middle of a line. The next line then begins with a line break. */
  let isCutOff = false

  return function write(line: string): void {
    const bytes = Buffer.from(`${isCutOff ? '\n' : ''}${line}\n`)
    const deadline = performance.now() + maxBlockedMs
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(destination, bytes, written)
      } catch (error) {
        if (isPipeFull(error) && performance.now() < deadline) {
          pause()
          continue
        }
        isCutOff = isCutOff ? written !== 1 : written > 0
        throw error
      }
    }
    isCutOff = false
  }
}

/** Checks whether a write failed because the pipe is full. */
function isPipeFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
}
