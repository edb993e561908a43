import type { Config } from '../../config/config.ts'
import { ApiError, isKeyRefused } from '../../domain/errors/api-errors.ts'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import type { AuthorityProblem } from '../../domain/request/authority-problem.ts'
import type { Request } from '../../domain/request/request.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { createApiErrorHandler } from '../../ops/log/api-error-handler.ts'
import { type Forgery, forgeries } from '../../ops/pages/objectives.ts'
import { distrusted, lostRecord, outdated, unannounced, undeliverable } from '../../requests/messages/operator-notices.ts'
import { refusedKey } from '../../requests/messages/words.ts'
import { createNotifyOperators } from '../../requests/outbox/notices/notify-operators.ts'
import type { ReportName } from '../../requests/steps/step.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import type { ApiClients } from './api-clients.ts'
import type { RedisConnections } from './redis-connections.ts'
import type { Telemetry } from './telemetry.ts'

interface OperatorNotifierParts {
  config: Config
  telemetry: Telemetry
  redis: RedisConnections
  clients: ApiClients
}

/** Creates the handlers that notify the channel of the operators. */
export function createOperatorNotifier({
  config,
  telemetry: { log, lines, metrics, errorReports },
  redis,
  clients,
}: OperatorNotifierParts) {
  const { command } = config.slack
  const notices = createNotifyOperators({
    redis: redis.prompt,
    keys: redis.keys,
    messenger: clients.slack.messenger,
    channelId: config.opsChannel,
    keyring: createKeyring(config.signingSecrets, { purpose: 'notices', prefix: config.redis.prefix }),
    log,
    onError: errorReports.of('operators'),
  })

  const { notify, owe } = notices

  const onApiError = createApiErrorHandler({
    lines,
    count: () => metrics.error('account-api'),
    onRefusedKey: notifyOfKey,
  })

  function notifyOfKey(error: ApiError): void {
    void notify('api-key-rejected', refusedKey(error), {
      about: error.key === 'INFRA_API_KEY' ? String(error.status) : `${error.key} ${error.status}`,
    })
  }

  /** Handles an error that a person was shown. While nothing is in flight, only people find out that the account rejects the key. */
  function onShownError(error: unknown): void {
    if (error instanceof ApiError && isKeyRefused(error)) notifyOfKey(error)
  }

  function onUndeliverable(request: Request, error: string, report?: ReportName): Promise<void> {
    const about = report === undefined ? request.id : `${report}:${request.id}`
    return owe('report-undeliverable', wordsFor(request, error, report), { requestId: request.id, about })
  }

  function wordsFor(request: Request, error: string, report: ReportName | undefined): Mrkdwn {
    if (report === 'outdated') return outdated(request, error)
    if (report !== 'break-glass') return undeliverable(request, error, command)
    return unannounced(request, { error, command, profile: clients.slack.identity.profileOf(request.origin.userId) })
  }

  /** Handles a request whose record, approvals or history cannot be trusted. */
  function onDistrusted(request: Request, problem: AuthorityProblem): Promise<void> {
    const { code } = problem
    if (isForgery(code)) metrics.notGenuine(code)
    return owe(codes[code], distrusted(request, problem), { requestId: request.id, about: `${code}:${request.id}` })
  }

  /** Handles a request that is due and whose record is gone. */
  function onLostRecord(requestId: string): Promise<void> {
    metrics.requestsLost('one-record')
    return owe('request-lost', lostRecord(requestId, command), { requestId })
  }

  return { ...notices, onApiError, onShownError, onUndeliverable, onDistrusted, onLostRecord }
}
export type OperatorNotifier = ReturnType<typeof createOperatorNotifier>

/** How the log and the operators' channel call each problem. */
const codes: Record<AuthorityProblem['code'], ErrorCode> = {
  'record-changed': 'record-not-genuine',
  'approvals-not-genuine': 'record-not-genuine',
  'already-sent': 'record-not-genuine',
  'already-ended': 'record-not-genuine',
  'unknown-key': 'signing-key-unknown',
  'approval-needed-now': 'policy-changed',
  'rule-gone': 'policy-changed',
  'approved-too-long-ago': 'approved-too-long-ago',
}

function isForgery(code: string): code is Forgery {
  return (forgeries as readonly string[]).includes(code)
}
