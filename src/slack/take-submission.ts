import type { AckFn, ViewResponseAction } from '@slack/bolt'
import type { z } from 'zod'
import type { Origin } from '../domain/origin.ts'
import type { AnswerTo } from './answering.ts'
import { interimWords } from './errors.ts'
import type { Explain } from './explain.ts'
import { type Authorize, handlerOf, type Interactions } from './interaction.ts'
import { keepForm } from './keep-form.ts'
import type { Messenger } from './messenger.ts'
import { notice, noticeView } from './notice.ts'
import { chosenOf, deliveryKey, readMetadata, type SubmissionPayload, valuesOf } from './payloads.ts'
import { inTime } from './prompt-answer.ts'
import type { Untaken } from './read-payload.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from './text.ts'

const outOfDate = mrkdwn`This form is out of date, so nothing was sent. Copy what you need, close it and run the command again.`

const unreadableForm: Untaken = { kind: 'view_submission', why: 'unreadable', members: ['view.private_metadata'] }
const unknownForm: Untaken = { kind: 'view_submission', why: 'unheard', members: ['view.callback_id'] }

interface TakeSubmissionParts {
  interactions: Pick<Interactions, 'submissions'>
  authorize: Authorize
  messenger: Pick<Messenger, 'updateView'>
  answerTo: AnswerTo
  explain: Explain
  /** Hears of forms whose id is not known, or that carry along nothing that can be read. */
  onUntaken: (untaken: Untaken) => void
}

/** Takes a submitted form: the acknowledgement says what becomes of it where the answer comes in time, else the form is updated later. */
export function createTakeSubmission({ interactions, authorize, messenger, answerTo, explain, onUntaken }: TakeSubmissionParts) {
  return async function takeSubmission(payload: z.infer<typeof SubmissionPayload>, ack: AckFn<ViewResponseAction>): Promise<void> {
    const { view } = payload
    const metadata = readMetadata(view.private_metadata)
    const handle = handlerOf(interactions.submissions, view.callback_id)
    if (!handle || !metadata) {
      await ack(keepForm(view, outOfDate))
      onUntaken(handle ? unreadableForm : unknownForm)
      return
    }
    const origin: Origin = { ...metadata.origin, userId: payload.user.id }
    const submission = {
      deliveryKey: deliveryKey('submission', payload.user.id, view.id, view.hash),
      origin,
      answer: answerTo({ origin, responseUrl: metadata.responseUrl }),
      callbackId: view.callback_id,
      viewId: view.id,
      metadata: view.private_metadata,
      values: valuesOf(view.state),
      chosen: chosenOf(view.state),
    }
    const work = authorize(origin, `submission ${view.callback_id}`).then(() => handle(submission))
    const first = await inTime(
      work.catch((error) => ({ is: 'broken' as const, problem: explain(error, `submission ${view.callback_id}`) })),
    )
    if (first.is === 'late') {
      await ack({ response_action: 'update', view: noticeView(interimWords) })
      const late = await first.work
      const after =
        late.is === 'accepted' ? noticeView(late.words) : late.is === 'refused' ? late.again(late.problem) : noticeView(late.problem)
      const updated = await messenger.updateView(view.id, after)
      // The person has closed the modal meanwhile, or Slack did not take it: they are told all the same.
      if (updated.is !== 'sent') await submission.answer.whisper(notice(late.is === 'accepted' ? late.words : late.problem))
      return
    }
    const outcome = first.value
    if (outcome.is === 'accepted') await ack()
    else if (outcome.is === 'refused' && hasMarkup(outcome.problem))
      await ack({ response_action: 'update', view: outcome.again(outcome.problem) })
    else if (outcome.is === 'refused') await ack({ response_action: 'errors', errors: { [outcome.blockId]: toPlainText(outcome.problem) } })
    else await ack({ response_action: 'update', view: noticeView(outcome.problem) })
  }
}

/** Mentions and other markup do not work in the text of a field. */
function hasMarkup(words: Mrkdwn): boolean {
  return /<[^>]*>/.test(words.text)
}
