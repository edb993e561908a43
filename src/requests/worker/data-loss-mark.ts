import { randomUUID } from 'node:crypto'
import type { SeenHead } from '../../audit/seen-head.ts'
import type { UnderwayNow } from '../../domain/change.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Catalog } from '../catalog.ts'
import type { NotifyOperators } from '../outbox/notify-operators.ts'

const scripts = readScripts(import.meta.url, ['data-loss-mark'])

/** How long the account API may take to tell what is under way. */
const readMs = 10_000

interface DataLossMarkParts {
  redis: Redis
  keys: Keys
  /** Sees to it by itself that a telling which fails is tried again. */
  notifyOperators: NotifyOperators
  /** Shared with everything of this process that sees the end of the audit's chain. */
  seenHead: SeenHead
  catalog: Pick<Catalog, 'underwayNow'>
}

/**
 * A mark in the data set, by which one that was lost (a wrong restore, FLUSHALL, an empty replica promoted) is told from the one that
 * was there; an older state of the same one (an older copy, a replica that lagged) is known by its audit, which ends before what was
 * seen. Whoever finds either tells the operators, with what is under way on the account, so that they can find out what was lost.
 */
export function createDataLossMark({ redis, keys, notifyOperators, seenHead, catalog }: DataLossMarkParts) {
  const run = createScripts(redis, scripts)
  let known: string | undefined

  /** Safe to call at any time, by any process. Throws StoreUnavailableError when Redis does not answer. */
  async function check(): Promise<void> {
    const fresh = randomUUID()
    const compareHead = seenHead.compare()
    // It may be sent twice: the second time it finds its own mark.
    const [current = fresh, seq, hash = ''] = await run('data-loss-mark', [keys.dataLossMark, keys.auditHead], [fresh])
    compareHead({ seq: Number(seq), hash })
    const before = known
    known = current
    // Another data set has another audit, too: that it was lost says it all.
    const isSetBack = seenHead.takeSetBack()
    if (before !== undefined && before !== current) return tell(`state-lost:${current}`, lostWords, unfollowed)
    if (current === fresh) return tell(`state-new:${current}`, newWords, unfollowed)
    if (isSetBack) return tell(`state-set-back:${current}`, setBackWords, perhapsUnfollowed)
  }

  async function tell(key: string, words: Mrkdwn, andWhich: string): Promise<void> {
    const underway = await Promise.all(catalog.underwayNow().map((each) => underwayWords(each, andWhich)))
    await notifyOperators(key, notice(joinMrkdwn([words, ...underway], ' ')))
  }

  return { check }
}
export type DataLossMark = ReturnType<typeof createDataLossMark>

const lostWords = mrkdwn`:rotating_light: *My memory was lost:* Redis no longer has what I kept there a moment ago. Open requests, approvals and what I followed are gone; cards that still show buttons decide nothing any more. Find out what happened to Redis, and have people ask again.`

const newWords = mrkdwn`:information_source: *I start with an empty memory.* If this is not the first start with this Redis, what I kept was lost: open requests and approvals are gone, and cards that still show buttons decide nothing any more.`

const setBackWords = mrkdwn`:rotating_light: *My memory was set back:* Redis has an older state of what I kept there than I have seen. Requests may stand as they stood before: what was decided meanwhile may be asked again, and what was asked meanwhile may be gone. Find out what happened to Redis (was an older copy put back, or did a replica take over that lagged behind?), and before anybody approves one of the requests that are open now, look on the account whether it was carried out already.`

const unfollowed = 'and that I do not follow'

const perhapsUnfollowed = 'and that I may no longer follow'

async function underwayWords({ list, some, none, unread }: UnderwayNow, andWhich: string): Promise<Mrkdwn> {
  try {
    const underway = await list({ signal: AbortSignal.timeout(readMs) })
    return underway.length === 0 ? mrkdwn`${none}` : mrkdwn`${some}, ${andWhich}: ${underway.join('; ')}.`
  } catch {
    return mrkdwn`${unread}`
  }
}
