/** Codes that can only come before a connection exists, so nothing of the request was sent. */
const beforeConnection = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_INVALID_ARG',
])
/** The certificate did not convince: the handshake ends before the request. */
const certificate = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const connecting = new Set(['connect', 'getaddrinfo'])

/**
 * Whether a transport error proves that the request never left. A reused connection that closes looks the same whether or not the
 * other side had read the request, so everything that is not certain is `unknown`.
 */
export function wasRequestSent(error: unknown): 'no' | 'unknown' {
  const errors = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error]
  return errors.every(isBeforeConnection) ? 'no' : 'unknown'
}

/** The code alone (`ECONNRESET`): messages of transport errors may quote what was sent or received. */
export function codeOf(error: unknown): string {
  const code = property(error, 'code')
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : 'transport error'
}

function isBeforeConnection(error: unknown): boolean {
  const code = codeOf(error)
  return beforeConnection.has(code) || certificate.test(code) || connecting.has(String(property(error, 'syscall')))
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined
}
