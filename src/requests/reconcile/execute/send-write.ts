import type { ApiAnswer } from '../../../audit/entry.ts'
import type { Finding } from '../../../domain/change/finding.ts'
import { AccountLimitError, ApiError, certainlyNotApplied } from '../../../domain/errors/api-errors.ts'
import type { Opened } from '../../catalog.ts'
import { unappliedCause } from '../../messages/refusals/causes.ts'
import { answerOf, createAnswerRecorder } from './api-answer.ts'

/** What is recorded of the answer to a write. */
export interface WriteOutcomes {
  /** The answer confirms the change. */
  finish(answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API accepted the change, which takes effect now. */
  accept(answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API refused the change. */
  fail(cause: Finding, answer: ApiAnswer | undefined): Promise<unknown>
  /** The write certainly did not reach the account API. */
  notStart(cause: Finding, answer: ApiAnswer | undefined): Promise<unknown>
  /** The account API refused the write because of its limit. It was not carried out, and is sent again at its next turn. */
  limited(waitMs: number, answer: ApiAnswer | undefined): Promise<unknown>
  /** Nobody knows whether the write took effect. */
  unclear(answer: ApiAnswer | undefined): Promise<unknown>
}

/** Sends the one write of a change and records the answer. */
export async function sendWrite(
  { change, input }: Opened,
  facts: unknown,
  outcomes: WriteOutcomes,
  onApiError: (error: unknown) => void,
): Promise<void> {
  const recorder = createAnswerRecorder()
  try {
    const outcome = await change.run?.(input, facts, { onAnswer: recorder.onAnswer })
    if (outcome === 'done') await outcomes.finish(recorder.answer())
    else await outcomes.accept(recorder.answer())
  } catch (error) {
    const answer = answerOf(error)
    if (error instanceof AccountLimitError) return void (await outcomes.limited(error.waitMs, answer))
    onApiError(error)
    if (!certainlyNotApplied(error)) await outcomes.unclear(answer)
    else if (error instanceof ApiError) await outcomes.fail(unappliedCause(error, 'not-changed'), answer)
    else await outcomes.notStart(unappliedCause(error, 'not-sent'), answer)
  }
}
