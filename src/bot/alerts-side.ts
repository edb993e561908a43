import { createAlertStates } from '../alerts/alert-states.ts'
import { createFindAlerted } from '../alerts/firing/find-servers.ts'
import { createIsProposal } from '../alerts/firing/is-proposal.ts'
import { createTakeFiring } from '../alerts/firing/take-firing.ts'
import { createListStorm } from '../alerts/list-storm.ts'
import { forgedProposal, unposted, unread } from '../alerts/messages/operator-words.ts'
import { createFindNotice, createPostOnce } from '../alerts/messages/post-once.ts'
import { createNoteResolved } from '../alerts/note-resolved.ts'
import { type AlertCounts, alertOutcomes, type RefusalReason, refusalReasons } from '../alerts/outcome.ts'
import { createAlertReceiver } from '../alerts/receive/receiver.ts'
import { createSlots } from '../alerts/slots.ts'
import { createStormServers } from '../alerts/storm-servers.ts'
import { createTakeDelivery } from '../alerts/take-delivery.ts'
import { createTakeResolved } from '../alerts/take-resolved.ts'
import type { Change } from '../domain/change/change.ts'
import { ApiContractError, ApiError, ApiUnreachableError } from '../domain/errors/api-errors.ts'
import type { Metrics } from '../ops/pages/metrics.ts'
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
  const counts = createAlertCounts(metrics)
  const notifyUnread = createUnreadNotices(notify)

  const receiver = createAlertReceiver({
    host,
    port,
    tokens,
    takeDelivery: createTaking(foundation, { submit, change, counts }),
    onRefused: (reason, count) => {
      counts.refused(reason, count)
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

function createTaking(
  { config, redis, clients, inventory, assignments, requests, operators, telemetry }: Foundation,
  { submit, change, counts }: { submit: Submit; change: Change; counts: AlertCounts },
) {
  const { store, show } = requests.forPeople
  const { messenger, identity } = clients.slack
  const { prompt, keys } = redis
  const states = createAlertStates({ redis: prompt, keys })
  const onError = telemetry.errorReports.of('alerts')
  const routes = config.policy.alerts ?? []
  const shared = {
    states,
    messenger,
    postOnce: createPostOnce({ messenger }),
    command: config.slack.command,
    onUnposted: (channelId: string, error: string) => operators.owe('alerts-unposted', unposted(channelId, error), { about: channelId }),
  }
  return createTakeDelivery({
    takeFiring: createTakeFiring({
      ...shared,
      routes,
      change,
      slots: createSlots({ redis: prompt, keys }),
      findAlerted: createFindAlerted({ accountApi: clients.accountApi, copies: inventory, seen: assignments }),
      submit,
      store,
      isProposal: createIsProposal({ store, signatures: requests.signatures, change }),
      onForged: ({ requestId }) => operators.owe('record-not-genuine', forgedProposal(requestId), { requestId }),
      teamId: () => identity.current()?.teamId,
    }),
    takeResolved: createTakeResolved({
      states,
      routes,
      resolveAlert: createResolveAlert({ store, show, onError }),
      findNotice: createFindNotice({ messenger }),
    }),
    listStorm: createListStorm({ ...shared, stormServers: createStormServers({ redis: prompt, keys }) }),
    noteResolved: createNoteResolved(shared),
    counts,
    onError: (error) => (isOfAccountApi(error) ? operators.onApiError(error) : onError(error)),
  })
}

function isOfAccountApi(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ApiUnreachableError || error instanceof ApiContractError
}

/** Counts alerts for the metrics. Every count begins with 0, so that Prometheus sees the first increase. */
function createAlertCounts(metrics: Metrics): AlertCounts {
  for (const outcome of alertOutcomes) metrics.alert(outcome, 0)
  for (const reason of refusalReasons) metrics.alertRefused(reason, 0)
  return {
    alert: (outcome, count = 1) => metrics.alert(outcome, count),
    refused: (reason, count = 1) => metrics.alertRefused(reason, count),
  }
}
