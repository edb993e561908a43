import { hostname } from 'node:os'
import type { App } from '../app.ts'
import { AccountLimitError, ApiError, isKeyRefused, isRefusal, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { currentRequest } from '../domain/lane.ts'
import type { AuthorityProblem, Request } from '../domain/request.ts'
import { distrusted, lostRecord, outdated, unannounced, undeliverable } from '../messages/operator-notices.ts'
import { refusedKey } from '../messages/request-words.ts'
import { likenessOf } from '../ops/log.ts'
import { forgeries } from '../ops/metrics.ts'
import type { ChannelMembership } from '../slack/web-api.ts'
import { notifyOperators } from './notices.ts'

// What operators are notified of. Each resolves once Redis has the notice, and never throws.

export function onApiError(app: App, error: unknown): void {
  // Without Redis no call is sent, and a limit is no failure.
  if (error instanceof UserError || error instanceof StoreUnavailableError || error instanceof AccountLimitError) return
  if (!isRefusal(error)) app.metrics.error('account-api')
  app.lines.write({
    fields: { code: 'account-api-error', error, requestId: currentRequest() },
    text: 'A call to the account API failed',
    about: likenessOf(error),
  })
  onShownError(app, error)
}

/** Handles an error that a person was shown. While nothing is in flight, only people find out that the account rejects the key. */
export function onShownError(app: App, error: unknown): void {
  if (!(error instanceof ApiError && isKeyRefused(error))) return
  void notifyOperators(app, 'api-key-rejected', refusedKey(error), { about: String(error.status) })
}

/** An emergency approval counts, too, if only the requester, who gave it, would know of it. `error`: Slack's code. */
export function onUndeliverable(app: App, request: Request, error: string, report?: 'outdated' | 'break-glass'): Promise<void> {
  const { id } = request
  const { config, slack } = app
  const words =
    report === 'outdated'
      ? outdated(request, error)
      : report === 'break-glass'
        ? unannounced(request, error, config.slack.command, slack.identity.profileOf)
        : undeliverable(request, error, config.slack.command)
  return notifyOperators(app, 'report-undeliverable', words, { requestId: id, about: report === undefined ? id : `${report}:${id}` })
}

export function onDistrusted(app: App, request: Request, problem: AuthorityProblem): Promise<void> {
  const { code } = problem
  const forgery = forgeries.find((each) => each === code)
  if (forgery) app.metrics.notGenuine(forgery)
  return notifyOperators(app, code, distrusted(request, problem, hostname()), { requestId: request.id })
}

export function onLostRecord(app: App, requestId: string): Promise<void> {
  app.metrics.requestsLost('one-record')
  return notifyOperators(app, 'request-lost', lostRecord(requestId, app.config.slack.command), { requestId })
}

/** If Slack does not say (`unreadable`), the channel may take the notices. */
const problems: Partial<Record<ChannelMembership['is'], string>> = {
  absent: 'Lockkeeper is not in the channel, or there is no such channel',
  archived: 'the channel is archived',
}

/** Checks whether notices can be posted. Logs if they cannot, because nobody would notice before one is missing. Never throws. */
export async function checkOpsChannel(app: App, channelId: string): Promise<ChannelMembership> {
  const found = await app.slack.probe.membership(channelId)
  const problem = problems[found.is]
  if (problem !== undefined) {
    const text = `Notices can't be posted in OPS_CHANNEL (${channelId}): ${problem}`
    app.lines.write({ fields: { code: 'operators-unreachable', problem }, text, about: problem })
  }
  return found
}
