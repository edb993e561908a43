import type { Redis } from 'ioredis'
import type { Message, Messenger } from '../slack/messenger.ts'
import type { Keys } from './keys.ts'
import { guardStore } from './redis.ts'

/** The same trouble is told once in this time, however many replicas and requests meet it. */
const quietMs = 3_600_000

/** Tells the channel of operators what needs a person. Without such a channel the log has it. Never throws. */
export function createTellOperators({
  redis,
  keys,
  messenger,
  channelId,
  log,
  onError,
}: {
  redis: Redis
  keys: Keys
  messenger: Pick<Messenger, 'post'>
  channelId: string | undefined
  log: (text: string) => void
  /** Hears where that channel could not be told. */
  onError: (error: unknown) => void
}) {
  return async function tellOperators(key: string, message: Message): Promise<void> {
    log(message.text)
    if (!channelId) return
    const first = await guardStore(() => redis.set(keys.notice(key), '1', 'PX', quietMs, 'NX')).catch(() => 'OK')
    if (first === null) return
    const posted = await messenger.post({ channelId }, message)
    if (posted.is !== 'sent') onError(new Error(`the channel of operators could not be told: ${JSON.stringify(posted)}`))
  }
}
export type TellOperators = ReturnType<typeof createTellOperators>
