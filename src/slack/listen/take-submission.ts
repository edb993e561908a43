import { randomUUID } from 'node:crypto'
import type { AckFn, ViewResponseAction } from '@slack/bolt'
import type { ModalView } from '@slack/web-api'
import type { z } from 'zod'
import type { Origin } from '../../domain/approval/origin.ts'
import { within } from '../../domain/within.ts'
import { notice, noticeView } from '../blocks/notice.ts'
import { type Authorize, handlerOf, type InteractionHandlers, type SubmissionAnswer } from '../commands/handlers.ts'
import { keepForm } from '../receive/keep-form.ts'
import { readMetadata } from '../receive/metadata.ts'
import { chosenOf, deliveryKey, type SubmissionPayload, tickedOf, valuesOf } from '../receive/payloads.ts'
import type { UnhandledPayload } from '../receive/read-payload.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, toPlainText } from '../text/text.ts'
import type { Messenger } from '../web-api/messenger.ts'
import type { AnswerTo } from './answering.ts'
import type { Explain } from './explain.ts'
import { interimAfterMs, interimWords } from './interim-answer.ts'
import { hasToken, tokenAdvice } from './refuse-tokens.ts'

const outOfDate = mrkdwn`This form is out of date, so nothing was sent. Copy what you need, close it and run the command again.`

const alreadySent = mrkdwn`This form was already sent, so it wasn't sent again.`

const unreadableForm: UnhandledPayload = { kind: 'view_submission', why: 'unreadable', members: ['view.private_metadata'] }
const unknownForm: UnhandledPayload = { kind: 'view_submission', why: 'no-listener', members: ['view.callback_id'] }

interface TakeSubmissionParts {
  handlers: Pick<InteractionHandlers, 'submissions'>
  authorize: Authorize
  messenger: Pick<Messenger, 'updateView'>
  answerTo: AnswerTo
  /** The duplicate check: whether this submission is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  explain: Explain
  /** Adds the operators' channel and the slash command to words that go out with the acknowledgement. */
  withNames: (words: Mrkdwn) => Mrkdwn
  /** Is called for every form whose id is unknown or whose metadata cannot be read. */
  onUnhandled: (unhandled: UnhandledPayload) => void
}

/**
 * Handles a submitted form. A result within 2 s goes out with the acknowledgement. Otherwise an interim answer replaces the form, and the
 * result replaces the interim answer.
 */
export function createTakeSubmission({
  handlers,
  authorize,
  messenger,
  answerTo,
  isFirstDelivery,
  explain,
  withNames,
  onUnhandled,
}: TakeSubmissionParts) {
  /**
   * Checks for a replay. A refused form can be sent again with the same id and hash, so only the trigger distinguishes the two. A submission
   * without a trigger counts as new.
   */
  function isFirst({ user, view, trigger_id: triggerId }: z.infer<typeof SubmissionPayload>): Promise<boolean> {
    return isFirstDelivery(deliveryKey('submission', user.id, view.id, view.hash, triggerId || randomUUID()))
  }

  function named(outcome: Outcome): Outcome {
    if (outcome.is === 'broken') return { ...outcome, problem: withNames(outcome.problem) }
    return outcome.is === 'refused' ? { ...outcome, problems: mapValues(outcome.problems, withNames) } : outcome
  }

  return async function takeSubmission(payload: z.infer<typeof SubmissionPayload>, ack: AckFn<ViewResponseAction>): Promise<void> {
    const { view } = payload
    const metadata = readMetadata(view.private_metadata)
    const handle = handlerOf(handlers.submissions, view.callback_id)
    if (!handle || !metadata) {
      await ack(keepForm(view, outOfDate))
      onUnhandled(handle ? unreadableForm : unknownForm)
      return
    }
    const values = valuesOf(view.state)
    const withToken = Object.keys(values).find((block) => hasToken(values[block] ?? ''))
    if (withToken !== undefined) {
      await ack({ response_action: 'errors', errors: { [withToken]: toPlainText(tokenAdvice) } })
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
      blocks: view.blocks,
      values,
      chosen: chosenOf(view.state),
      ticked: tickedOf(view.state),
    }
    const at = `submission ${view.callback_id}`
    const work: Promise<Outcome> = isFirst(payload)
      .then(async (first): Promise<Outcome> => {
        if (!first) return { is: 'broken', problem: alreadySent }
        await authorize(origin, at)
        return handle(submission)
      })
      .catch((error): Outcome => ({ is: 'broken', problem: explain(error, at) }))
      .then(named)
    const first = await within(interimAfterMs, work)
    if (first.is === 'ready') {
      await ack(responseTo(first.value, { seesChannel: metadata.responseUrl !== undefined }))
      return
    }
    await ack({ response_action: 'update', view: noticeView(interimWords) })
    const late = await first.work
    const updated = await messenger.updateView(view.id, lateView(late))
    // If the person closed the modal, or Slack refused the update, the result must still reach them. The next form is none.
    if (updated.is === 'sent' || late.is === 'next') return
    await submission.answer.ephemeral(notice(late.is === 'accepted' ? late.words : problemOf(late)))
  }
}

type Outcome = SubmissionAnswer | { is: 'broken'; problem: Mrkdwn }

/**
 * Puts an outcome into the acknowledgement. An empty one closes the form. `seesChannel`: the form was opened by a command or a button in a
 * channel, where the person sees what follows.
 */
function responseTo(outcome: Outcome, { seesChannel }: { seesChannel: boolean }): ViewResponseAction | undefined {
  if (outcome.is === 'accepted') {
    return seesChannel || outcome.title === undefined
      ? undefined
      : { response_action: 'update', view: noticeView(outcome.words, outcome.title) }
  }
  if (outcome.is === 'next') return { response_action: 'update', view: outcome.view }
  if (outcome.is === 'broken') return { response_action: 'update', view: noticeView(outcome.problem) }
  if (Object.values(outcome.problems).some(hasMarkup)) return { response_action: 'update', view: outcome.again(problemOf(outcome)) }
  return { response_action: 'errors', errors: mapValues(outcome.problems, toPlainText) }
}

/** Makes the view that shows an outcome after the acknowledgement. */
function lateView(outcome: Outcome): ModalView {
  if (outcome.is === 'next') return outcome.view
  if (outcome.is === 'refused') return outcome.again(problemOf(outcome))
  return outcome.is === 'accepted' ? noticeView(outcome.words, outcome.title) : noticeView(outcome.problem)
}

/** Returns everything that is wrong, in one text. */
function problemOf(outcome: Outcome & { is: 'refused' | 'broken' }): Mrkdwn {
  return outcome.is === 'broken' ? outcome.problem : joinMrkdwn(Object.values(outcome.problems), ' ')
}

function mapValues<From, To>(values: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))
}

/** Whether words contain mentions or links, which Slack would not render in the error at a field. */
function hasMarkup(words: Mrkdwn): boolean {
  return /<[^>]*>/.test(words.text)
}
