import pino, { type DestinationStream } from 'pino'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import type { LogField } from './fields.ts'
import { safeValue, scrub } from './safe-value.ts'

type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** The fields of a line. docs/logs.md describes each. */
export type Fields = { [Name in LogField]?: unknown }

type Write<Needed> = (fields: Fields & Needed, text: string) => void

/** The log as the rest of the code sees it: only documented fields, and a code with each warning and error. */
export interface Log {
  debug: Write<unknown>
  info: Write<unknown>
  warn: Write<{ code: ErrorCode }>
  error: Write<{ code: ErrorCode }>
  fatal: Write<{ code: ErrorCode }>
}

/**
 * Creates the log, which writes JSON lines to standard output. Every field passes through `safeValue`. So no command, body, header or
 * secret is written, whatever its name and level.
 */
export function createLog({ level, destination = pino.destination(1) }: { level: LogLevel; destination?: DestinationStream }) {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, safeValue(value)])),
      },
      hooks: {
        // pino would print further arguments into the message as they are, so they are dropped. It would also print the whole message of a
        // bare error, so the error becomes a field.
        logMethod([first, message]: unknown[], method) {
          if (first instanceof Error) method.call(this, { error: first }, String(message ?? 'error'))
          else if (typeof first === 'string') method.call(this, first)
          else method.call(this, first, String(message ?? ''))
        },
      },
    },
    { write: (line: string) => void destination.write(scrub(line)) },
  )
}
