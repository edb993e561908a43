import type { Config } from '../../config/config.ts'
import type { AuthorityProblem } from '../../domain/authority-problem.ts'
import type { Request } from '../../domain/request.ts'
import { createApiErrorHandler } from '../../ops/log/api-error-handler.ts'
import { distrusted, undeliverable } from '../../requests/messages/operator-notices.ts'
import { refusedKey } from '../../requests/messages/words.ts'
import { createNotifyOperators } from '../../requests/outbox/notify-operators.ts'
import { notice } from '../../slack/blocks/notice.ts'
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
export function createOperatorNotifier({ config, telemetry: { log, metrics, errorReports }, redis, clients }: OperatorNotifierParts) {
  const { notify, stop } = createNotifyOperators({
    redis: redis.prompt,
    keys: redis.keys,
    messenger: clients.slack.messenger,
    channelId: config.opsChannel,
    log,
    onError: errorReports.each('operators'),
  })

  const onApiError = createApiErrorHandler({
    log,
    count: () => metrics.error('account-api'),
    onRefusedKey: (error) => void notify(`api-key-${error.status}`, notice(refusedKey(error))),
  })

  function onUndeliverable(request: Request, error: string): void {
    void notify(`undeliverable:${request.id}`, notice(undeliverable(request, error)))
  }

  /** Handles a request whose record, approvals or history cannot be trusted. */
  function onDistrusted(request: Request, problem: AuthorityProblem): void {
    void notify(`distrusted:${problem.code}:${request.id}`, notice(distrusted(request, problem)))
  }

  return { notify, onApiError, onUndeliverable, onDistrusted, stop }
}
export type OperatorNotifier = ReturnType<typeof createOperatorNotifier>
