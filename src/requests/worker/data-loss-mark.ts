import { randomUUID } from 'node:crypto'
import type { NewestHead } from '../../audit/newest-head.ts'
import { inLane } from '../../domain/account/lane.ts'
import type { UnderwayNow } from '../../domain/change/underway-now.ts'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { someOf } from '../../domain/text/some-of.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Catalog } from '../catalog.ts'
import type { NotifyOperators } from '../outbox/notices/notify-operators.ts'

const scripts = readScripts(import.meta.url, ['data-loss-mark'])

/** How long the account API may take to list what is under way. */
const readMs = 10_000

interface DataLossMarkParts {
  redis: Redis
  keys: Keys
  /** Repeats a notice that fails. */
  operators: Pick<NotifyOperators, 'notify' | 'keep' | 'draft'>
  /** Shared by everything in this process that reads the end of the audit chain. */
  newestHead: NewestHead
  catalog: Pick<Catalog, 'underwayNow'>
  /** Called when requests were lost: with all data, or with what was newer than the state that Redis went back to. */
  onLost?: (how: 'all-data' | 'set-back') => void
}

/**
 * Creates the check for lost data in Redis. A mark in the data set shows whether the whole data set was lost, for example by FLUSHALL or an
 * empty replica. The audit chain shows whether Redis went back to an older state, for example a restored copy: it then ends earlier than
 * this process has read. Both are reported to the operators, with what is under way on the account.
 */
export function createDataLossMark({ redis, keys, operators, newestHead, catalog, onLost = () => {} }: DataLossMarkParts) {
  const run = createScripts(redis, scripts)
  let knownMark: string | undefined
  /** What this process has not yet reported. A check that failed, for example because Redis went away again, leaves it to the next one. */
  let unreported: { loss: Loss; mark: string } | undefined

  /** Checks the data set. Safe to call at any time, by any process. Throws StoreUnavailableError if Redis does not answer. */
  async function check(): Promise<void> {
    const fresh = randomUUID()
    const compareHead = newestHead.startComparison()
    // Safe to repeat: the client may send the command twice, and the second one finds this mark.
    const first = knownMark === undefined ? dataNew : dataLost
    // The new mark and its notice are stored in one step. Otherwise a process that dies in between leaves a data set that nobody reports.
    const draft = operators.draft(first.code, first.words, { about: fresh, level: first.level })
    const written = await run('data-loss-mark', [keys.dataLossMark, keys.auditHead, keys.owedNotices], [fresh, ...draft])
    const [current = fresh, seq, hash = ''] = written
    compareHead({ seq: Number(seq), hash })
    const before = knownMark
    knownMark = current
    // Always call this. A new data set also has another audit chain, and must not be reported twice.
    const isOlder = newestHead.takeOlderState()
    const loss = lossOf({ before, current, isNew: current === fresh, isOlder })
    if (loss?.how) onLost(loss.how)
    if (loss) unreported = { loss, mark: current }
    await reportOnce()
  }

  async function reportOnce(): Promise<void> {
    const due = unreported
    unreported = undefined
    if (!due) return
    await report(due.loss, due.mark).catch((error: unknown) => {
      unreported ??= due
      throw error
    })
  }

  async function report({ code, words, andWhich, level }: Loss, mark: string): Promise<void> {
    const options = { about: mark, level }
    // The account may take long. If this process dies meanwhile, another one posts the notice without what is under way.
    await operators.keep(code, words, options)
    const underway = await inLane('execute', () => Promise.all(catalog.underwayNow().map((each) => underwayWords(each, andWhich))))
    await operators.notify(code, joinMrkdwn([words, ...underway], ' '), options)
  }

  return { check }
}
export type DataLossMark = ReturnType<typeof createDataLossMark>

interface Loss {
  /** Undefined if nothing was lost for certain. */
  how?: 'all-data' | 'set-back'
  code: ErrorCode
  words: Mrkdwn
  andWhich: string
  level: 'warn' | 'error'
}

const lostWords = mrkdwn`:rotating_light: *Redis lost Lockkeeper's data.* Open requests, approvals and tracked changes are gone. The buttons of their messages no longer work. Find out what happened to Redis, and have people request again.`

const newWords = mrkdwn`:information_source: *Redis has no data of Lockkeeper yet.* This is normal on a first start. Otherwise its data was lost: open requests and approvals are gone, and the buttons of their messages no longer work.`

const olderStateWords = mrkdwn`:rotating_light: *Redis went back to an older state.* Newer decisions may be undone, and newer requests may be gone. Find out what happened to Redis: was an older copy restored, or did a replica take over that lagged behind? Before anyone approves an open request, check on the account whether it was already carried out.`

/** The most changes under way that a notice names. */
const mostUnderway = 50

const notTracked = 'not tracked by Lockkeeper'

const perhapsNotTracked = 'perhaps no longer tracked by Lockkeeper'

const dataLost: Loss = { how: 'all-data', code: 'redis-data-lost', words: lostWords, andWhich: notTracked, level: 'error' }

// This is expected on a first start, so it is not logged as an error.
const dataNew: Loss = { code: 'redis-data-new', words: newWords, andWhich: notTracked, level: 'warn' }

const setBack: Loss = { how: 'set-back', code: 'redis-set-back', words: olderStateWords, andWhich: perhapsNotTracked, level: 'error' }

interface Found {
  /** The mark that this process knew. */
  before: string | undefined
  current: string
  isNew: boolean
  isOlder: boolean
}

function lossOf({ before, current, isNew, isOlder }: Found): Loss | undefined {
  if (before !== undefined && before !== current) return dataLost
  if (isNew) return dataNew
  return isOlder ? setBack : undefined
}

async function underwayWords({ list, some, none, unread }: UnderwayNow, andWhich: string): Promise<Mrkdwn> {
  try {
    const underway = await list({ signal: AbortSignal.timeout(readMs) })
    return underway.length === 0
      ? mrkdwn`${none}`
      : mrkdwn`${some}, ${andWhich}: ${someOf(underway, { most: mostUnderway, separator: '; ' })}.`
  } catch {
    return mrkdwn`${unread}`
  }
}
