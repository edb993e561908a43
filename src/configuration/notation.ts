import { type ChangeKind, changeKinds } from '../domain/change.ts'
import { parseDuration } from '../domain/duration.ts'

/** How values are written, in variables and in the policy file alike. */

export const isPersonOrGroupId = (text: string): boolean => /^[UWS][A-Z0-9]{2,}$/.test(text)
export const isChannelId = (text: string): boolean => /^[CG][A-Z0-9]{2,}$/.test(text)
export const isKind = (text: string): text is ChangeKind => (changeKinds as readonly string[]).includes(text)

/** Timers hold no more. */
const longestMs = 24 * 86_400_000

export const durationWords = 'a duration such as 500ms, 5s, 15m or 4h, at most 24d'

/** In ms; undefined for what is not such a duration. */
export function readDuration(text: string): number | undefined {
  const ms = parseDuration(text)
  return ms !== undefined && ms <= longestMs ? ms : undefined
}

/** For errors. A value that looks like a token was put into the wrong place, and is not shown; long ones are cut. */
export function quote(text: string, longest = 40): string {
  return /^x(ox|app)|\bx(ox\w|app)-|:\/\//.test(text) ? 'the value that it has' : JSON.stringify(text.slice(0, longest))
}
