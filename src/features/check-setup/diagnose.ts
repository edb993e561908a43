import type { Mrkdwn } from '../../slack/text/text.ts'
import { isUnanswered, type SetupFacts } from './facts.ts'
import * as say from './messages.ts'
import { troubleOf } from './unreachable.ts'

/** One line of the answer. `mend`: what to do, where something is wrong. */
export interface Finding {
  is: 'ok' | 'wrong' | 'unknown'
  what: string
  words: Mrkdwn
  mend?: Mrkdwn
}

/** Those of the manifest that the bot cannot do without; a test compares. */
export const neededScopes = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read', 'groups:read']
export const optionalScopes = ['channels:history', 'groups:history']

/** Slack refuses what is five minutes off; from here on something is wrong with the clock. */
const clockWrongMs = 30_000

/** What is right and what is wrong with a set-up, in the order of the parts. Pure. */
export function diagnose(facts: SetupFacts): Finding[] {
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

function ok(what: string, words: Mrkdwn): Finding {
  return { is: 'ok', what, words }
}

function wrong(what: string, words: Mrkdwn, mend: Mrkdwn): Finding {
  return { is: 'wrong', what, words, mend }
}

function unknown(what: string, words: Mrkdwn, mend?: Mrkdwn): Finding {
  return { is: 'unknown', what, words, ...(mend ? { mend } : {}) }
}

function slack({ slack: reading }: SetupFacts): Finding {
  const what = subjects.slack
  if (isUnanswered(reading)) return wrong(what, say.slack.silent(reading.unanswered), say.slack.mendSilent)
  if (reading.is === 'silent') return wrong(what, say.slack.silent(reading.problem), say.slack.mendSilent)
  if (reading.is === 'rejects') return wrong(what, say.slack.rejects(reading.error), say.slack.mendRejects)
  return ok(what, say.slack.answers(reading.afterMs))
}

function grantedScopes({ slack: reading }: SetupFacts): string[] | undefined {
  return !isUnanswered(reading) && reading.is === 'answers' ? reading.scopes : undefined
}

function missing(wanted: string[], granted: string[]): string[] {
  return wanted.filter((scope) => !granted.includes(scope))
}

function scopes(facts: SetupFacts): Finding {
  const what = subjects.scopes
  const granted = grantedScopes(facts)
  if (!granted) return unknown(what, say.scopes.untold)
  const lacking = missing(neededScopes, granted)
  if (lacking.length > 0) return wrong(what, say.scopes.missing(lacking), say.manifest.mend)
  const declined = missing(optionalScopes, granted)
  return ok(what, declined.length > 0 ? say.scopes.declined(declined) : say.scopes.all)
}

function manifest(facts: SetupFacts): Finding {
  const what = subjects.manifest
  const { home } = facts
  const granted = grantedScopes(facts)
  const lacksScopes = granted !== undefined && missing(neededScopes, granted).length > 0
  const homeIsOff = typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled'
  if (lacksScopes || homeIsOff) return wrong(what, say.manifest.older({ lacksScopes, homeIsOff }), say.manifest.mend)
  if (isUnanswered(home)) return unknown(what, say.unknown(home.unanswered))
  if (home !== 'shown') return unknown(what, say.manifest.homeRefused(home.refused))
  return granted ? ok(what, say.manifest.present) : unknown(what, say.scopes.untold)
}

function buttons({ lastHeardMs, usesSockets }: SetupFacts): Finding {
  const what = subjects.buttons
  if (isUnanswered(lastHeardMs)) return unknown(what, say.unknown(lastHeardMs.unanswered))
  if (lastHeardMs.click !== undefined) return ok(what, say.buttons.worked(lastHeardMs.click))
  return unknown(what, say.buttons.neverHeard, say.buttons.mend(usesSockets))
}

function pickers({ lastHeardMs, usesSockets }: SetupFacts): Finding {
  const what = subjects.pickers
  if (isUnanswered(lastHeardMs)) return unknown(what, say.unknown(lastHeardMs.unanswered))
  if (lastHeardMs.options !== undefined) return ok(what, say.pickers.worked(lastHeardMs.options))
  return unknown(what, say.pickers.neverHeard, say.pickers.mend(usesSockets))
}

/** Those that are alike in one line: a policy may name many. */
function channels({ channels: all }: SetupFacts): Finding[] {
  const what = subjects.channels
  const alike = new Map<string, Finding>()
  for (const { membership } of all) {
    const key = JSON.stringify(membership)
    if (alike.has(key)) continue
    const ids = all.filter((other) => JSON.stringify(other.membership) === key).map(({ id }) => id)
    if (isUnanswered(membership)) alike.set(key, unknown(what, say.channels.untold(ids, membership.unanswered)))
    else if (membership.is === 'unreadable') alike.set(key, unknown(what, say.channels.untold(ids, membership.why)))
    else if (membership.is === 'absent') alike.set(key, wrong(what, say.channels.absent(ids), say.channels.mendAbsent))
    else if (membership.is === 'archived') alike.set(key, wrong(what, say.channels.archived(ids), say.channels.mendArchived))
    else alike.set(key, ok(what, say.channels.member(ids)))
  }
  return [...alike.values()]
}

function groups({ groups: all }: SetupFacts): Finding[] {
  const what = subjects.groups
  const filled: { id: string; members: number }[] = []
  const others: Finding[] = []
  for (const { id, decides, reading } of all) {
    if (isUnanswered(reading)) {
      others.push(unknown(what, say.groups.untold(id, reading.unanswered)))
    } else if (reading.is === 'unreadable') {
      others.push(wrong(what, say.groups.unreadable(id, reading.why, decides), say.groups.mendUnreadable(reading.why)))
    } else if (reading.members === 0) {
      others.push(wrong(what, say.groups.empty(id, decides), say.groups.mendEmpty))
    } else {
      filled.push({ id, members: reading.members })
    }
  }
  return [...(filled.length > 0 ? [ok(what, say.groups.members(filled))] : []), ...others]
}

function redis({ redis: reading }: SetupFacts): Finding {
  const what = subjects.redis
  if (isUnanswered(reading)) return unknown(what, say.unknown(reading.unanswered))
  if ('silent' in reading) return wrong(what, say.redis.silent, say.redis.mendSilent)
  return reading.faults.length > 0 ? wrong(what, say.redis.faulty, say.redis.mendFaulty(reading.faults)) : ok(what, say.redis.keeps)
}

function accountApi({ accountApi: reading }: SetupFacts): Finding[] {
  const { api, key } = subjects
  if (isUnanswered(reading)) return [unknown(api, say.unknown(reading.unanswered))]
  switch (reading.is) {
    case 'unreachable': {
      const trouble = troubleOf(reading.problem)
      return [wrong(api, say.api.unreachable(trouble, reading.problem), say.api.mendUnreachable(trouble))]
    }
    case 'fails':
      return [wrong(api, say.api.fails(reading.status), say.api.mendFails(reading.status))]
    case 'rejects':
      return [ok(api, say.api.answers), wrong(key, say.key.rejected(reading.status), say.key.mendRejected(reading.status))]
    case 'lacks-feature':
      return [ok(api, say.api.answers), unknown(key, say.key.lacksFeature, say.key.mendLacksFeature)]
    case 'answers': {
      const { known, name, readOnly } = reading
      if (!known) return [ok(api, say.api.answers), unknown(key, say.key.unlisted)]
      if (readOnly === undefined) return [ok(api, say.api.answers), unknown(key, say.key.untold(name))]
      return [ok(api, say.api.answers), readOnly ? wrong(key, say.key.readOnly(name), say.key.mendReadOnly) : ok(key, say.key.full(name))]
    }
  }
}

function clock({ clock: { ofSlackMs, ofRedisMs } }: SetupFacts): Finding {
  const what = subjects.clock
  const offs: { other: string; aheadMs: number }[] = []
  const untold: Mrkdwn[] = []
  for (const [other, aheadMs] of [
    ['Slack', ofSlackMs],
    ['Redis', ofRedisMs],
  ] as const) {
    if (isUnanswered(aheadMs)) untold.push(say.clock.untold(other, aheadMs.unanswered))
    else if (aheadMs === undefined) untold.push(say.clock.untold(other, 'its answer does not tell'))
    else offs.push({ other, aheadMs })
  }
  const off = offs.filter(({ aheadMs }) => Math.abs(aheadMs) >= clockWrongMs)
  if (off.length > 0) return wrong(what, say.clock.wrong(off), say.clock.mend(off.map(({ other }) => other)))
  const right = offs.map(({ other }) => other)
  return untold.length > 0 ? unknown(what, say.clock.partly(right, untold)) : ok(what, say.clock.right(right))
}

function workers({ workers: reading }: SetupFacts): Finding {
  const what = subjects.workers
  if (isUnanswered(reading)) return unknown(what, say.unknown(reading.unanswered))
  const { seen, lastTickMs, overdue } = reading
  if (seen === 0) return wrong(what, say.workers.none, say.workers.mendNone)
  return overdue ? wrong(what, say.workers.stuck(seen, lastTickMs), say.workers.mendStuck) : ok(what, say.workers.atWork(seen))
}
