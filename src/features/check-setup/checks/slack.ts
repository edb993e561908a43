import { isUnavailable, type SetupFacts, type Unavailable } from '../facts.ts'
import { type CheckResult, ok, subjects, unavailable, unknown, wrong } from './result.ts'
import * as say from './slack-words.ts'

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
