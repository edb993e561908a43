import type { Config } from '../config/config.ts'
import { ApiError, type ErrorCode, isKeyRefused } from '../domain/errors.ts'
import type { AuthorityProblem, Request } from '../domain/request.ts'
import { createKeyring } from '../domain/signing.ts'
import { distrusted, lostRecord, outdated, unannounced, undeliverable } from '../messages/operator-notices.ts'
import { refusedKey } from '../messages/words.ts'
import { createApiErrorHandler, type ErrorReports, type Log, type RepeatedLines } from '../ops/log.ts'
import { type Forgery, forgeries, type Metrics } from '../ops/metrics.ts'
import type { Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import type { ReportName } from '../requests/steps.ts'
import type { Mrkdwn } from '../slack/text.ts'
import type { ChannelMembership, Messenger, SlackIdentity } from '../slack/web-api.ts'
import { createNotifyOperators } from './notices.ts'

interface OperatorNotifierParts {
  config: Config
  telemetry: { log: Log; lines: RepeatedLines; metrics: Metrics; errorReports: ErrorReports }
  redis: { prompt: Redis; keys: Keys }
  clients: { slack: { messenger: Messenger; identity: SlackIdentity } }
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

interface OpsChannelParts {
  /** Undefined if OPS_CHANNEL is not set. */
  channelId: string | undefined
  membership: (channelId: string) => Promise<ChannelMembership>
  lines: Pick<RepeatedLines, 'write'>
}

const problems: Record<ChannelMembership['is'], string | undefined> = {
  member: undefined,
  absent: 'Lockkeeper is not in the channel, or there is no such channel',
  archived: 'the channel is archived',
  // Slack did not say. It may take the notices.
  unreadable: undefined,
}

/**
 * Creates the check whether notices to the operators can be posted. It logs if they cannot, because nobody would notice before one is
 * missing. Undefined if there is no channel.
 */
export function createOpsChannel({ channelId, membership, lines }: OpsChannelParts) {
  if (channelId === undefined) return undefined
  const id = channelId

  /** Never throws. */
  async function check(): Promise<ChannelMembership> {
    const found = await membership(id)
    const problem = problems[found.is]
    if (problem !== undefined) {
      const text = `Notices can't be posted in OPS_CHANNEL (${id}): ${problem}`
      lines.write({ fields: { code: 'operators-unreachable', problem }, text, about: problem })
    }
    return found
  }

  return { id, check }
}
export type OpsChannel = NonNullable<ReturnType<typeof createOpsChannel>>
