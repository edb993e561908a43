import type { Audit } from '../../audit/intake.ts'
import type { Change, Handover, Issued } from '../../domain/change.ts'
import { certainlyNotApplied, StoreUnavailableError } from '../../domain/errors.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Request } from '../../domain/request.ts'
import type { RetractedBecause } from '../../domain/retraction.ts'
import type { Timings } from '../../domain/timings.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { Click } from '../../slack/commands/handlers.ts'
import { toUserWords } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text/text.ts'
import type { ShowSecret } from '../../slack/web-api/show-secret.ts'
import { explain, unappliedCause } from '../messages/causes.ts'
import { answerOf, createAnswerRecorder } from '../reconcile/api-answer.ts'
import { noteOf, type Store } from '../store/store.ts'
import { noteShown, type ShownResult, type TakenBackFrom } from './note-shown.ts'

const tookTooLong = mrkdwn`It took too long until you were shown this, so I make it worthless: do not use it. The thread tells when that is done, and what to do next.`

const notNoted = mrkdwn`I cannot reach my memory (Redis), and do not know whether I noted that you were shown this. If I did not, it is made worthless: do not use it unless the thread says that it is done.`

const notConfirmed = mrkdwn`The account API did not confirm it, so I do not know whether it took effect. I look for it, make worthless what nobody has seen, and tell you in the thread.`

export interface IssueAndShowParts {
  store: Store
  audit: Pick<Audit, 'note'>
  showSecret: ShowSecret
  onApiError: (error: unknown) => void
  onError: (error: unknown) => void
  timings: Timings
}

/** A request that is this process's to carry out, for so long. */
export interface Claimed {
  request: Request
  change: Change
  handover: Handover<unknown, unknown>
  input: unknown
  /** The account as it was looked at just before. */
  facts: unknown
  /** Before the claim, in ms of `performance.now()`. */
  startedAt: number
  takenBackFrom: TakenBackFrom
}

/** The write, and the one showing of what it made. Whatever is not certainly seen is taken back, here or by whoever looks next. */
export function createIssueAndShow({ store, audit, showSecret, onApiError, onError, timings }: IssueAndShowParts) {
  return async function issueAndShow(claimed: Claimed, click: Click): Promise<void> {
    const { request, handover, input, facts, startedAt } = claimed
    const recorder = createAnswerRecorder()
    const issued = await issue(request, () => handover.issue(input, facts, { onAnswer: recorder.onAnswer }), click)
    if (!issued) return
    if (performance.now() - startedAt >= timings.handoverMs / 2) return takeBack(claimed, issued, 'too-slow', click)
    const words = { heading: mrkdwn`*${issued.heading}*`, note: mrkdwn`${issued.note}` }
    const place = { responseUrl: click.responseUrl, channelId: click.origin.channelId, userId: click.origin.userId }
    const shown = await showSecret(place, words, issued.secret)
    if (shown === 'undelivered') return takeBack(claimed, issued, 'not-shown', click)
    const answer = recorder.answer()
    await endShown(claimed, { resourceId: issued.id, ...(answer ? { answer } : {}) }, click)
  }

  /** The write. Undefined when there is nothing to show; then the record and the person are told. */
  async function issue(request: Request, write: () => Promise<Issued>, click: Click): Promise<Issued | undefined> {
    try {
      return await write()
    } catch (error) {
      onApiError(error)
      const answer = answerOf(error)
      await audit.note(noteOf(request, 'answer', answer ? { answer } : {}))
      if (!certainlyNotApplied(error)) {
        await click.answer.ephemeral(notice(notConfirmed))
        return undefined
      }
      await endFailed(request, unappliedCause(error, 'not-made'))
      const words = toUserWords(error)
      if (words) await click.answer.ephemeral(notice(mrkdwn`${words} Nothing was made.`))
      return undefined
    }
  }

  /** Whoever was shown it is told where it does not stay, or may not. */
  async function endShown({ request, takenBackFrom }: Claimed, result: ShownResult, click: Click): Promise<void> {
    try {
      const noted = await noteShown(store, request, result, takenBackFrom)
      if (noted === 'too-late') await click.answer.ephemeral(notice(tookTooLong))
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      onError(error)
      await click.answer.ephemeral(notice(notNoted))
    }
  }

  async function takeBack({ request, change, handover }: Claimed, issued: Issued, because: RetractedBecause, click: Click): Promise<void> {
    try {
      await handover.retract(issued)
    } catch (error) {
      // The due set comes back to it: `observe` finds what was issued and takes it back.
      onApiError(error)
      return
    }
    const cause = handover.retracted(issued, because)
    await endFailed(request, cause)
    const { why, next = 'Ask for it again.' } = explain(change, cause)
    await click.answer.ephemeral(notice(mrkdwn`${why} ${next}`))
  }

  async function endFailed(request: Request, cause: Finding): Promise<void> {
    await store.take(request, 'fail', { set: { causes: [cause] } })
  }
}
