import type { Mrkdwn } from '../../slack/text/text.ts'
import { connectionProblemOf } from './connection-problem.ts'
import { isUnavailable, type SetupFacts, type Unavailable } from './facts.ts'
import * as say from './messages.ts'

/** One line of the report. `fix` says what to do. */
export interface CheckResult {
  is: 'ok' | 'wrong' | 'unknown'
  what: string
  words: Mrkdwn
  fix?: Mrkdwn
}

/** The scopes in the manifest that Lockkeeper cannot work without. A test compares them with manifest.yml. */
export const neededScopes = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read', 'groups:read']
export const optionalScopes = ['channels:history', 'groups:history']

/** A clock that is off by this much is reported. Slack's signatures fail at five minutes. */
const clockWrongMs = 30_000

/** Checks each part of a set-up, in a fixed order. */
export function diagnose(facts: SetupFacts): CheckResult[] {
  return [
    slack(facts),
    scopes(facts),
    manifest(facts),
    buttons(facts),
    pickers(facts),
    ...channels(facts),
    ...groups(facts),
    redis(facts),
    ...accountApi(facts),
    clock(facts),
    workers(facts),
  ]
}

const { subjects } = say

function ok(what: string, words: Mrkdwn): CheckResult {
  return { is: 'ok', what, words }
}

function wrong(what: string, words: Mrkdwn, fix: Mrkdwn): CheckResult {
  return { is: 'wrong', what, words, fix }
}

function unknown(what: string, words: Mrkdwn, fix?: Mrkdwn): CheckResult {
  return { is: 'unknown', what, words, ...(fix ? { fix } : {}) }
}

function slack({ slack: reading }: SetupFacts): CheckResult {
  const what = subjects.slack
  if (isUnavailable(reading)) return wrong(what, say.slack.silent(reading.unavailable), say.slack.fixSilent)
  if (reading.is === 'silent') return wrong(what, say.slack.silent(reading.problem), say.slack.fixSilent)
  if (reading.is === 'rejects') return wrong(what, say.slack.rejects(reading.error), say.slack.fixRejects)
  return ok(what, say.slack.answers(reading.afterMs))
}

function grantedScopes({ slack: reading }: SetupFacts): string[] | undefined {
  return !isUnavailable(reading) && reading.is === 'answers' ? reading.scopes : undefined
}

function missing(wanted: string[], granted: string[]): string[] {
  return wanted.filter((scope) => !granted.includes(scope))
}

function scopes(facts: SetupFacts): CheckResult {
  const what = subjects.scopes
  const granted = grantedScopes(facts)
  if (!granted) return unknown(what, say.scopes.unknown)
  const lacking = missing(neededScopes, granted)
  if (lacking.length > 0) return wrong(what, say.scopes.missing(lacking), say.manifest.fix)
  const declined = missing(optionalScopes, granted)
  return ok(what, declined.length > 0 ? say.scopes.declined(declined) : say.scopes.all)
}

function manifest(facts: SetupFacts): CheckResult {
  const what = subjects.manifest
  const { home } = facts
  const granted = grantedScopes(facts)
  const lacksScopes = granted !== undefined && missing(neededScopes, granted).length > 0
  const homeIsOff = typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled'
  if (lacksScopes || homeIsOff) return wrong(what, say.manifest.older({ lacksScopes, homeIsOff }), say.manifest.fix)
  if (isUnavailable(home)) return unknown(what, say.unknown(home.unavailable))
  if (home !== 'shown') return unknown(what, say.manifest.homeRefused(home.refused))
  return granted ? ok(what, say.manifest.present) : unknown(what, say.scopes.unknown)
}

function buttons({ lastReceivedMs, usesSockets }: SetupFacts): CheckResult {
  return arrival(subjects.buttons, isUnavailable(lastReceivedMs) ? lastReceivedMs : lastReceivedMs.click, say.buttons, usesSockets)
}

function pickers({ lastReceivedMs, usesSockets }: SetupFacts): CheckResult {
  return arrival(subjects.pickers, isUnavailable(lastReceivedMs) ? lastReceivedMs : lastReceivedMs.options, say.pickers, usesSockets)
}

/** Clicks and option loads arrive at addresses of their own, so each is checked by when one last arrived. */
function arrival(
  what: string,
  agoMs: number | undefined | Unavailable,
  words: typeof say.buttons | typeof say.pickers,
  usesSockets: boolean,
): CheckResult {
  if (isUnavailable(agoMs)) return unknown(what, say.unknown(agoMs.unavailable))
  return agoMs === undefined ? unknown(what, words.neverReceived, words.fix(usesSockets)) : ok(what, words.worked(agoMs))
}

/** Puts channels with the same result into one line, because a policy may name many. */
function channels({ channels: all }: SetupFacts): CheckResult[] {
  const what = subjects.channels
  const alike = new Map<string, CheckResult>()
  for (const { membership } of all) {
    const key = JSON.stringify(membership)
    if (alike.has(key)) continue
    const ids = all.filter((other) => JSON.stringify(other.membership) === key).map(({ id }) => id)
    if (isUnavailable(membership)) alike.set(key, unknown(what, say.channels.unknown(ids, membership.unavailable)))
    else if (membership.is === 'unreadable') alike.set(key, unknown(what, say.channels.unknown(ids, membership.why)))
    else if (membership.is === 'absent') alike.set(key, wrong(what, say.channels.absent(ids), say.channels.fixAbsent))
    else if (membership.is === 'archived') alike.set(key, wrong(what, say.channels.archived(ids), say.channels.fixArchived))
    else alike.set(key, ok(what, say.channels.member(ids)))
  }
  return [...alike.values()]
}

function groups({ groups: all }: SetupFacts): CheckResult[] {
  const what = subjects.groups
  const filled: { id: string; members: number }[] = []
  const others: CheckResult[] = []
  for (const { id, decides, reading } of all) {
    if (isUnavailable(reading)) {
      others.push(unknown(what, say.groups.unknown(id, reading.unavailable)))
    } else if (reading.is === 'unreadable') {
      others.push(wrong(what, say.groups.unreadable(id, reading.why, decides), say.groups.fixUnreadable(reading.why)))
    } else if (reading.members === 0) {
      others.push(wrong(what, say.groups.empty(id, decides), say.groups.fixEmpty))
    } else {
      filled.push({ id, members: reading.members })
    }
  }
  return [...(filled.length > 0 ? [ok(what, say.groups.members(filled))] : []), ...others]
}

function redis({ redis: reading }: SetupFacts): CheckResult {
  const what = subjects.redis
  if (isUnavailable(reading)) return unknown(what, say.unknown(reading.unavailable))
  if ('silent' in reading) return wrong(what, say.redis.silent, say.redis.fixSilent)
  return reading.faults.length > 0 ? wrong(what, say.redis.faulty, say.redis.fixFaulty(reading.faults)) : ok(what, say.redis.keeps)
}

function accountApi({ accountApi: reading }: SetupFacts): CheckResult[] {
  const { api, key } = subjects
  if (isUnavailable(reading)) return [unknown(api, say.unknown(reading.unavailable))]
  switch (reading.is) {
    case 'unreachable': {
      const problem = connectionProblemOf(reading.problem)
      return [wrong(api, say.api.unreachable(problem, reading.problem), say.api.fixUnreachable(problem))]
    }
    case 'fails':
      return [wrong(api, say.api.fails(reading.status), say.api.fixFails(reading.status))]
    case 'rejects':
      return [ok(api, say.api.answers), wrong(key, say.key.rejected(reading.status), say.key.fixRejected(reading.status))]
    case 'lacks-feature':
      return [ok(api, say.api.answers), unknown(key, say.key.lacksFeature, say.key.fixLacksFeature)]
    case 'answers': {
      const { known, name, readOnly } = reading
      if (!known) return [ok(api, say.api.answers), unknown(key, say.key.unlisted)]
      if (readOnly === undefined) return [ok(api, say.api.answers), unknown(key, say.key.unknown(name))]
      return [ok(api, say.api.answers), readOnly ? wrong(key, say.key.readOnly(name), say.key.fixReadOnly) : ok(key, say.key.full(name))]
    }
  }
}

function clock({ clock: { ofSlackMs, ofRedisMs } }: SetupFacts): CheckResult {
  const what = subjects.clock
  const offs: { other: string; aheadMs: number }[] = []
  const notCompared: Mrkdwn[] = []
  for (const [other, aheadMs] of [
    ['Slack', ofSlackMs],
    ['Redis', ofRedisMs],
  ] as const) {
    if (isUnavailable(aheadMs)) notCompared.push(say.clock.unknown(other, aheadMs.unavailable))
    else if (aheadMs === undefined) notCompared.push(say.clock.unknown(other, 'its answer does not tell'))
    else offs.push({ other, aheadMs })
  }
  const off = offs.filter(({ aheadMs }) => Math.abs(aheadMs) >= clockWrongMs)
  if (off.length > 0) return wrong(what, say.clock.wrong(off), say.clock.fix(off.map(({ other }) => other)))
  const right = offs.map(({ other }) => other)
  return notCompared.length > 0 ? unknown(what, say.clock.partly(right, notCompared)) : ok(what, say.clock.right(right))
}

function workers({ workers: reading }: SetupFacts): CheckResult {
  const what = subjects.workers
  if (isUnavailable(reading)) return unknown(what, say.unknown(reading.unavailable))
  const { seen, lastTickMs, overdue } = reading
  if (seen === 0) return wrong(what, say.workers.none, say.workers.fixNone)
  return overdue ? wrong(what, say.workers.stuck(seen, lastTickMs), say.workers.fixStuck) : ok(what, say.workers.atWork(seen))
}
