import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Origin } from '../../domain/origin.ts'
import type { Request } from '../../domain/request.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { type Click, type FormHandler, handlerOf, type Submission, type SubmissionAnswer } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { readMetadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import type { Submit } from '../lifecycle/submit.ts'
import { requestAgainForm } from '../messages/forms.ts'
import { submittedWords } from '../messages/submitted.ts'
import { shortId } from '../messages/words.ts'
import type { GenuineRequest } from './genuine-request.ts'
import { submitFromForm } from './submit-from-slack.ts'

/** Renders the form of a kind of change, filled with what an earlier request had. */
export type FormAgain = (metadata: string, before: { input: unknown; facts: unknown; reason: string | undefined }) => ModalView

interface RequestAgainParts {
  submit: Submit
  requests: GenuineRequest
  catalog: Catalog
  access: Access
  /** The forms of the kinds that have one. */
  forms: Record<ChangeKind, FormAgain>
}

/** Creates the buttons that make another request from an ended one: the same change again, or the change that undoes it. */
export function createRequestAgain({ submit, requests, catalog, access, forms }: RequestAgainParts) {
  const openAgain: FormHandler<Click> = {
    reads: true,
    form: async (click) => {
      const request = await requests.requestOfClick(click)
      const { input, facts } = catalog.open(request)
      const { responseUrl } = click
      const metadata = {
        origin: originOf(click, request),
        ...(responseUrl ? { responseUrl } : {}),
        ...(request.fromMessage ? { message: request.fromMessage } : {}),
      }
      const formAgain = handlerOf(forms, request.kind)
      return formAgain
        ? formAgain(writeMetadata(metadata), { input, facts, reason: request.reason })
        : requestAgainForm({ ...metadata, extra: click.value }, catalog.sentenceOf(request))
    },
    allow: async (click) => {
      const request = await requests.requestOfClick(click)
      await access.gateForm(originOf(click, request), request.kind)
    },
  }

  /** Submits the form for a kind of change that has no form of its own. */
  async function submitAgain(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requests.requestOfForm(metadata, submission)
    const { change, input } = catalog.open(request)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) =>
      requestAgainForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    return submitFromForm(submit, submission, { change, input, reason, blockId: 'reason', again })
  }

  /** Submits the change that undoes a request. The person who clicks is its requester, and it needs approval like any other. */
  async function reverse(request: Request, click: Click): Promise<void> {
    const { change, input, latest } = catalog.open(request)
    const back = change.reverse?.(input, latest)
    if (!back) throw new Refusal(mrkdwn`This cannot be undone from here. Ask for what you want with the command.`)
    const origin = originOf(click, request)
    const reason = `Undoes request ${shortId(request)}.`
    const outcome = await submit({ change, input: back.input, origin, reason, deliveryKey: click.deliveryKey })
    if (outcome.is === 'card-delayed') await click.answer.ephemeral(notice(submittedWords(outcome)))
  }

  return { openAgain, submitAgain, reverse }
}

/** Returns the origin of a request that a click makes: the person who clicked, with the channel and the command of the earlier request. */
function originOf(click: Click, request: Request): Origin {
  const { channelId, command } = request.origin
  return { ...click.origin, channelId, command }
}
