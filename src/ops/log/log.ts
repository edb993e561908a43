import pino, { type DestinationStream } from 'pino'
import { type ErrorCode, errorCodes } from '../../domain/error-code.ts'
import type { LogField } from './fields.ts'
import { safeValue, scrub } from './safe-value.ts'

export { describeError } from './safe-value.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** The fields of a line. docs/logs.md describes each. */
type Fields = { [Name in LogField]?: unknown }

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

/**
 * Creates a logger for Slack's libraries. It drops their debug lines at every level, because those contain whole bodies. Of all other lines
 * it keeps the texts, the errors and Lockkeeper's own code, and drops everything else that is passed along.
 */
export function slackLogger(log: Log) {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (...parts: unknown[]) => {
      const texts = parts.filter((part) => typeof part === 'string').map((part) => part.slice(0, 300))
      const error = parts.find((part) => part instanceof Error)
      const own = parts.map(codeOf).find((code) => code !== undefined)
      const fields = { from: 'slack', ...(error ? { error } : {}) }
      if (level === 'info') log.info(fields, texts.join(' '))
      else log[level]({ code: own ?? 'slack-library', ...fields }, texts.join(' '))
    }
  return {
    debug: () => undefined,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    setLevel: () => undefined,
    getLevel: () => 'info',
    setName: () => undefined,
  }
}

/** Returns the code that Lockkeeper's own lines in the log of Slack's libraries carry. */
function codeOf(part: unknown): ErrorCode | undefined {
  const code = typeof part === 'object' && part !== null && 'code' in part ? part.code : undefined
  return errorCodes.find((known) => known === code)
}

/** Passes on the first call, then one per `quietMs` (milliseconds). While a service is away, every attempt reports the same error. */
export function throttled<T>(report: (subject: T) => void, quietMs = 5_000): (subject: T) => void {
  let quietUntil = 0
  return (subject) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    report(subject)
  }
}
