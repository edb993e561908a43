import { isCertificateError } from '../../domain/errors/certificate-error.ts'

/** Error codes that occur only before a connection exists, so no part of the request was sent. */
const beforeConnection = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_INVALID_ARG',
])
const connecting = new Set(['connect', 'getaddrinfo'])

/**
 * Returns `no` if a transport error proves that the request was not sent, and `unknown` otherwise. A reused connection that closes looks
 * the same whether or not the server had already read the request.
 */
export function wasRequestSent(error: unknown): 'no' | 'unknown' {
  const errors = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error]
  return errors.every(isBeforeConnection) ? 'no' : 'unknown'
}

/** Returns only the code of a transport error (`ECONNRESET`), because its message may quote what was sent or received. */
export function codeOf(error: unknown): string {
  const code = property(error, 'code')
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'transport error'
}

function isBeforeConnection(error: unknown): boolean {
  const code = codeOf(error)
  // A certificate is rejected in the TLS handshake, before the request is sent.
  return beforeConnection.has(code) || isCertificateError(code) || connecting.has(String(property(error, 'syscall')))
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined
}
