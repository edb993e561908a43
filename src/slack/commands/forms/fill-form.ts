import type { ModalView } from '@slack/web-api'
import { withinOr } from '../../../domain/within.ts'
import { toUserWords } from '../../errors.ts'
import { truncate } from '../../text/cut-text.ts'
import { code, type Mrkdwn, mrkdwn } from '../../text/text.ts'

/** A trigger expires after 3 s, and the authorization needs a part of it. */
const fillWithinMs = 1_200

/**
 * Makes a form that is filled with what was typed. If these words cannot be looked up in time, or are unknown, the form opens empty and
 * says why.
 */
export async function fillForm<Filled>(
  typed: string,
  lookUp: Promise<Filled>,
  view: (filled: Filled | { problem: Mrkdwn }) => ModalView,
): Promise<ModalView> {
  const shown = code(truncate(typed, 80, 'plain'))
  const late = { problem: mrkdwn`Couldn't look up ${shown} in time. Choose it below.` }
  try {
    return view(await withinOr(fillWithinMs, lookUp, late))
  } catch (error) {
    const problem = toUserWords(error)
    if (problem === undefined) throw error
    // Words that do not name it are about the account API, and the form opens without it.
    return view({ problem: problem.text.includes(typed) ? problem : mrkdwn`${problem} You typed ${shown}.` })
  }
}
