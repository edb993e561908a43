import { formatDuration } from '../../../domain/text/duration.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'

/** Joins parts as in a sentence: `a, b and c`. */
export function listOf(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

/** Says how long ago something was. `ms` is in milliseconds. */
export function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}
