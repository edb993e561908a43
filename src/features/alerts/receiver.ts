import type { IncomingMessage } from 'node:http'
import type { App } from '../../app.ts'
import { createLimitedServer, type LimitedRequest } from '../../ops/server.ts'
import { createTokenCheck } from '../../ops/token.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { createBodyReader, maxBodyBytes, mustEnd } from '../../slack/http-receiver.ts'
import { alertOutcomes, TryLater } from './alerts.ts'
import { type Alert, readPayload } from './payload.ts'
import { type UnreadReason, unread, unreadReasons } from './unread.ts'

const alertsPath = '/alerts/alertmanager'

/** Each new alert takes some reads of the account, so only a few deliveries run at a time. */
const mostAtOnce = 8

const maxOpenBytes = 8 * 1_048_576

/** How many seconds a sender should wait after 503. Alertmanager ignores it and uses its own pauses. */
const retryAfterSeconds = 5

/** Handles the alerts of a delivery. `later`: the sender has to repeat it. The code that fails has reported its error. */
type Take = (alerts: Alert[], signal: AbortSignal) => Promise<'accepted' | 'later'>

interface Answer {
  status: 200 | 400 | 401 | 404 | 413 | 503
  reason?: UnreadReason
}

/** The token is checked before the body is read. 200: every alert is recorded. After 503 the sender soon repeats, after 4xx much later. */
export function createAlertReceiver(app: App, { host, port, tokens }: NonNullable<App['config']['alerts']>, take: Take) {
  const readBody = createBodyReader({ maxBytes: maxBodyBytes, maxOpen: maxOpenBytes })
  const isAuthorized = createTokenCheck([[true, tokens]])
  // Every count begins with 0, so that Prometheus sees the first increase.
  for (const outcome of alertOutcomes) app.metrics.alert(outcome, 0)
  for (const reason of unreadReasons) app.metrics.alertRefused(reason, 0)
  const stopping = new AbortController()
  let taking = 0

  async function handle({ request, response, trust }: LimitedRequest): Promise<void> {
    const refusal = refusalOf(request, trust)
    if (refusal && refusal.status !== 413 && mustEnd(request)) response.setHeader('connection', 'close')
    const answer = refusal ?? (await takeRequest(request))
    // The sender closed the connection.
    if (!answer) return
    if (answer.reason) refused(answer.reason)
    if (answer.status === 401) response.setHeader('www-authenticate', 'Bearer')
    if (answer.status === 503) response.setHeader('retry-after', retryAfterSeconds)
    response.writeHead(answer.status).end()
  }

  function refusalOf(request: IncomingMessage, trust: LimitedRequest['trust']): Answer | undefined {
    const { method, url = '', headers } = request
    if (method !== 'POST' || URL.parse(url, 'http://localhost')?.pathname !== alertsPath) return { status: 404 }
    if (!isAuthorized(request)) return { status: 401, reason: 'wrong-token' }
    if (!trust()) return { status: 503, reason: 'too-many' }
    return Number(headers['content-length'] ?? 0) > maxBodyBytes ? { status: 413, reason: 'too-large' } : undefined
  }

  async function takeRequest(request: IncomingMessage): Promise<Answer | undefined> {
    const reading = await readBody(request)
    if (reading.is === 'not-sent') return undefined
    if (reading.is === 'too-large') return { status: 413, reason: 'too-large' }
    if (taking >= mostAtOnce || stopping.signal.aborted) return { status: 503, reason: 'too-many' }
    taking += 1
    try {
      return await takeBody(reading.body.toString())
    } finally {
      taking -= 1
    }
  }

  async function takeBody(body: string): Promise<Answer> {
    const read = readPayload(body)
    if (read.is === 'too-many') return { status: 413, reason: 'too-large' }
    if (read.is === 'unreadable') return { status: 400, reason: 'unreadable' }
    if (read.unreadable > 0) refused('unreadable', read.unreadable)
    if (read.truncated > 0) notify('truncated', read.truncated)
    const taken = await take(read.alerts, stopping.signal).catch(() => 'later' as const)
    return { status: taken === 'accepted' ? 200 : 503 }
  }

  function refused(reason: UnreadReason, count = 1): void {
    app.metrics.alertRefused(reason, count)
    const fields = { code: 'alerts-port-refused', problem: reason } as const
    app.lines.write({ fields, text: 'Refused a request to the port of alerts', about: reason })
    // After a 503 the sender tries again soon. Other refusals recur at each group interval until a person corrects the cause.
    if (reason !== 'too-many') notify(reason)
  }

  function notify(about: UnreadReason | 'truncated', count?: number): void {
    void notifyOperators(app, 'alerts-unread', unread(about, count), { about, level: 'warn' })
  }

  const server = createLimitedServer({
    named: { host: 'ALERTS_HOST', port: 'ALERTS_PORT' },
    mostConnections: 100,
    stopWithinMs: 5_000,
    handle,
    onStop: () => stopping.abort(new TryLater('Lockkeeper stops')),
  })
  return { start: () => server.start({ host, port }), stop: server.stop }
}
