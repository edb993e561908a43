import { randomUUID } from 'node:crypto'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'
import type { Message, Messenger } from '../../slack/web-api/messenger.ts'

/** The same trouble is told once in this time, however many replicas and requests meet it. */
const quietMs = 3_600_000

/** Twice as long as any one request to Slack may take, so that a claim that ran out means that its holder is gone. */
const claimMs = 10_000

/** Between the tries: for about an hour, after which the log alone has it. */
const usualWaitsMs = [5_000, 30_000, ...Array<number>(59).fill(60_000)]

/** What the mark of a trouble holds once the operators know of it; before that, the token of whoever is telling them. */
const told = 'told'

interface TellOperatorsParts {
  redis: Redis
  keys: Keys
  messenger: Pick<Messenger, 'post'>
  channelId: string | undefined
  log: (text: string) => void
  /** Hears where that channel could not be told: of the first try, and when it is given up. */
  onError: (error: unknown) => void
  /** In ms; shortened in tests. */
  waitsMs?: number[]
}

/**
 * Tells the channel of operators what needs a person, again and again until Slack has it. Without such a channel the log has it.
 * Whoever finds that another process is telling the same looks again, too: that one may end before it has.
 */
export function createTellOperators({ redis, keys, messenger, channelId, log, onError, waitsMs = usualWaitsMs }: TellOperatorsParts) {
  const run = createScripts(redis)
  /** What is being told here, by its key, with the timer of the next try. */
  const telling = new Map<string, NodeJS.Timeout | undefined>()
  let stopped = false

  /** Resolves after the first try; the others are not waited for. Never throws. */
  async function tell(key: string, message: Message): Promise<void> {
    log(message.text)
    if (!channelId || telling.has(key)) return
    telling.set(key, undefined)
    await tryFrom(0, key, channelId, message)
  }

  async function tryFrom(tries: number, key: string, channel: string, message: Message): Promise<void> {
    const failed = await tellOnce(key, channel, message)
    const waitMs = waitsMs[tries]
    // Every try in the log would be too much of it.
    if (failed?.problem && waitMs === undefined)
      onError(new Error(`the channel of operators was not told, and I give it up: ${failed.problem}`))
    else if (failed?.problem && tries === 0) onError(new Error(`the channel of operators could not be told yet: ${failed.problem}`))
    if (!failed || waitMs === undefined || stopped) return void telling.delete(key)
    const next = setTimeout(() => void tryFrom(tries + 1, key, channel, message), Math.min(Math.max(waitMs, failed.retryInMs), quietMs))
    telling.set(key, next.unref())
  }

  /** Undefined once the operators know; without a problem while another process is telling them. */
  async function tellOnce(key: string, channel: string, message: Message): Promise<{ problem?: string; retryInMs: number } | undefined> {
    const mark = keys.notice(key)
    const token = randomUUID()
    // While Redis is away every process tells.
    const holder = await claim(redis, mark, { token, lastsMs: claimMs }).catch(() => undefined)
    if (holder === told) return undefined
    if (holder !== undefined) return { retryInMs: 0 }
    const posted = await messenger.post({ channelId: channel }, message)
    if (posted.is === 'sent') {
      await guardStore(() => redis.set(mark, told, 'PX', quietMs)).catch(() => undefined)
      return undefined
    }
    await run('release', [mark], [token]).catch(() => undefined)
    // Also where the answer was lost and the message may be there: an alarm that comes twice is better than one that never comes.
    return { problem: JSON.stringify(posted), retryInMs: posted.is === 'rate-limited' ? posted.retryInMs : 0 }
  }

  /** Nothing is tried again from here on. */
  function stop(): void {
    stopped = true
    for (const timer of telling.values()) clearTimeout(timer)
    telling.clear()
  }

  return { tell, stop }
}
export type TellOperators = ReturnType<typeof createTellOperators>['tell']
