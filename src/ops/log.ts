import pino, { type DestinationStream } from 'pino'
import { safeValue, scrub } from './safe-value.ts'

export { describeError } from './safe-value.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/**
 * JSON lines on standard output. Whatever is handed to it goes through `safeValue`, so that no command, body, header or secret is
 * written, under any name and at any level.
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
        // Arguments after the message would be printed into it as they are, and the message of a bare error whole.
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
 * The log as Slack's libraries want it. Their debug lines print whole bodies, so those are dropped here, whatever the level; what
 * they pass along with a line is dropped too, but for plain text and what errors say.
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

/** Reports the first of a kind of trouble, and then one every few seconds: what is away is met with at every attempt. */
export function throttled<T>(report: (trouble: T) => void, quietMs = 5_000): (trouble: T) => void {
  let quietUntil = 0
  return (trouble) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    report(trouble)
  }
}
