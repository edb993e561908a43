import { reasonIn } from '../../slack/blocks/inputs.ts'
import type { Click, FormHandler, Submission, SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { readMetadata } from '../../slack/receive/payloads.ts'
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
      return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say why, so that the person who asked knows what to do.`, again }
    await decide.reject(request, submission.origin, reason)
    await home.show(submission.origin, undefined)
    return { is: 'accepted', words: mrkdwn`Rejected. The thread tells it to the person who asked.` }
  }

  async function submitBreakGlass(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requests.requestOfForm(metadata, submission)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) =>
      breakGlassForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    if (reason === undefined) return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say what cannot wait for another person.`, again }
    if (submission.values.confirmed !== 'yes') {
      return { is: 'refused', blockId: 'confirmed', problem: mrkdwn`Confirm that you approve what you asked for yourself.`, again }
    }
    await decide.breakGlass(request, submission.origin, reason)
    await home.show(submission.origin, undefined)
    return { is: 'accepted', words: mrkdwn`Approved by yourself. The channel is told, with your reason.` }
  }

  return { openReject, submitReject, submitBreakGlass }
}
