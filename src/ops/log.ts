import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import pino from 'pino'
import { prettyFactory } from 'pino-pretty'
import { type ErrorCode, errors } from '../domain/codes.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  isRefusal,
  StoreUnavailableError,
  UserError,
} from '../domain/errors.ts'
import { currentRequest } from '../domain/lane.ts'
import { Secret } from '../domain/signing.ts'
import { cleanText } from '../domain/text.ts'
import type { Fields } from './fields.ts'
import type { Place } from './metrics.ts'

interface ErrorDescription {
  name: string
  message?: string
  code?: string
  operation?: string
  status?: number
  codes?: string[]
  stack?: string
  cause?: ErrorDescription
}

/** Lockkeeper's own errors. Their messages say where they occurred, so they need no stack. */
const ownErrors = [UserError, ApiError, ApiContractError, ApiUnreachableError, StoreUnavailableError]

/** What may be logged. Drops other properties: errors of libraries carry commands, bodies and headers, and with them secrets. */
export function describeError(thrown: unknown, depth = 0): ErrorDescription {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: typeof thrown === 'string' ? thrown.slice(0, 200) : typeof thrown }
  const { code, operation, status, codes } = thrown as { code?: unknown; operation?: unknown; status?: unknown; codes?: unknown }
  const isOwn = ownErrors.some((type) => thrown instanceof type)
  const frames = isOwn ? [] : framesOf(thrown)
  return {
    name: thrown.name,
    // The sentences for people quote what they typed.
    ...(thrown instanceof UserError ? {} : { message: messageOf(thrown) }),
    ...(typeof code === 'string' ? { code: code.slice(0, 60) } : {}),
    ...(isOwn && typeof operation === 'string' ? { operation } : {}),
    ...(isOwn && typeof status === 'number' ? { status } : {}),
    ...(isOwn && Array.isArray(codes) ? { codes: codes.map(String) } : {}),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(thrown.cause instanceof Error && depth < 2 ? { cause: describeError(thrown.cause, depth + 1) } : {}),
  }
}

/** Removes what was sent or received, which some libraries put into the message. */
function messageOf(error: Error): string {
  // JSON.parse quotes the text around the error.
  if (error instanceof SyntaxError) return 'not valid JSON or code'
  return (
    error.message
      // Redis quotes the arguments of an unknown command.
      .replace(/,? with args beginning with:.*/s, '')
      // Slack's client uses a whole answer as the name of the error if the answer is not JSON.
      .replace(/^(An API error occurred: )(?![a-z_]{1,80}$).*/s, '$1(not a name)')
      .slice(0, 200)
  )
}

/** Without the first line of the stack, which repeats the uncut message. */
function framesOf(error: Error): string[] {
  return (error.stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
    .slice(0, 8)
}

/** Describes errors and hides secrets. No field needs another object, and its members could be anything. */
function safeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return describeError(value)
  if (value instanceof Secret) return String(value)
  return Array.isArray(value) ? value.map(safeValue) : '[object]'
}

/** Redacts Slack tokens and passwords in addresses. This is the last safeguard for secrets that other code missed. */
export function scrub(line: string): string {
  return line.replace(/\bx(?:ox[a-z]|app)-[\w-]+/g, '[redacted]').replace(/(:\/\/)[^\s/"'@]*@/g, '$1[redacted]@')
}

/** Errors of a connection, by the code of Node or the words of ioredis and BullMQ. */
const ofConnection =
  /\b(ECONN(REFUSED|RESET|ABORTED)|E(TIMEDOUT|PIPE|AI_AGAIN|NOTFOUND|HOSTUNREACH|NETUNREACH))\b|Connection is closed|Connection closed|Command aborted|isn't writeable|timed out|Socket timeout|max retries per request|enableOfflineQueue|\b(LOADING|READONLY|MASTERDOWN|UNBLOCKED|CLUSTERDOWN|NOREPLICAS)\b/i

/** An outage of Redis shows in many words. Other errors are alike if they differ at most in numbers and ids. */
export function likenessOf(error: unknown): string {
  const { name, message = '', code = '', operation = '', status = '', codes = [] } = describeError(error)
  const isAway = (error instanceof StoreUnavailableError && code === '') || ofConnection.test(`${code} ${message}`)
  if (isAway && operation === '') return 'no connection'
  return [name, code, operation, status, ...codes, withoutNumbers(message)].join(' ')
}

function withoutNumbers(text: string): string {
  return text.replace(/[0-9a-f-]{8,}|\d+/gi, '#')
}

type Write<Needed> = (fields: Fields & Needed, text: string) => void

export interface Log {
  debug: Write<unknown>
  info: Write<unknown>
  warn: Write<{ code: ErrorCode }>
  error: Write<{ code: ErrorCode }>
  fatal: Write<{ code: ErrorCode }>
}

interface LogParts {
  level: pino.Level
  destination?: DestinationStream
  isTerminal?: boolean
}

const warnLevel = 40

/** JSON lines on standard output, and text on a terminal. pino would print a bare error as it is, which `Log` does not take. Every field passes through `safeValue`: no command, body, header or secret is written. */
export function createLog({ level, destination = pino.destination(1), isTerminal = process.stdout.isTTY }: LogParts): Log {
  const pretty = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss', singleLine: true, messageFormat, ignore: 'error' })
  const shown = isTerminal ? (line: string) => pretty(withoutControl(line)) : String
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: (fields: { code?: unknown }, level): object =>
        level >= warnLevel && isErrorCode(fields.code) ? { fix: errors[fields.code].do } : {},
      mixinMergeStrategy: (fields, more) => ({ ...fields, ...more }),
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, safeValue(value)])),
      },
    },
    { write: (line: string) => void destination.write(shown(scrub(line))) },
  )
}

/** The words of the account, of Redis or of Slack in an error could be commands for a terminal. */
function withoutControl(line: string): Record<string, unknown> {
  return JSON.parse(line, (name, value) => (typeof value === 'string' ? cleanText(value, { oneLine: name !== 'stack' }) : value))
}

/** Without the emoji of a Slack message. The stack of an error only helps if it ended the process. */
function messageFormat({ error, level, ...fields }: Record<string, unknown>, messageKey: string): string {
  const { name, message, stack } = Object(error)
  const why = error ? `: ${[name, message].filter(Boolean).join(': ')}${level === 'fatal' && stack ? `\n${stack}` : ''}` : ''
  return `${String(fields[messageKey]).replace(/^:\w+: /, '')}${why}`
}

type RepeatedLine = {
  text: string
  /** Lines with the same code about the same subject are repeats of each other. */
  about?: string
} & ({ fields: Fields & { code: ErrorCode }; level?: 'info' | 'warn' | 'error' } | { fields: Fields & { code: string }; level: 'info' })

/** Within this time, a line about the same is a repeat. */
const quietMs = 60_000

/** The name of a subject may come from outside, so memory has a limit. */
const mostSubjects = 1_000

/** Lines that can recur at every attempt are written at most once a minute. The next line has the number of those that were left out. */
export function createRepeatedLines(log: Pick<Log, 'info' | 'warn' | 'error'>) {
  const subjects = new Map<string, { firstAt: number; writtenAt: number; repeats: number }>()
  const nameOf = (code: string, about: string) => `${code} ${about}`

  /** Returns false for a repeat, which was not written. */
  function write({ fields, text, about = '', level = 'warn' }: RepeatedLine): boolean {
    const name = nameOf(fields.code, about)
    const now = Date.now()
    const before = subjects.get(name)
    if (before && Math.abs(now - before.writtenAt) < quietMs) {
      before.repeats += 1
      return false
    }
    if (subjects.size >= mostSubjects) subjects.clear()
    subjects.set(name, { firstAt: before?.firstAt ?? now, writtenAt: now, repeats: 0 })
    const written = log as Record<typeof level, Write<{ code: string }>>
    written[level](before?.repeats ? { ...fields, repeats: before.repeats } : fields, text)
    return true
  }

  /** Writes that this is over, for a caller who knows. */
  function end(code: ErrorCode, over: string, about = ''): void {
    const ended = subjects.get(nameOf(code, about))
    subjects.delete(nameOf(code, about))
    if (ended) log.info({ code, repeats: ended.repeats, afterMs: Date.now() - ended.firstAt }, over)
  }

  return { write, end }
}
export type RepeatedLines = ReturnType<typeof createRepeatedLines>

/** How long a full pipe may block a write. After that the write fails, and the caller writes the line again later. */
const maxBlockedMs = 1_000

/** Returns after the whole line is written, so that a crash right after it loses nothing. Throws if it could not be written. */
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
        const isPipeFull = error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
        if (isPipeFull && performance.now() < deadline) {
          // Waits 10 ms.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
          continue
        }
        isCutOff = isCutOff ? written !== 1 : written > 0
        throw error
      }
    }
    isCutOff = false
  }
}

/** `kind` has the form of Slack's types and `members` are names from our own schemas, so both may be logged. */
export interface LoggedPayload {
  kind: string
  why: 'no-listener' | 'unreadable' | 'listener-failed'
  members?: string[]
}

/** `at`: the command, button, form or tool. */
export interface Shown {
  at: string
  userId?: string | undefined
  reference?: string | undefined
}

/** Each error is counted, even if the log has one line for many. */
export function createErrorReports(
  log: Pick<Log, 'debug' | 'info' | 'warn'>,
  lines: Pick<RepeatedLines, 'write'>,
  count: (place: Place) => void,
) {
  return {
    of:
      (place: keyof typeof atPlace) =>
      (error: unknown, requestId = currentRequest()): void => {
        if (error instanceof AccountLimitError) return void log.debug({ error, requestId }, "Work waits for the account's limit")
        count(place)
        const { code, text } = atPlace[place]
        lines.write({ level: 'error', fields: { code, error, requestId }, text, about: likenessOf(error) })
      },
    unhandled({ kind, why, members }: LoggedPayload): void {
      if (why !== 'no-listener') count('slack')
      const { code, text } = unhandled[why]
      lines.write({ fields: { code, kind, ...(members ? { members } : {}) }, text, about: [kind, ...(members ?? [])].join() })
    },
    /** Logs an error that was shown to a person. A refusal is not counted as an error. */
    shownToPerson(error: unknown, shown: Shown): void {
      const context = { ...shown, requestId: currentRequest() }
      if (!isRefusal(error)) count('people')
      // The account's limit is no fault, and metrics count it.
      const code = error instanceof UserError ? error.code : error instanceof AccountLimitError ? 'account-limit' : undefined
      if (code === undefined) return void log.warn({ code: 'error-shown', ...context, error }, 'An error was shown to a person')
      // Nobody fills the log by repeating it.
      const about = [shown.userId, shown.at, context.requestId].join(' ')
      lines.write({ level: 'info', fields: { code, ...context }, text: 'refused', about })
    },
  }
}
export type ErrorReports = ReturnType<typeof createErrorReports>

/** Errors of the other places have lines of their own. */
const atPlace: Record<Exclude<Place, 'operators' | 'account-api'>, { code: ErrorCode; text: string }> = {
  jobs: { code: 'job-failed', text: 'Work in the background failed. It is tried again' },
  queue: { code: 'queue-failed', text: 'The queue of jobs failed. A tick does the work instead' },
  audit: { code: 'audit-failed', text: 'A note of the audit could not be written yet. It is tried again' },
  people: { code: 'answer-failed', text: 'An answer to a person could not be sent, or something failed after it' },
  slack: { code: 'slack-listener-failed', text: 'A command, click or form failed before its listener answered' },
  alerts: { code: 'alerts-failed', text: 'An alert could not be handled. Its sender gets 503 and sends it again' },
}

const unhandled: Record<LoggedPayload['why'], { code: ErrorCode; text: string }> = {
  'no-listener': { code: 'payload-not-handled', text: 'Acknowledged a Slack payload that Lockkeeper does not handle' },
  unreadable: {
    code: 'payload-unreadable',
    text: 'Acknowledged a Slack payload that could not be read. The person gets an answer where possible',
  },
  'listener-failed': { code: 'slack-listener-failed', text: 'A listener failed before it acknowledged a Slack payload' },
}

/** For Slack's libraries, whose debug lines have whole bodies. Keeps texts and errors of all other lines. */
export function slackLogger(log: Pick<Log, 'info' | 'warn' | 'error'>, lines: Pick<RepeatedLines, 'write'>) {
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (...parts: unknown[]) => {
      const texts = parts.filter((part) => typeof part === 'string').map((part) => part.slice(0, 300))
      const error = parts.find((part) => part instanceof Error)
      const fields = { from: 'slack', ...(error ? { error } : {}) }
      const text = texts.join(' ')
      if (level === 'info') log.info(fields, text)
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

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errors, code)
}
