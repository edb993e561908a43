import type { IncomingMessage } from 'node:http'

export const endpoint = '/slack/events'

/** The most bytes of one body. A click carries the whole message, so bodies of some 100 kB are usual. */
export const maxBodyBytes = 1_048_576

/** The media type of commands and interactions. Slack sends it without parameters, and Bolt accepts no others. */
const formType = 'application/x-www-form-urlencoded'

/** How far the time stamp of a request may be off, in either direction (docs.slack.dev, "Verifying requests from Slack"). */
const maxOffSeconds = 300

/** The longest body of Slack's certificate check: `ssl_check=1&token=…`. It is the one request that Slack does not sign. */
const maxCertificateCheckBytes = 200

export type RefusalReason = 'no signature' | 'time stamp off' | 'wrong signature' | 'too large' | 'wrong content' | 'not sent in time'

interface UnreadRefusal {
  status: 401 | 404 | 413 | 415
  /** Undefined for another path or method. Probes and scanners send these requests, which need no action. */
  reason: RefusalReason | undefined
}

/** Node discards a body of this size after the answer. That takes memory for a moment, so the connection of a longer one is ended instead. */
const maxDiscardedBytes = 65_536

/**
 * Refuses by the request line and the headers what Bolt would refuse after it has read the body. An unsigned request then costs no memory.
 * Bolt's check of signatures accepts time stamps of the future, so a replay could be kept for later; this refuses them.
 */
export function refusalOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, nowMs: number): UnreadRefusal | undefined {
  const { method, url = '', headers } = request
  if (method !== 'POST' || !isForEndpoint(url)) return { status: 404, reason: undefined }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) return { status: 413, reason: 'too large' }
  if (!isForm(headers) && !/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) return { status: 415, reason: 'wrong content' }
  if (mayBeCertificateCheck(headers)) return undefined
  const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = headers
  if (!signature || !timestamp) return { status: 401, reason: 'no signature' }
  return isRecent(String(timestamp), nowMs) ? undefined : { status: 401, reason: 'time stamp off' }
}

function isForEndpoint(url: string): boolean {
  return url === endpoint || URL.parse(url, 'http://localhost')?.pathname === endpoint
}

/** Whether the connection of a refused request has to be ended, because its body is long. */
export function mustEnd({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
  return length > maxDiscardedBytes
}

export function isForm(headers: IncomingMessage['headers']): boolean {
  return headers['content-type'] === formType
}

/** Whether an unsigned request may be a certificate check. Its body is short, so it is read. */
export function mayBeCertificateCheck(headers: IncomingMessage['headers']): boolean {
  const { 'content-length': length, 'x-slack-signature': signature } = headers
  return !signature && isForm(headers) && length !== undefined && Number(length) <= maxCertificateCheckBytes
}

/** Whether a body is that of a certificate check. Slack expects 200 and no more (docs.slack.dev, "Implementing slash commands"). */
export function isCertificateCheck(body: string): boolean {
  return new URLSearchParams(body).get('ssl_check') === '1'
}

/** `timestamp` is in seconds since 1970. */
function isRecent(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) <= maxOffSeconds
}
