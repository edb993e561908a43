import type { App } from '../app.ts'
import { freezesOnAt } from '../domain/policy.ts'
import { createKeyring } from '../domain/signing.ts'
import { formatDuration } from '../domain/text.ts'
import { freezesOfPolicy, frozenWords, unreadableFreeze } from '../messages/freezes.ts'
import { sameKey } from '../messages/operator-notices.ts'
import { freezeOnAt, freezeSetAt } from '../record/freeze.ts'
import { guardStore } from '../redis/connect.ts'
import { clockWrongMs, type RedisHealth } from '../redis/connections.ts'
import { code, mrkdwn } from '../slack/text.ts'
import { ago, type Found, ok, unknown, wrong } from './check.ts'

export function judgeRedis(redis: RedisHealth): Found {
  switch (redis.is) {
    case 'silent':
      return wrong(
        mrkdwn`Not responding${redis.problem === undefined ? '' : ` (${redis.problem})`}, so nothing can be requested, approved or tracked.`,
        mrkdwn`Check that Redis runs at ${code('REDIS_URL')} and that Lockkeeper's host can reach it.`,
      )
    case 'lacks-right':
      return wrong(mrkdwn`${redis.right.why}`, mrkdwn`${redis.right.fix}`)
    case 'refuses-writes':
      return wrong(
        mrkdwn`Refuses writes, because ${redis.refusal.why} (${redis.refusal.code}). Nothing can be requested, approved or tracked.`,
        mrkdwn`${[redis.refusal.fix, ...redis.faults.map(({ words }) => words)].join(' ')}`,
      )
    case 'unsafe':
      return wrong(mrkdwn`Not safe for storing requests.`, mrkdwn`${redis.faults.map(({ words }) => words).join(' ')}`)
    case 'safe':
      return ok(mrkdwn`Persistence on, no eviction, supported version.`)
  }
}

/** Whether this process has the key with which the one that started last signs. */
export async function readStateKey({ config, keys, redis }: App): Promise<boolean> {
  const ofLastStart = await guardStore(() => redis.get(keys.signingKeyMark))
  const keyring = createKeyring(config.signingSecrets, { purpose: 'requests', prefix: config.redis.prefix })
  return ofLastStart === null || keyring.knows(ofLastStart)
}

/** No line if there is nothing to say. */
export function judgeStateKey(isKnown: boolean): Found | undefined {
  return isKnown ? undefined : otherStateKey
}

export const otherStateKey = wrong(
  mrkdwn`The process that started last with this ${code('REDIS_PREFIX')} signs with a key that this process does not have.`,
  mrkdwn`Give all processes the same ${code('STATE_KEY')}, or set another ${code('REDIS_PREFIX')} to start over.`,
)

/** This process starts no change. */
export const freezeOfOtherKey = wrong(unreadableFreeze, sameKey)

export async function readFreeze({ config, freezes, store }: App) {
  const [{ record, isUnreadable }, now] = await Promise.all([freezes.read(), store.now()])
  return { on: freezeOnAt({ record }, now), planned: freezeSetAt({ record }, now), isUnreadable, ofPolicy: freezesOnAt(config.policy, now) }
}
type FreezeFact = Awaited<ReturnType<typeof readFreeze>>

export const notFrozen = mrkdwn`None is on.`

/** `planned`: the same, also if it begins later. */
export function judgeFreeze({ on, planned, isUnreadable, ofPolicy }: FreezeFact): Found {
  const fix = mrkdwn`Find out what happened to Redis, then use the unfreeze command.`
  if (isUnreadable) return freezeOfOtherKey
  const policy = freezesOfPolicy(ofPolicy)
  if (!on) return ok(mrkdwn`${policy ?? notFrozen}${planned ? mrkdwn` Planned ${frozenWords(planned)}.` : ''}`)
  const words = mrkdwn`No change starts. Frozen ${frozenWords(on)}.${policy ? mrkdwn` ${policy}` : ''}`
  return on.because ? wrong(words, fix) : ok(words)
}

const clockMatters = {
  Slack: 'at 5 min, Lockkeeper refuses requests from Slack',
  Redis: 'deadlines use the clock of Redis',
} as const

export function judgeClock(aheadMs: number | undefined, other: keyof typeof clockMatters): Found {
  if (aheadMs === undefined) return unknown(mrkdwn`Couldn't compare with ${other}: no time in its answer.`)
  if (Math.abs(aheadMs) < clockWrongMs) return ok(mrkdwn`Same time as ${other}.`)
  const difference = `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`
  return wrong(
    mrkdwn`Lockkeeper's host is ${difference} (${clockMatters[other]}).`,
    mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host${other === 'Redis' ? ' and on the Redis host' : ''}.`,
  )
}

/** `overdueMs`: what was due so long ago counts as not done. `silenceMs`: a worker that did not report for so long does not run. */
export async function readWorkers({ store }: Pick<App, 'store'>, { overdueMs, silenceMs }: { overdueMs: number; silenceMs: number }) {
  const [seen, lastTickMs, overdue] = await Promise.all([store.workersSeen(silenceMs), store.sinceLastTickMs(), store.isOverdue(overdueMs)])
  return { seen, lastTickMs, overdue }
}

export function judgeWorkers({ seen, lastTickMs, overdue }: Awaited<ReturnType<typeof readWorkers>>): Found {
  if (seen === 0)
    return wrong(
      mrkdwn`None running. Approved requests aren't carried out, nothing is tracked and nothing expires.`,
      mrkdwn`Start a process with ${code('ROLE=worker')} or ${code('ROLE=all')}, and the same ${code('REDIS_URL')} and ${code('REDIS_PREFIX')}.`,
    )
  if (!overdue) return ok(mrkdwn`${seen} running.`)
  const lastTick = Number.isFinite(lastTickMs) ? mrkdwn`The last tick was ${ago(lastTickMs)}.` : mrkdwn`There was no tick yet.`
  return wrong(mrkdwn`${seen} running, but work is overdue. ${lastTick}`, mrkdwn`Restart the workers and check their log for the cause.`)
}
