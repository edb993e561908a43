import { suggestNames } from '../../domain/nearest.ts'
import { withinOr } from '../../domain/within.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../text/text.ts'

interface UnknownName {
  /** What was looked for: `API key`. */
  what: string
  typed: string
  /** The names of everything that it could be. */
  known: string[]
  /** The command that lists them: `/infra keys`. */
  list?: string | undefined
}

/** Says that there is nothing of this name, and suggests the names that were probably meant. */
export function unknownName({ what, typed, known, list }: UnknownName): Mrkdwn {
  const near = suggestNames(known, typed).map(code)
  const suggestion = near.length > 0 ? mrkdwn` Did you mean ${joinMrkdwn(near, ' or ')}?` : mrkdwn``
  const see = list === undefined ? mrkdwn`` : mrkdwn` See ${code(list)}.`
  return mrkdwn`No ${what} ${code(typed)}.${suggestion}${see}`
}

/** How long suggestions may take. Nobody waits long for them. */
const suggestWithinMs = 2_000

/** Reads the names for suggestions. Returns none if they cannot be read soon: the answer is right without them. */
export async function namesSoon(read: Promise<(string | undefined)[]>): Promise<string[]> {
  const names = await withinOr(suggestWithinMs, read, []).catch(() => [])
  return names.filter((name) => name !== undefined)
}
