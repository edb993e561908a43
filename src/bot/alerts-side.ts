import { createAlertRecords } from '../alerts/alert-records.ts'
import { createAlertReceiver } from '../alerts/receiver.ts'
import { type Alerting, alertOutcomes, takeDelivery } from '../alerts/take-delivery.ts'
import { forgedProposal, type RefusalReason, refusalReasons, unposted, unread } from '../alerts/words.ts'
import type { Change } from '../domain/change/change.ts'
import { ApiContractError, ApiError, ApiUnreachableError } from '../domain/errors/api-errors.ts'
import { createResolveAlert } from '../requests/lifecycle/resolve-alert.ts'
import type { Submit } from '../requests/lifecycle/submit/submit.ts'
import type { NotifyOperators } from '../requests/outbox/notices/notify-operators.ts'
import { createRefusalLog } from '../slack/receive/log-refusals.ts'
import type { Foundation } from './foundation/foundation.ts'

/** Creates the side of alerts: the port that takes them, and the requests that they make. Undefined if it is off. */
export function createAlertsSide(foundation: Foundation, submit: Submit) {
  const { config, requests } = foundation
  const change = requests.catalog.changeOfAlerts()
  if (!config.alerts || !change) return undefined
  const { host, port, tokens } = config.alerts
  const { log, metrics } = foundation.telemetry
  const { notify } = foundation.operators
  const refusals = createRefusalLog<RefusalReason>(
    { warn: (line, which) => log.warn(which, line) },
    { port: 'the port of alerts', code: 'alerts-port-refused' },
  )
  // Every count begins with 0, so that Prometheus sees the first increase.
  for (const outcome of alertOutcomes) metrics.alert(outcome, 0)
  for (const reason of refusalReasons) metrics.alertRefused(reason, 0)
  const alerting = createAlerting(foundation, submit, change)
  const notifyUnread = createUnreadNotices(notify)

  const receiver = createAlertReceiver({
    host,
    port,
    tokens,
    takeDelivery: (alerts, signal) => takeDelivery(alerting, alerts, signal),
    onRefused: (reason, count) => {
      alerting.countRefused(reason, count)
      refusals.note(reason)
      // After a 503 the sender tries again soon. Other refusals recur at each group interval until a person corrects the cause.
      if (reason !== 'too-many') notifyUnread(reason)
    },
    onTruncated: (count) => notifyUnread('truncated', count),
  })

  async function stop(): Promise<void> {
    refusals.flush()
    await receiver.stop()
  }

  return { start: receiver.start, stop }
}

/** Anybody who reaches the port can be refused without end, and each notice has a line in the log. So a reason has one a minute, in ms. */
const quietMs = 60_000

/** Creates the notices to the operators about alerts that were not read. */
function createUnreadNotices(notify: NotifyOperators['notify']) {
  const noticedAt = new Map<Unread, number>()
  return function notifyUnread(about: Unread, count?: number): void {
    if (Date.now() - (noticedAt.get(about) ?? 0) < quietMs) return
    noticedAt.set(about, Date.now())
    void notify('alerts-unread', unread(about, count), { about, level: 'warn' })
  }
}
type Unread = Parameters<typeof unread>[0]

function createAlerting(
  { config, redis, clients, inventory, assignments, requests, operators, telemetry }: Foundation,
  submit: Submit,
  change: Change,
): Alerting {
  const { store, show } = requests.forPeople
  const { messenger, identity } = clients.slack
  const { metrics } = telemetry
  const onError = telemetry.errorReports.of('alerts')
  return {
    records: createAlertRecords({ redis: redis.prompt, keys: redis.keys }),
    routes: config.policy.alerts ?? [],
    change,
    accountApi: clients.accountApi,
    copies: inventory,
    seen: assignments,
    submit,
    store,
    signatures: requests.signatures,
    resolveAlert: createResolveAlert({ store, show, onError }),
    messenger,
    command: config.slack.command,
    teamId: () => identity.current()?.teamId,
    count: (outcome, count = 1) => metrics.alert(outcome, count),
    countRefused: (reason, count = 1) => metrics.alertRefused(reason, count),
    onUnposted: (channelId, error) => operators.owe('alerts-unposted', unposted(channelId, error), { about: channelId }),
    onForged: (requestId) => operators.owe('record-not-genuine', forgedProposal(requestId), { requestId }),
    onError: (error) => (isOfAccountApi(error) ? operators.onApiError(error) : onError(error)),
  }
}

function isOfAccountApi(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ApiUnreachableError || error instanceof ApiContractError
}
