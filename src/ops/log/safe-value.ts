import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/errors/api-errors.ts'
import { CheckFailed, StoreUnavailableError, UserError } from '../../domain/errors/errors.ts'
import { Secret } from '../../domain/signing/secret.ts'

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

/**
 * Returns the parts of a thrown value that may be logged: name, code, message, the safe fields of Lockkeeper's own errors, and the stack of
 * all others. Drops every other property, because the errors of libraries carry commands, bodies and headers, and with them passwords and
 * tokens.
 */
export function describeError(thrown: unknown, depth = 0): ErrorDescription {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: typeof thrown === 'string' ? thrown.slice(0, 200) : typeof thrown }
  const { code, operation, status, codes } = thrown as { code?: unknown; operation?: unknown; status?: unknown; codes?: unknown }
  const isOwn = ownErrors.some((type) => thrown instanceof type)
  const frames = isOwn ? [] : framesOf(thrown)
  return {
    name: thrown.name,
    // The sentences for people quote what they typed.
    ...(thrown instanceof UserError ? {} : { message: messageOf(thrown) }),
    ...(thrown instanceof CheckFailed ? { code: thrown.finding.code } : {}),
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

/** Returns only the frames of a stack, because its first line repeats the uncut message. */
function framesOf(error: Error): string[] {
  return (error.stack ?? '')
    .split('\n')
    .filter((frame) => /^\s+at /.test(frame))
    .slice(0, 8)
}

/** Converts any value for the log: describes errors, hides secrets, and replaces instances of other classes with the name of the class. */
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

/** Returns an address without user, password, path and query. Each can be a secret: in Slack's response addresses, the path is one. */
export function redactUrl(address: string | URL): string {
  const url = typeof address === 'string' ? URL.parse(address) : address
  return url === null ? '[not an address]' : `${url.protocol}//${url.host}${url.pathname.length > 1 ? '/…' : ''}`
}

/** Redacts Slack tokens and passwords in addresses. This is the last safeguard for secrets that other code missed. */
export function scrub(line: string): string {
  return line.replace(/\bx(?:ox[a-z]|app)-[\w-]+/g, '[redacted]').replace(/(:\/\/)[^\s/"'@]*@/g, '$1[redacted]@')
}
