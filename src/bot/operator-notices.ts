import type { Config } from '../config/config.ts'
import type { Request } from '../domain/request.ts'
import { createApiErrorHandler } from '../ops/log/api-error-handler.ts'
import { changedInRedis, undeliverable } from '../requests/messages/operator-notices.ts'
import { refusedKey } from '../requests/messages/words.ts'
import { createNotifyOperators } from '../requests/outbox/notify-operators.ts'
import { notice } from '../slack/blocks/notice.ts'
import type { Clients } from './clients.ts'
import type { Instruments } from './instruments.ts'
import type { RedisSide } from './redis-side.ts'

interface OperatorNoticesParts {
  config: Config
  instruments: Instruments
  redis: RedisSide
  clients: Clients
}

/** Creates the notices to the channel of operators, and what is noticed everywhere. */
export function createOperatorNotices({ config, instruments: { log, metrics, errorReports }, redis, clients }: OperatorNoticesParts) {
  const { notify, stop } = createNotifyOperators({
    redis: redis.prompt,
    keys: redis.keys,
    messenger: clients.slack.messenger,
    channelId: config.opsChannel,
    log: (text) => log.error(text),
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

  /** Is called with a record that is no longer what was requested. */
  function onChanged(request: Request): void {
    void notify(`changed:${request.id}`, notice(changedInRedis(request)))
  }

  return { notify, onApiError, onUndeliverable, onChanged, stop }
}
export type OperatorNotices = ReturnType<typeof createOperatorNotices>
