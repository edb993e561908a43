import pino, { type DestinationStream } from 'pino'
import { safeValue, scrub } from './safe-value.ts'

export { describeError } from './safe-value.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

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
export type Log = ReturnType<typeof createLog>

/**
 * Creates a logger for Slack's libraries. It drops their debug lines at every level, because those contain whole bodies. Of all other lines
 * it keeps the texts and the errors, and drops everything else that is passed along.
 */
export function slackLogger(log: Log) {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (...parts: unknown[]) => {
      const texts = parts.filter((part) => typeof part === 'string').map((part) => part.slice(0, 300))
      const error = parts.find((part) => part instanceof Error)
      log[level]({ from: 'slack', ...(error ? { error } : {}) }, texts.join(' '))
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

/** Passes on the first call, then one per `quietMs` (milliseconds). While a service is away, every attempt reports the same error. */
export function throttled<T>(report: (subject: T) => void, quietMs = 5_000): (subject: T) => void {
  let quietUntil = 0
  return (subject) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    report(subject)
  }
}
