import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { createRepeats } from '../../domain/repeats.ts'
import type { Fields, Log } from './log.ts'

interface RepeatedLine {
  fields: Fields & { code: ErrorCode }
  text: string
  /** Lines with the same code about the same subject are repeats of each other. */
  about?: string
  level?: 'warn' | 'error'
  /** The text of the line that says that it is over. */
  over?: string
  /** Called whenever the line is written. */
  onWritten?: () => void
}

/** The lines of the log that can recur at every attempt while a service is away. */
export interface RepeatedLines {
  /** Writes the line if it is new, and later once a minute with the number of its repeats. */
  write: (line: RepeatedLine) => void
  /** Writes that this is over, for a caller who knows. Without a call it is over after a minute without a repeat. */
  end: (code: ErrorCode, about?: string) => void
  /** Writes the repeats that no line has counted yet. */
  flush: () => void
}

/** Creates the lines that are written at most once a minute. No error is swallowed: the next line has the number of its repeats. */
export function createRepeatedLines(log: Pick<Log, 'info' | 'warn' | 'error'>, options: { everyMs?: number } = {}): RepeatedLines {
  const repeats = createRepeats(options)

  function write({ fields, text, about = '', level = 'warn', over = 'This has not happened again', onWritten }: RepeatedLine): void {
    const { code } = fields
    repeats.note(nameOf(code, about), {
      report(count, lastAt) {
        // This line comes up to a minute after the last repeat, when the error may be over.
        log[level]({ ...fields, ...(count > 0 ? { repeats: count, lastAt: new Date(lastAt).toISOString() } : {}) }, text)
        onWritten?.()
      },
      reportEnd: (count, afterMs) => log.info({ code, repeats: count, afterMs }, over),
    })
  }

  return { write, end: (code, about = '') => repeats.end(nameOf(code, about)), flush: repeats.flush }
}

function nameOf(code: ErrorCode, about: string): string {
  return `${code} ${about}`
}
