import type { Mrkdwn } from '../../../slack/text/text.ts'
import { isUnavailable, type SetupFacts } from '../facts.ts'
import * as say from './operation-words.ts'
import { type CheckResult, ok, subjects, unavailable, unknown, wrong } from './result.ts'

/** A clock that is off by this much is reported. Slack's signatures fail at five minutes. */
const clockWrongMs = 30_000

export function redis({ redis: reading }: SetupFacts): CheckResult {
  const what = subjects.redis
  if (isUnavailable(reading)) return unknown(what, unavailable(reading.unavailable))
  if ('silent' in reading) return wrong(what, say.redis.silent, say.redis.fixSilent)
  if ('lacksRight' in reading) return wrong(what, say.redis.lacksRight(reading.lacksRight), say.redis.fixFaulty([reading.lacksRight.fix]))
  const { faults, refusal } = reading
  if (refusal) return wrong(what, say.redis.refuses(refusal), say.redis.fixFaulty([refusal.fix, ...faults]))
  return faults.length > 0 ? wrong(what, say.redis.faulty, say.redis.fixFaulty(faults)) : ok(what, say.redis.keeps)
}

export function clock({ clock: { ofSlackMs, ofRedisMs } }: SetupFacts): CheckResult {
  const what = subjects.clock
  const offs: { other: string; aheadMs: number }[] = []
  const notCompared: Mrkdwn[] = []
  for (const [other, aheadMs] of [
    ['Slack', ofSlackMs],
    ['Redis', ofRedisMs],
  ] as const) {
    if (isUnavailable(aheadMs)) notCompared.push(say.clock.unknown(other, aheadMs.unavailable))
    else if (aheadMs === undefined) notCompared.push(say.clock.unknown(other, 'no time in its answer'))
    else offs.push({ other, aheadMs })
  }
  const off = offs.filter(({ aheadMs }) => Math.abs(aheadMs) >= clockWrongMs)
  if (off.length > 0) return wrong(what, say.clock.wrong(off), say.clock.fix(off.map(({ other }) => other)))
  const right = offs.map(({ other }) => other)
  return notCompared.length > 0 ? unknown(what, say.clock.partly(right, notCompared)) : ok(what, say.clock.right(right))
}

export function workers({ workers: reading, redis: ofRedis }: SetupFacts): CheckResult {
  const what = subjects.workers
  if ('refusal' in ofRedis) return unknown(what, say.workers.unseen('refuses writes'), say.workers.fixUnseen)
  if ('lacksRight' in ofRedis) return unknown(what, say.workers.unseen("refuses Lockkeeper's user"), say.workers.fixUnseen)
  if (isUnavailable(reading)) return unknown(what, unavailable(reading.unavailable))
  const { seen, lastTickMs, overdue } = reading
  if (seen === 0) return wrong(what, say.workers.none, say.workers.fixNone)
  return overdue ? wrong(what, say.workers.stuck(seen, lastTickMs), say.workers.fixStuck) : ok(what, say.workers.atWork(seen))
}
