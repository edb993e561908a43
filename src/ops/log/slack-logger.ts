import { type ErrorCode, errorCodes } from '../../domain/errors/error-code.ts'
import { withoutNumbers } from './likeness.ts'
import type { Log } from './log.ts'
import type { RepeatedLines } from './repeated-lines.ts'

/**
 * Creates a logger for Slack's libraries. It drops their debug lines at every level, because those contain whole bodies. Of all other lines
 * it keeps the texts, the errors and Lockkeeper's own code, and drops everything else that is passed along. While Slack is away, they repeat
 * theirs at every attempt to connect; Lockkeeper's own lines in this log count their repeats themselves.
 */
export function slackLogger(log: Pick<Log, 'info' | 'warn' | 'error'>, lines: Pick<RepeatedLines, 'write'>) {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (...parts: unknown[]) => {
      const texts = parts.filter((part) => typeof part === 'string').map((part) => part.slice(0, 300))
      const error = parts.find((part) => part instanceof Error)
      const own = parts.map(codeOf).find((code) => code !== undefined)
      const fields = { from: 'slack', ...(error ? { error } : {}) }
      const text = texts.join(' ')
      if (level === 'info') log.info(fields, text)
      else if (own) log[level]({ code: own, ...fields }, text)
      else lines.write({ level, fields: { code: 'slack-library', ...fields }, text, about: withoutNumbers(text) })
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
