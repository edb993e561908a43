import { ApiContractError, ApiError, ApiUnreachableError, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { Secret } from '../domain/secret.ts'

export interface ErrorDescription {
  name: string
  message: string
  code?: string
  operation?: string
  status?: number
  codes?: string[]
  stack?: string
  cause?: ErrorDescription
}

/** Errors of ours that say where they come from by themselves. */
const expected = [UserError, ApiError, ApiContractError, ApiUnreachableError, StoreUnavailableError]

/**
 * What may be written of something that was thrown: name, code, message, the safe fields of our own errors, and the stack of what
 * nobody expected. Nothing else that hangs on it: other libraries' errors carry commands, bodies and headers, so passwords and tokens.
 */
export function describeError(thrown: unknown, depth = 0): ErrorDescription {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: typeof thrown === 'string' ? thrown.slice(0, 200) : typeof thrown }
  const { code, operation, status, codes } = thrown as { code?: unknown; operation?: unknown; status?: unknown; codes?: unknown }
  const ours = expected.some((type) => thrown instanceof type)
  const frames = ours ? [] : framesOf(thrown)
  return {
    name: thrown.name,
    message: messageOf(thrown),
    ...(typeof code === 'string' ? { code: code.slice(0, 60) } : {}),
    ...(ours && typeof operation === 'string' ? { operation } : {}),
    ...(ours && typeof status === 'number' ? { status } : {}),
    ...(ours && Array.isArray(codes) ? { codes: codes.map(String) } : {}),
    ...(frames.length > 0 ? { stack: frames.join('\n') } : {}),
    ...(thrown.cause instanceof Error && depth < 2 ? { cause: describeError(thrown.cause, depth + 1) } : {}),
  }
}

/** Some libraries put what was sent or answered into the message itself. */
function messageOf(error: Error): string {
  // JSON.parse quotes the text around the fault.
  if (error instanceof SyntaxError) return 'not valid JSON or code'
  return (
    error.message
      // Redis quotes the arguments of a command that it does not know.
      .replace(/,? with args beginning with:.*/s, '')
      // Slack's client takes a whole answer that is not JSON for the error's name.
      .replace(/^(An API error occurred: )(?![a-z_]{1,80}$).*/s, '$1(not a name)')
      .slice(0, 200)
  )
}

/** The first line of a stack repeats the message whole, so only the frames are taken. */
function framesOf(error: Error): string[] {
  return (error.stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
    .slice(0, 8)
}

/** Anything, as it may be written to a log: errors described, secrets hidden, objects of classes by their name alone. */
export function safeValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return describeError(value)
  if (value instanceof Secret) return String(value)
  if (value instanceof URL) return redactUrl(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (depth > 4) return '[deeper]'
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => safeValue(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return `[${value.constructor.name}]`
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, safeValue(part, depth + 1)]))
}

/** An address without user, password, query and path: each of them can be a key, and in Slack's response addresses the path is one. */
export function redactUrl(address: string | URL): string {
  const url = typeof address === 'string' ? URL.parse(address) : address
  return url === null ? '[not an address]' : `${url.protocol}//${url.host}${url.pathname.length > 1 ? '/…' : ''}`
}

/** A last net under everything else: what looks like one of Slack's tokens, or like a password in an address, whatever brought it there. */
export function scrub(line: string): string {
  return line.replace(/\bx(?:ox[a-z]|app)-[\w-]+/g, '[redacted]').replace(/(:\/\/)[^\s/"'@]*@/g, '$1[redacted]@')
}
