import { ApiContractError, ApiError, StoreUnavailableError, writeRefusalOf } from '../domain/errors.ts'
import { formatDuration } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, toPlainText } from '../slack/text.ts'

/** What a check found. `words`: what is so. `fix`: what to do. Both are sentences, without secrets. */
export interface Found {
  is: 'ok' | 'wrong' | 'unknown'
  words: Mrkdwn
  fix?: Mrkdwn | undefined
}

export const ok = (words: Mrkdwn): Found => ({ is: 'ok', words })
export const wrong = (words: Mrkdwn, fix: Mrkdwn): Found => ({ is: 'wrong', words, fix })
export const unknown = (words: Mrkdwn, fix?: Mrkdwn): Found => ({ is: 'unknown', words, fix })

/** For a log, a page or a terminal. */
export function plainWords({ words, fix }: Found): string {
  return toPlainText(joinMrkdwn([words, ...(fix ? [fix] : [])], ' '))
}

export interface Unread {
  is: 'unreadable'
  why: string
}

export function isUnread<T>(fact: T | Unread): fact is Unread {
  return typeof fact === 'object' && fact !== null && 'is' in fact && fact.is === 'unreadable'
}

export const factTimeoutMs = 1_500

/** After a process was blocked, its timers run before the answers that have arrived meanwhile. */
const arrivedMs = 200

/** Returns the fact, or why it is unavailable. Never throws. */
export async function readFact<T>(work: () => Promise<T>): Promise<T | Unread> {
  const late: Unread = { is: 'unreadable', why: `no answer within ${factTimeoutMs / 1_000} s` }
  try {
    const running = work()
    const read = await withinOr(factTimeoutMs, running, late)
    return read === late ? await withinOr(arrivedMs, running, late) : read
  } catch (error) {
    return { is: 'unreadable', why: whyNot(error) }
  }
}

/** Uses Lockkeeper's own words, because the messages of errors may name hosts or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) {
    if (error.code === undefined) return "Redis isn't responding"
    return writeRefusalOf(error.code) ? `Redis refuses writes (${error.code})` : `Redis refused the command (${error.code})`
  }
  if (error instanceof ApiError) return `the account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return 'the account API returned an unreadable answer'
  return 'no answer'
}

export function listOf(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

export function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}
