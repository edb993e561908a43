import type { ModalView } from '@slack/web-api'
import { ListCutError } from '../../../domain/errors/list-errors.ts'
import { withinOr } from '../../../domain/within.ts'
import { toUserWords } from '../../errors.ts'
import type { Command, GivenWords } from '../commands.ts'

/** How long a failed read may still change an open form. Later the person is filling it in, and its pickers say the same. */
const warnWithinMs = 1_000

/**
 * Reads what the pickers of an open form will need. If that fails at once, returns the same form with the reason on top, so that nobody
 * starts to fill in what cannot be requested. Returns undefined for a form that was filled with typed words, because it has read the lists.
 */
export async function warnIfUnread(
  { form, prepare }: { form: NonNullable<Command['form']>; prepare: Command['prepare'] | undefined },
  metadata: string,
  given: GivenWords,
): Promise<ModalView | undefined> {
  // Errors without words are left to the pickers, which read again and report them.
  const unread = prepare?.().then(
    () => undefined,
    (error: unknown) => (error instanceof ListCutError ? undefined : toUserWords(error)),
  )
  if (!unread || given.args.length > 0) return undefined
  const problem = await withinOr(warnWithinMs, unread, undefined)
  return problem && form(metadata, { ...given, problem })
}
