import { connectionProblemOf } from '../domain/errors.ts'
import { channelMention, code, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { type AccountApiReading, isUnavailable, type SetupFacts, type Unavailable } from './doctor-facts.ts'
import * as say from './doctor-words.ts'
import { listOf } from './doctor-words.ts'

/** One line of the report. `fix` says what to do. */
export interface CheckResult {
  is: 'ok' | 'wrong' | 'unknown'
  what: string
  words: Mrkdwn
  fix?: Mrkdwn
}

/** The beginning of each line. */
export const subjects = {
  slack: 'Slack',
  scopes: 'Slack scopes',
  manifest: 'App manifest',
  command: 'Command',
  buttons: 'Buttons',
  pickers: 'Pickers',
  channels: 'Channels',
  notices: 'Notices',
  groups: 'User groups',
  alerts: 'Alerts',
  redis: 'Redis',
  api: 'Account API',
  key: 'API key',
  readKey: 'Read-only key',
  limits: 'Limits',
  policy: 'Policy',
  elasticIps: 'Elastic IPs',
  clock: 'Clock',
  workers: 'Workers',
} as const

/** The words for a fact that could not be read. */
export const unavailable = (why: string) => mrkdwn`Couldn't check: ${why}.`

export function ok(what: string, words: Mrkdwn): CheckResult {
  return { is: 'ok', what, words }
}

export function wrong(what: string, words: Mrkdwn, fix: Mrkdwn): CheckResult {
  return { is: 'wrong', what, words, fix }
}

export function unknown(what: string, words: Mrkdwn, fix?: Mrkdwn): CheckResult {
  return { is: 'unknown', what, words, ...(fix ? { fix } : {}) }
}

type Answer = Extract<AccountApiReading, { is: 'answers' }>

/** Warns of ids in the policy that may be mistyped. Left out if a list cannot be read: the check of the account API says why. */
export function policy({ idsUnseen }: SetupFacts): CheckResult[] {
  if (isUnavailable(idsUnseen) || idsUnseen.length === 0) return []
  return [unknown(subjects.policy, say.policy.unseen(listOf(idsUnseen.map((id) => code(id)))), say.policy.fix)]
}

/** Counts BGP addresses. Left out where there are none, or where the list cannot be read: the check of the account API says why. */
export function elasticIps({ elasticIps: count }: SetupFacts): CheckResult[] {
  return isUnavailable(count) || count.bgp === 0 ? [] : [ok(subjects.elasticIps, say.elasticIps(count))]
}

export function accountApi({ accountApi: reading }: SetupFacts): CheckResult[] {
  const { api, key } = subjects
  if (isUnavailable(reading)) return [unknown(api, unavailable(reading.unavailable))]
  switch (reading.is) {
    case 'unreachable': {
      const problem = connectionProblemOf(reading.problem)
      return [
        wrong(api, say.api.unreachable(problem, reading.problem), say.api.fixUnreachable(problem)),
        unknown(key, say.key.notReachable),
      ]
    }
    case 'fails':
      return [wrong(api, say.api.fails(reading.status), say.api.fixFails(reading.status)), unknown(key, say.key.notAsked)]
    case 'rejects':
      return [ok(api, say.api.answers), wrong(key, say.key.rejected(reading), say.key.fixRejected(reading))]
    case 'limited':
      return [unknown(api, say.api.limited(reading)), unknown(key, say.key.limited)]
    case 'lacks-feature':
      return [ok(api, say.api.answers), unknown(key, say.key.lacksFeature, say.key.fixLacksFeature)]
    case 'answers':
      return [ok(api, say.api.answers), ownKey(reading.own), ...(reading.readKey ? [readKey(reading.readKey)] : [])]
  }
}

function ownKey(own: Answer['own']): CheckResult {
  const { key } = subjects
  if (own.is !== 'listed') return own.is === 'not-set' ? ok(key, say.key.notSet) : unknown(key, say.key.unlisted)
  const { name, readOnly } = own
  if (readOnly === undefined) return unknown(key, say.key.unknown(name))
  return readOnly ? wrong(key, say.key.readOnly(name), say.key.fixReadOnly) : ok(key, say.key.full(name))
}

function readKey({ problem, name }: NonNullable<Answer['readKey']>): CheckResult {
  return problem ? wrong(subjects.readKey, say.readKey.problems[problem], say.readKey.fix) : ok(subjects.readKey, say.readKey.fits(name))
}

/** Says what the account allows, and what was used in the last minute. */
export function limits({ limits: { perMinute, hasReadKey, used } }: SetupFacts): CheckResult {
  const allowed = say.limits.allowed(perMinute, hasReadKey)
  if (isUnavailable(used)) return unknown(subjects.limits, mrkdwn`${allowed} ${unavailable(used.unavailable)}`)
  return ok(subjects.limits, mrkdwn`${allowed} ${say.limits.used(used)}`)
}

/**
 * Checks whether alerts lead to requests. No line if alerts are not set up. Another check finds whether Lockkeeper is in their channels.
 */
export function alerts({ alerts: { isOn, routes } }: SetupFacts): CheckResult[] {
  const what = subjects.alerts
  const entries = listOf(routes.map(({ name, channelId }) => mrkdwn`“${name}” in ${channelMention(channelId)}`))
  if (isOn && routes.length > 0) return [ok(what, mrkdwn`On. They can request evacuations: ${entries}.`)]
  if (isOn)
    return [wrong(what, mrkdwn`On, but no entry of the policy is for them.`, mrkdwn`Add ${code('alerts')} to ${code('POLICY_FILE')}.`)]
  if (routes.length === 0) return []
  return [
    wrong(what, mrkdwn`Off, although the policy has entries: ${entries}.`, mrkdwn`Set ${code('ALERTS_PORT')} and ${code('ALERTS_TOKEN')}.`),
  ]
}

/** Puts channels with the same result into one line, because a policy may name many. */
export function channels({ channels: all }: SetupFacts): CheckResult[] {
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

/** Notices to the operators have a separate line, because nobody sees that they are missing. */
export function notices({ opsChannel }: SetupFacts): CheckResult[] {
  if (!opsChannel) return []
  const what = subjects.notices
  const { id, membership } = opsChannel
  if (isUnavailable(membership)) return [unknown(what, say.notices.unknown(id, membership.unavailable))]
  switch (membership.is) {
    case 'unreadable':
      return [unknown(what, say.notices.unknown(id, membership.why))]
    case 'absent':
      return [wrong(what, say.notices.absent(id), say.notices.fixAbsent)]
    case 'archived':
      return [wrong(what, say.notices.archived(id), say.notices.fixArchived)]
    case 'member':
      return [ok(what, say.notices.member(id))]
  }
}

export function groups({ groups: all }: SetupFacts): CheckResult[] {
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

/** The scopes in the manifest that Lockkeeper cannot work without. A test compares them with manifest.yml. */
export const neededScopes = ['commands', 'chat:write', 'users:read', 'usergroups:read', 'channels:read', 'groups:read']
export const optionalScopes = ['channels:history', 'groups:history']

export function slack({ slack: reading }: SetupFacts): CheckResult {
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

export function scopes(facts: SetupFacts): CheckResult {
  const what = subjects.scopes
  const granted = grantedScopes(facts)
  if (!granted) return unknown(what, say.scopes.unknown)
  const lacking = missing(neededScopes, granted)
  if (lacking.length > 0) return wrong(what, say.scopes.missing(lacking), say.manifest.fix)
  const declined = missing(optionalScopes, granted)
  return ok(what, declined.length > 0 ? say.scopes.declined(declined) : say.scopes.all)
}

export function manifest(facts: SetupFacts): CheckResult {
  const what = subjects.manifest
  const { home } = facts
  const granted = grantedScopes(facts)
  const lacksScopes = granted !== undefined && missing(neededScopes, granted).length > 0
  const homeIsOff = typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled'
  if (lacksScopes || homeIsOff) return wrong(what, say.manifest.older({ lacksScopes, homeIsOff }), say.manifest.fix)
  if (isUnavailable(home)) return unknown(what, unavailable(home.unavailable))
  if (home !== 'shown') return unknown(what, say.manifest.homeRefused(home.refused))
  return granted ? ok(what, say.manifest.present) : unknown(what, say.scopes.unknown)
}

/** An app can have several commands, so another one than the configured one need not be a mistake. */
export function command({ command: { used, configured } }: SetupFacts): CheckResult[] {
  return used === configured ? [] : [unknown(subjects.command, say.command.other(used, configured), say.command.fix(used, configured))]
}

export function buttons({ lastReceivedMs, usesSockets }: SetupFacts): CheckResult {
  return arrival(subjects.buttons, isUnavailable(lastReceivedMs) ? lastReceivedMs : lastReceivedMs.click, say.buttons, usesSockets)
}

export function pickers({ lastReceivedMs, usesSockets }: SetupFacts): CheckResult {
  return arrival(subjects.pickers, isUnavailable(lastReceivedMs) ? lastReceivedMs : lastReceivedMs.options, say.pickers, usesSockets)
}

/** Clicks and option loads arrive at different addresses, so each is checked by the time at which one last arrived. */
function arrival(
  what: string,
  agoMs: number | undefined | Unavailable,
  words: typeof say.buttons | typeof say.pickers,
  usesSockets: boolean,
): CheckResult {
  if (isUnavailable(agoMs)) return unknown(what, unavailable(agoMs.unavailable))
  return agoMs === undefined ? unknown(what, words.neverReceived, words.fix(usesSockets)) : ok(what, words.worked(agoMs))
}
