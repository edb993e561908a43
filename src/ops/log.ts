import pino, { type DestinationStream } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/**
 * JSON lines on standard output. Errors are written by name, code, message and stack, and by nothing else that hangs on them: other
 * libraries' errors carry commands, bodies and headers, and so passwords and tokens.
 */
export function createLog({ level, destination }: { level: LogLevel; destination?: DestinationStream }) {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
  }
  return destination ? pino(options, destination) : pino(options)
}
export type Log = ReturnType<typeof createLog>

export interface ErrorDescription {
  name: string
  message: string
  code?: string
  stack?: string
}

/** What may be written of an error. Stacks are cut off their first line, which repeats the message whole. */
export function describeError(thrown: unknown): ErrorDescription {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: typeof thrown === 'string' ? thrown.slice(0, 200) : typeof thrown }
  const code = (thrown as { code?: unknown }).code
  const frames = (thrown.stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
    .slice(0, 8)
  return {
    name: thrown.name,
    message: thrown.message.slice(0, 200),
    ...(typeof code === 'string' ? { code: code.slice(0, 60) } : {}),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
  }
}

/**
 * The log as Slack's libraries want it. Their debug lines print whole bodies, so those are dropped here, whatever the level; what
 * they pass along with a line is dropped too, but for plain text.
 */
export function slackLogger(log: Log) {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (first: unknown, ...rest: unknown[]) => {
      const texts = [first, ...rest].map((part) =>
        part instanceof Error ? `${part.name}: ${part.message.slice(0, 200)}` : typeof part === 'string' ? part.slice(0, 300) : '',
      )
      log[level]({ from: 'slack' }, texts.filter((text) => text !== '').join(' '))
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
