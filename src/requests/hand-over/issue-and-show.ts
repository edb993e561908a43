import type { Audit } from '../../audit/intake.ts'
import { inLane } from '../../domain/account/lane.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Finding } from '../../domain/change/finding.ts'
import type { Handover, Issued } from '../../domain/change/handover.ts'
import type { RetractedBecause } from '../../domain/change/retraction.ts'
import { AccountLimitError, certainlyNotApplied } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import type { Request } from '../../domain/request/request.ts'
import type { Timings } from '../../domain/timings.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { ShowSecret } from '../../slack/web-api/show-secret.ts'
import { notConfirmed, nothingMade, notRecorded, pressAgain, tookTooLong } from '../messages/handover.ts'
import { explain, unappliedCause } from '../messages/refusals/causes.ts'
import { answerOf, createAnswerRecorder } from '../reconcile/execute/api-answer.ts'
import type { NoteOf } from '../store/request-note.ts'
import type { Store } from '../store/store.ts'
import { type RecordDeadline, recordShown, type ShownResult } from './record-shown.ts'

export interface IssueAndShowParts {
  store: Store
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  showSecret: ShowSecret
  onApiError: (error: unknown) => void
  onError: (error: unknown) => void
  timings: Timings
}

/** A request whose step `issue` this process took. */
interface Claimed {
  request: Request
  change: Change
  handover: Handover<unknown, unknown>
  input: unknown
  /** The account at the repeated preflight check. */
  facts: unknown
  /** The time before the step, in ms of `performance.now()`. */
  startedAt: number
  recordBy: RecordDeadline
}

/**
 * Creates the function that sends the write and shows the secret once. If the requester may not have seen the secret, it is made worthless:
 * here, or by the worker that next observes the request.
 */
export function createIssueAndShow({ store, audit, noteOf, showSecret, onApiError, onError, timings }: IssueAndShowParts) {
  return async function issueAndShow(claimed: Claimed, click: Click): Promise<void> {
    const { request, handover, input, facts, startedAt } = claimed
    const recorder = createAnswerRecorder()
    const issued = await issue(request, () => handover.issue(input, facts, { onAnswer: recorder.onAnswer }), click)
    if (!issued) return
    if (performance.now() - startedAt >= timings.handoverMs / 2) return retract(claimed, issued, 'too-slow', click)
    const words = { heading: mrkdwn`*${issued.heading}*`, note: mrkdwn`${issued.note}` }
    const place = { responseUrl: click.responseUrl, channelId: click.origin.channelId, userId: click.origin.userId }
    const shown = await showSecret(place, words, issued.secret)
    if (shown === 'undelivered') return retract(claimed, issued, 'not-shown', click)
    const answer = recorder.answer()
    await endShown(claimed, { resourceId: issued.id, ...(answer ? { answer } : {}) }, click)
  }

  /** Sends the write. Returns undefined if there is nothing to show; the requester has then got an explanation. */
  async function issue(request: Request, write: () => Promise<Issued>, click: Click): Promise<Issued | undefined> {
    try {
      return await write()
    } catch (error) {
      const answer = answerOf(error)
      if (error instanceof AccountLimitError) {
        // The request is as before the press. Nothing is made later by itself.
        await store.take(request, 'limit', { dueInMs: 0, ...(answer ? { audit: { answer } } : {}) })
        await click.answer.ephemeral(notice(pressAgain(error)))
        return undefined
      }
      onApiError(error)
      await audit.note(noteOf(request, 'answer', answer ? { answer } : {}))
      if (!certainlyNotApplied(error)) {
        await click.answer.ephemeral(notice(notConfirmed))
        return undefined
      }
      await endFailed(request, unappliedCause(error, 'not-made'))
      const words = toUserWords(error, nothingMade)
      if (words) await click.answer.ephemeral(notice(words))
      return undefined
    }
  }

  /** Ends a request whose secret was shown. Warns the requester if it is made worthless, or may be. */
  async function endShown({ request, recordBy }: Claimed, result: ShownResult, click: Click): Promise<void> {
    try {
      const recorded = await recordShown(store, request, result, recordBy)
      if (recorded === 'too-late') await click.answer.ephemeral(notice(tookTooLong))
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      onError(error)
      await click.answer.ephemeral(notice(notRecorded))
    }
  }

  /** Makes a secret worthless that was not shown, and ends its request. */
  async function retract({ request, change, handover }: Claimed, issued: Issued, because: RetractedBecause, click: Click): Promise<void> {
    try {
      await inLane('retract', () => handover.retract(issued))
    } catch (error) {
      // The request is due again soon. A worker then finds the secret and makes it worthless.
      onApiError(error)
      return
    }
    const cause = handover.retracted(issued, because)
    await endFailed(request, cause)
    const { why, next = 'Request it again.' } = explain(change, cause)
    await click.answer.ephemeral(notice(mrkdwn`${why} ${next}`))
  }

  async function endFailed(request: Request, cause: Finding): Promise<void> {
    await store.take(request, 'fail', { set: { causes: [cause] } })
  }
}
