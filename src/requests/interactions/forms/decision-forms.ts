import { longestReason, visibleReason } from '../../../domain/policy/reason.ts'
import { reasonBlockId, reasonIn } from '../../../slack/blocks/reason-input.ts'
import { refuseForm } from '../../../slack/commands/forms/refuse-form.ts'
import type { Click, FormHandler, Submission, SubmissionAnswer } from '../../../slack/commands/handlers.ts'
import { readMetadata } from '../../../slack/receive/metadata.ts'
import { type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { Catalog } from '../../catalog.ts'
import type { Decide } from '../../lifecycle/decide/decide.ts'
import { breakGlassForm, rejectForm } from '../../messages/forms/forms.ts'
import { tooLongReason } from '../../messages/forms/submitted.ts'
import type { GenuineRequest } from '../genuine-request.ts'
import type { Home } from '../home.ts'

interface DecisionFormsParts {
  decide: Decide
  requests: GenuineRequest
  catalog: Catalog
  home: Pick<Home, 'show'>
}

/** Creates the forms that ask for the reason of a rejection and of an emergency approval. */
export function createDecisionForms({ decide, requests, catalog, home }: DecisionFormsParts) {
  const openReject: FormHandler<Click> = {
    // The form names what is rejected, so the request is read first.
    reads: true,
    form: async (click) => {
      const request = await requests.requestOfClick(click)
      // Requesters can't reject, so no form opens for them. They get the same ephemeral message as for *Approve*.
      if (click.origin.userId === request.origin.userId) await decide.mayReject(request, click.origin)
      return rejectForm({ origin: click.origin, extra: click.value }, catalog.titleOf(request))
    },
    allow: async (click) => decide.mayReject(await requests.requestOfClick(click), click.origin),
  }

  async function submitReject(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requests.requestOfForm(metadata, submission)
    const { reason, problem } = readReason(submission, mrkdwn`Enter a reason, so that the requester knows what to do.`)
    const again = (problem: Mrkdwn) =>
      rejectForm(metadata ?? { origin: submission.origin }, catalog.titleOf(request), problem, reason || undefined)
    if (problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
    await decide.reject(request, submission.origin, reason)
    await home.show(submission.origin)
    return { is: 'accepted', words: mrkdwn`Rejected. The requester will see it in the thread.` }
  }

  async function submitBreakGlass(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requests.requestOfForm(metadata, submission)
    const { reason, problem } = readReason(submission, mrkdwn`Say why this can't wait for an approver.`)
    const again = (problem: Mrkdwn) =>
      breakGlassForm(metadata ?? { origin: submission.origin }, catalog.titleOf(request), problem, reason || undefined)
    const confirmed = submission.ticked.confirmed?.includes('yes') ? undefined : mrkdwn`Tick this to approve your own request.`
    const refused = refuseForm({ [reasonBlockId]: problem, confirmed }, again)
    if (refused) return refused
    await decide.breakGlass(request, submission.origin, reason)
    await home.show(submission.origin)
    return { is: 'accepted', words: mrkdwn`You approved your own request. The channel sees your reason.` }
  }

  return { openReject, submitReject, submitBreakGlass }
}

/**
 * Reads the reason of a decision. `problem`: why it cannot be taken. A reason that is longer than a form takes would not fit into the messages that
 * have to show it.
 */
function readReason({ values }: Pick<Submission, 'values'>, missing: Mrkdwn): { reason: string; problem: Mrkdwn | undefined } {
  const reason = visibleReason(reasonIn(values)) ?? ''
  if (reason === '') return { reason, problem: missing }
  return { reason, problem: reason.length > longestReason ? tooLongReason(reason.length) : undefined }
}
