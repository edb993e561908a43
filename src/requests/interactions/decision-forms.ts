import { reasonIn } from '../../slack/blocks/reason-input.ts'
import type { Click, FormHandler, Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { readMetadata } from '../../slack/receive/metadata.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Catalog } from '../catalog.ts'
import type { Decide } from '../lifecycle/decide.ts'
import { breakGlassForm, rejectForm } from '../messages/forms.ts'
import type { GenuineRequest } from './genuine-request.ts'
import type { Home } from './home.ts'

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
    form: async (click) =>
      rejectForm({ origin: click.origin, extra: click.value }, catalog.sentenceOf(await requests.requestOfClick(click))),
    allow: async (click) => decide.mayReject(await requests.requestOfClick(click), click.origin),
  }

  async function submitReject(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const reason = reasonIn(submission.values)
    const request = await requests.requestOfForm(metadata, submission)
    const again = (problem: Mrkdwn) => rejectForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    if (reason === undefined)
      return { is: 'refused', blockId: 'reason', problem: mrkdwn`Enter a reason, so that the requester knows what to do.`, again }
    await decide.reject(request, submission.origin, reason)
    await home.show(submission.origin, undefined)
    return { is: 'accepted', words: mrkdwn`Rejected. The requester will see it in the thread.` }
  }

  async function submitBreakGlass(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requests.requestOfForm(metadata, submission)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) =>
      breakGlassForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    if (reason === undefined) return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say why this can't wait for an approver.`, again }
    if (submission.values.confirmed !== 'yes') {
      return { is: 'refused', blockId: 'confirmed', problem: mrkdwn`Confirm that you approve your own request.`, again }
    }
    await decide.breakGlass(request, submission.origin, reason)
    await home.show(submission.origin, undefined)
    return { is: 'accepted', words: mrkdwn`You approved your own request. The channel sees your reason.` }
  }

  return { openReject, submitReject, submitBreakGlass }
}
