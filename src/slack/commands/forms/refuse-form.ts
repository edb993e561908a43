import type { ModalView } from '@slack/web-api'
import type { Mrkdwn } from '../../text/text.ts'
import type { FieldProblems, SubmissionAnswer } from '../handlers.ts'

/** Refuses a form with everything that is wrong, so that one more try is enough. Returns undefined if no field has a problem. */
export function refuseForm(
  problems: Record<string, Mrkdwn | undefined>,
  again: (problem: Mrkdwn) => ModalView,
): SubmissionAnswer | undefined {
  const found: FieldProblems = {}
  for (const [blockId, problem] of Object.entries(problems)) if (problem !== undefined) found[blockId] = problem
  return Object.keys(found).length > 0 ? { is: 'refused', problems: found, again } : undefined
}
