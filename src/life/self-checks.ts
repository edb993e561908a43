import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { App } from '../app.ts'
import type { NewestHead } from '../audit/intake.ts'
import type { UnderwayNow } from '../domain/change.ts'
import type { ErrorCode } from '../domain/codes.ts'
import { StoreUnavailableError, writeRefusalOf } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { holdOf, type Request } from '../domain/request.ts'
import { someOf } from '../domain/text.ts'
import { refusingRedis, safeRedis, unsafeRedis } from '../messages/operator-notices.ts'
import { draftNotice, isNoticeOwed, keepNotice, notifyOperators } from '../outbox/notices.ts'
import { show, showAgain } from '../outbox/outbox.ts'
import { guardStore } from '../redis/connect.ts'
import type { RedisFault } from '../redis/connections.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { replace } from '../redis/sealed.ts'
import { notice } from '../slack/blocks.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'

const run = scriptsOf(readScripts(import.meta.url, ['data-loss-mark']))

export interface Watch {
  check(): Promise<void>
}

/**
 * Checks Redis for lost data. A mark in the data set shows whether the whole data set was lost, for example by FLUSHALL or an empty replica. The
 * audit chain shows whether Redis went back to an older state, for example a restored copy: the newest entry that this process has read is then gone. Both
 * are reported to the operators, with what is under way on the account. `newestHead`: shared by everything in this process that reads the end of
 * the audit chain.
 */
export function createDataLossMark(app: App, newestHead: NewestHead): Watch {
  const { keys } = app
  let knownMark: string | undefined
  /** The marks of all data sets that this process has worked on. One that is back belongs to a copy that somebody restored. */
  const earlierMarks = new Set<string | null>()
  /** The newest freeze before a loss. */
  let knownFreeze: number | undefined
  /** What this process has not yet reported. A check that failed, for example because Redis went away again, leaves it to the next one. */
  let unreported: { loss: Loss; mark: string } | undefined

  async function check(): Promise<void> {
    const fresh = randomUUID()
    // Nothing may start on what is left. A process that dies after it replaced the mark would leave nobody who knows of the loss.
    const found = await guardStore(() => app.redis.get(keys.dataLossMark))
    if (knownMark !== undefined && found !== knownMark)
      await app.freezes.stopAll(earlierMarks.has(found) ? 'set-back' : 'data-lost', knownFreeze).then(app.audit.chained)
    const { seenId, compare } = newestHead.startComparison()
    // Safe to repeat: the client may send the command twice, and the second one finds this mark.
    const first = knownMark === undefined ? dataNew : dataLost
    // The new mark and its notice are stored in one step. Otherwise a process that dies in between leaves a data set that nobody reports.
    const owed = draftNotice(app, first.code, first.words, { about: fresh, level: first.level })
    const markKeys = [keys.dataLossMark, keys.auditHead, keys.audit, keys.outbox, ...owed.map((one) => keys.message(one.id))]
    const [current = fresh, seq, hash = '', id = '', ...standing] = await run(app.redis, 'data-loss-mark', markKeys, [
      ...[fresh, seenId],
      ...owed.flatMap(({ member, facts, keepMs, inMs }) => [member, facts, String(keepMs), String(inMs)]),
    ])
    const end = { seq: Number(seq), hash, id }
    compare(end, standing, end)
    const before = knownMark
    knownMark = current
    // Always call this. A new data set also has another audit chain, and must not be reported twice.
    const isOlder = newestHead.takeOlderState()
    const isBack = before !== current && earlierMarks.has(current)
    earlierMarks.add(current)
    const isLost = before !== undefined && before !== current && !isBack
    const loss = isLost ? dataLost : current === fresh ? dataNew : isOlder || isBack ? setBack : undefined
    if (loss?.how) app.metrics.requestsLost(loss.how)
    if (loss) unreported = { loss, mark: current }
    const due = unreported
    unreported = undefined
    if (!due) {
      knownFreeze = await app.freezes.newest()
      return
    }
    await report(due.loss, due.mark).catch((error: unknown) => {
      unreported ??= due
      throw error
    })
  }

  async function report({ how, code, words, andWhich, level }: Loss, mark: string): Promise<void> {
    if (how === 'set-back') {
      await app.freezes.stopAll('set-back', knownFreeze)
      // Their messages may show a decision that is undone.
      await showAgain(app, (await app.store.findOpen()).requests)
    }
    const options = { about: mark, level }
    // The account may take long. If this process dies meanwhile, another one posts the notice without what is under way.
    await keepNotice(app, code, words, options)
    const lists = app.catalog.underwayNow()
    const underway = await inLane('send', () => Promise.all(lists.map((each) => underwayWords(each, andWhich))))
    await notifyOperators(app, code, joinMrkdwn([words, ...underway], ' '), options)
  }

  return { check }
}

interface Loss {
  /** Undefined if nothing was lost for certain. */
  how?: 'all-data' | 'set-back'
  code: ErrorCode
  words: Mrkdwn
  andWhich: string
  level: 'warn' | 'error'
}

const lostWords = mrkdwn`:rotating_light: *Redis lost Lockkeeper's data.* Open requests, approvals and tracked changes are gone. The buttons of their messages no longer work. Lockkeeper has frozen all changes: none starts until somebody uses the unfreeze command. Find out what happened to Redis, and have people request again.`

const newWords = mrkdwn`:information_source: *Redis has no data of Lockkeeper yet.* This is normal on a first start. Otherwise its data was lost: open requests and approvals are gone, and the buttons of their messages no longer work.`

const olderStateWords = mrkdwn`:rotating_light: *Redis went back to an older state.* Newer decisions may be undone, and newer requests may be gone. Lockkeeper has frozen all changes: none starts until somebody uses the unfreeze command. Find out what happened to Redis: was an older copy restored, or did a replica take over that lagged behind? Before anyone approves an open request, check on the account whether it was already carried out.`

const notTracked = 'not tracked by Lockkeeper'

const dataLost: Loss = { how: 'all-data', code: 'redis-data-lost', words: lostWords, andWhich: notTracked, level: 'error' }

// This is expected on a first start, so it is not logged as an error.
const dataNew: Loss = { code: 'redis-data-new', words: newWords, andWhich: notTracked, level: 'warn' }

const setBack: Loss = {
  how: 'set-back',
  code: 'redis-set-back',
  words: olderStateWords,
  andWhich: 'perhaps no longer tracked by Lockkeeper',
  level: 'error',
}

async function underwayWords({ list, some, none, unread }: UnderwayNow, andWhich: string): Promise<Mrkdwn> {
  try {
    const underway = await list({ signal: AbortSignal.timeout(10_000) })
    return underway.length === 0 ? mrkdwn`${none}` : mrkdwn`${some}, ${andWhich}: ${someOf(underway, { most: 50, separator: '; ' })}.`
  } catch {
    return mrkdwn`${unread}`
  }
}

/** Redis must take writes for this long before that is reported: at its memory limit it takes some and refuses others. */
const usualCalmMs = 60_000

/** One notice from all processes when a fault begins, one when the last ends. While Redis refuses writes, each process posts its own. */
export function createRedisWatch(app: App, { calmMs = usualCalmMs } = {}): Watch {
  const { redis, keys } = app
  let known: string | undefined
  /** The record that Redis had when it refused to replace it. As long as it has this one, no process has recorded what is known. */
  let unreplaced: string | undefined
  let lastRefusedAt = Number.NEGATIVE_INFINITY

  async function check(): Promise<void> {
    const faults = await app.connections.faultsToReport()
    app.metrics.redisFaults(faults)
    if (faults.some(refusesWrites)) lastRefusedAt = performance.now()
    else if (performance.now() - lastRefusedAt < calmMs) return
    const codes = faults.map(({ code }) => code).join()
    if (codes === known) return
    const record = (await guardStore(() => redis.get(keys.redisFaults))) ?? ''
    const [recorded = '', before = ''] = record.split(' ')
    if ((record === unreplaced ? (known ?? '') : recorded) !== codes) return recordAndNotify(record, before, codes, faults)
    unreplaced = undefined
    known = codes
    // Another process notifies the channel. The log has it in any case.
    if (codes !== '') app.log.warn({ code: 'redis-unsafe' }, notice(wordsOf(faults)).text)
  }

  /** Records the faults and keeps their notice in one step. If another process was faster, the next check compares again. */
  async function recordAndNotify(record: string, before: string, codes: string, faults: RedisFault[]): Promise<void> {
    // Nobody should read that Redis is safe again, and after that the notice of the fault that is over. The next check compares again.
    if (await isNoticeOwed(app, 'redis-unsafe', before)) return
    // A new subject for each change, because the same notice is posted only once an hour.
    const about = randomUUID()
    const words = codes === '' ? safeRedis : wordsOf(faults)
    const options = { about, level: codes === '' ? 'info' : 'error' } as const
    const owes = draftNotice(app, 'redis-unsafe', words, options)
    const texts = { before: record, after: `${codes} ${about}` }
    const outcome = await replace(app, keys.redisFaults, texts, { owes }).catch((error: unknown) => {
      if (error instanceof StoreUnavailableError && writeRefusalOf(error.code)) return 'refused'
      throw error
    })
    if (outcome === 'changed') return
    known = codes
    unreplaced = outcome === 'refused' ? record : undefined
    await notifyOperators(app, 'redis-unsafe', words, options)
  }

  return { check }
}

function wordsOf(faults: RedisFault[]): Mrkdwn {
  const sentences = faults.map(({ words }) => words)
  return faults.some(refusesWrites) ? refusingRedis(sentences) : unsafeRedis(sentences)
}

function refusesWrites({ code }: RedisFault): boolean {
  return code === 'refuses-writes'
}

/** Repeats work, one run at a time: while Redis is away, one run waits for it, and more would only pile up. `stop` waits for the last one. */
export function createTimer(work: () => Promise<unknown>, everyMs: number, onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> | undefined

  function begin(): Promise<unknown> {
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined
      })
    return running
  }

  function start(): void {
    timer = setInterval(begin, everyMs).unref()
  }

  async function stop(): Promise<void> {
    clearInterval(timer)
    await running
  }

  return { begin, start, stop }
}

/** Notes that the worker runs, keeps ticks running, and checks the data set, the audit and Redis' settings. */
export function createWatchdog(
  { queues, store, audit, errors }: App,
  {
    dataLossMark,
    redisWatch,
    beginTicks,
    intervalMs,
  }: { dataLossMark: Watch; redisWatch: Watch; beginTicks: () => void; intervalMs: number },
) {
  const workerName = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  const onError = errors.of('jobs')
  const checks = createTimer(check, intervalMs, onError)
  let isStopped = false
  let begunAt = performance.now()

  /** Resolves after its first check, when other processes can see this worker. */
  async function start(): Promise<void> {
    // Set the timer before the first check, which can take long. `stop` clears it even during that check.
    checks.start()
    await checks.begin()
  }

  /** Does not wait for a running check: while Redis is away, that waits for it. */
  function stop(): void {
    isStopped = true
    void checks.stop()
  }

  async function check(): Promise<void> {
    await checkWork().catch(onError)
    // Even if the other checks have failed, because they fail while Redis refuses writes.
    await redisWatch.check()
  }

  async function checkWork(): Promise<void> {
    await dataLossMark.check()
    if (!isStopped) await store.noteWorker(workerName)
    await audit.tidy()
    if (isStopped) return
    const longest = Math.max(intervalMs * 2, queues.pollIntervalMs * 4)
    const areSilent = (await store.sinceLastTickMs()) > longest
    await queues.keepTicking(areSilent)
    if (!areSilent || isStopped || performance.now() - begunAt < longest) return
    begunAt = performance.now()
    beginTicks()
  }

  return { start, stop }
}

/** A worker that has not reported for this long counts as stopped. Workers report every few seconds. */
export const workerSilenceMs = 30_000

/** Workers report themselves every 5 s. Where their number is shown, one that is missing for this long is gone. */
export const workerSeenMs = 15_000

/** So many checks in a row must see no worker: workers may start later than this process, or come back later after an outage of Redis. */
const checksInARow = 3

const noWorker = mrkdwn`:rotating_light: *No worker of Lockkeeper is running.* Approved changes don't start, and moves under way aren't tracked. Start a process with \`ROLE=worker\` or \`ROLE=all\`. Approved changes start then, up to 30 minutes after their approval.`

/** While no worker is running, nothing else would say why approved changes do not start: their messages say so, and operators are notified. */
export function createWorkerWatch(app: App, { checkMs = 10_000 }: { checkMs?: number | undefined } = {}) {
  const { store } = app
  let unseen = 0

  async function check(): Promise<void> {
    const before = unseen
    unseen = 0
    // Read first: a worker that starts meanwhile must not make it look like another absence.
    const lastAt = await store.lastWorkerAt()
    if ((await store.workersSeen(workerSilenceMs)) > 0) return
    unseen = before + 1
    if (unseen < checksInARow) return
    // The same for all processes, and another one at the next time that no worker is running.
    await notifyOperators(app, 'no-worker', noWorker, { about: String(lastAt) })
    const now = await store.now()
    for (const request of (await store.findOpen()).requests) await noteOn(request, now)
  }

  async function noteOn(request: Request, now: number): Promise<void> {
    const hold = holdOf(request)
    if (hold && (hold.until ?? Number.POSITIVE_INFINITY) > now) return
    if (request.state !== 'approved' || request.waits?.for === 'worker' || app.catalog.changeIfKnown(request.kind)?.handover) return
    const { outcome } = await store.take(request, 'wait-for-worker', { set: { waits: { for: 'worker' } } })
    if (outcome === 'won') await show(app, request.id)
  }

  return createTimer(check, checkMs, app.errors.of('jobs'))
}
