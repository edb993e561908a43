import { UnknownName } from '../../../domain/errors/errors.ts'
import { suggestNames } from '../../../domain/text/nearest.ts'
import { withinOr } from '../../../domain/within.ts'
import { Refusal } from '../../errors.ts'
import { truncate } from '../../text/cut-text.ts'
import { alternatives, code, type Mrkdwn, mrkdwn } from '../../text/text.ts'

/** Where the names for suggestions come from, and the command that lists them: `/infra keys`. */
export interface NameSource {
  names: () => Promise<(string | undefined)[]>
  list: string
}

/** The longest wait for suggestions. The answer is right without them. */
const suggestWithinMs = 2_000

/** Says that nothing has this name, or why nothing can have it, and suggests names that were probably meant. */
function unknownName({ what, typed, problem }: UnknownName, known: (string | undefined)[], list: string): Mrkdwn {
  const names = known.filter((name) => name !== undefined)
  const near = suggestNames(names, typed).map(code)
  const suggestion = near.length > 0 ? mrkdwn` Did you mean ${alternatives(near)}?` : mrkdwn``
  const shown = code(truncate(typed, 80, 'plain'))
  const unknown = problem === undefined ? mrkdwn`No ${what} ${shown}.` : mrkdwn`${shown} ${truncate(problem, 200, 'plain')}`
  return mrkdwn`${unknown}${suggestion} See ${code(list)}.`
}

/**
 * Waits for work that looks up typed names. If one is unknown, throws a Refusal with suggestions. `sources` has a source for each kind of
 * thing.
 */
export async function withSuggestions<T>(work: Promise<T>, sources: Record<string, NameSource>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const source = error instanceof UnknownName ? sources[error.what] : undefined
    if (!(error instanceof UnknownName) || !source) throw error
    const names = await withinOr(suggestWithinMs, source.names(), []).catch(() => [])
    throw new Refusal(unknownName(error, names, source.list))
  }
}
