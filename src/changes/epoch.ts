import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { notice } from '../slack/notice.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Keys } from './keys.ts'
import { guardStore } from './redis.ts'
import type { TellOperators } from './tell-operators.ts'

interface EpochParts {
  redis: Redis
  keys: Keys
  tellOperators: TellOperators
  /** Each Elastic IP that moves now, in words; for whoever has to find out what was lost. */
  movingNow: () => Promise<string[]>
}

/**
 * A mark in the data set, by which one that was lost (a wrong restore, FLUSHALL, an empty replica promoted) is told from the one that
 * was there. Whoever finds another mark than before, or none, tells the operators, with what is moving on the account.
 */
export function createEpoch({ redis, keys, tellOperators, movingNow }: EpochParts) {
  let known: string | undefined

  /** Safe to call at any time, by any process. Throws StoreUnavailableError when Redis does not answer. */
  async function check(): Promise<void> {
    const fresh = randomUUID()
    // SET NX GET may be sent twice: the second time it finds its own mark.
    const found = await guardStore(() => redis.set(keys.epoch, fresh, 'NX', 'GET'))
    const isNew = found === null || found === fresh
    const current = isNew ? fresh : found
    const before = known
    known = current
    if (before !== undefined && before !== current) return tell(`state-lost:${current}`, lostWords)
    if (isNew) return tell(`state-new:${current}`, newWords)
  }

  async function tell(key: string, words: Mrkdwn): Promise<void> {
    await tellOperators(key, notice(mrkdwn`${words} ${await movingWords()}`))
  }

  async function movingWords(): Promise<Mrkdwn> {
    try {
      const moving = await movingNow()
      return moving.length === 0
        ? mrkdwn`No Elastic IP is moving now.`
        : mrkdwn`Elastic IPs that are moving now, and that I do not follow: ${moving.join('; ')}.`
    } catch {
      return mrkdwn`I could not read from the account API which Elastic IPs are moving now: look there.`
    }
  }

  return { check }
}
export type Epoch = ReturnType<typeof createEpoch>

const lostWords = mrkdwn`:rotating_light: *My memory was lost:* Redis no longer has what I kept there a moment ago. Open requests, approvals and what I followed are gone; cards that still show buttons decide nothing any more. Find out what happened to Redis, and have people ask again.`

const newWords = mrkdwn`:information_source: *I start with an empty memory.* If this is not the first start with this Redis, what I kept was lost: open requests and approvals are gone, and cards that still show buttons decide nothing any more.`
