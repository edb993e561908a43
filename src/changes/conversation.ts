import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../domain/change.ts'
import type { Origin } from '../domain/origin.ts'
import type { Request } from '../domain/request.ts'
import { input, plainTextInput, wholeSection } from '../slack/blocks.ts'
import { Refusal } from '../slack/errors.ts'
import type { OpenForm } from '../slack/form.ts'
import type { Click, Interactions, Submission, SubmissionAnswer } from '../slack/interaction.ts'
import { modal } from '../slack/modal.ts'
import { notice } from '../slack/notice.ts'
import { type Metadata, readMetadata, writeMetadata } from '../slack/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Access } from './access.ts'
import { staleCard, unknownRequest } from './answers.ts'
import type { Ask } from './ask.ts'
import { cardButtons, rejectCallbackId } from './buttons.ts'
import type { Catalog } from './catalog.ts'
import type { Decide } from './decide.ts'
import type { HandOver } from './hand-over.ts'

/** The form of a kind of change, filled with what was asked for before. Pure. */
export type FormAgain = (metadata: string, before: { input: unknown; facts: unknown; reason: string | undefined }) => ModalView

interface ConversationParts {
  decide: Decide
  handOver: HandOver
  ask: Ask
  catalog: Catalog
  access: Access
  openForm: OpenForm
  forms: Partial<Record<ChangeKind, FormAgain>>
}

/** What the buttons of a card do, for every kind of change. */
export function createConversation({
  decide,
  handOver,
  ask,
  catalog,
  access,
  openForm,
  forms,
}: ConversationParts): Pick<Interactions, 'clicks' | 'submissions'> {
  /** The request of a button, if the button is where it belongs: a copy of a card elsewhere decides nothing. */
  async function requestOf(click: Click): Promise<Request> {
    const request = await decide.find(click.value)
    const elsewhere =
      click.origin.channelId !== request.origin.channelId || (request.cardTs !== undefined && click.messageTs !== request.cardTs)
    if (elsewhere) throw new Refusal(staleCard)
    return request
  }

  async function approve(click: Click): Promise<void> {
    await decide.approve(await requestOf(click), click.origin.userId)
  }

  async function openReject(click: Click): Promise<void> {
    const form = rejectForm({ origin: click.origin, extra: click.value })
    await openForm(click.triggerId, form, async () => decide.mayReject(await requestOf(click), click.origin.userId))
  }

  async function submitReject(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const reason = submission.values.reason?.trim() ?? ''
    const again = (problem: Mrkdwn) => rejectForm(metadata ?? { origin: submission.origin }, problem, reason)
    if (reason === '')
      return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say why, so that the person who asked knows what to do.`, again }
    if (!metadata?.extra) throw new Refusal(unknownRequest)
    await decide.reject(await decide.find(metadata.extra), submission.origin.userId, reason)
    return { is: 'accepted', words: mrkdwn`Rejected. The thread tells it to the person who asked.` }
  }

  async function withdraw(click: Click): Promise<void> {
    await decide.withdraw(await requestOf(click), click.origin.userId)
  }

  async function take(click: Click): Promise<void> {
    await handOver(await requestOf(click), click)
  }

  async function askAgain(click: Click): Promise<void> {
    const request = await requestOf(click)
    const { input, facts } = catalog.open(request)
    const formAgain = forms[request.kind]
    if (!formAgain) throw new Refusal(mrkdwn`There is no form for this kind of change. Ask again with the command.`)
    const metadata = writeMetadata({ origin: originOf(click, request), ...(click.responseUrl ? { responseUrl: click.responseUrl } : {}) })
    await openForm(click.triggerId, formAgain(metadata, { input, facts, reason: request.reason }), () =>
      access.gate(click.origin, 'request'),
    )
  }

  /** Asks for the change that undoes this one: a request of its own, by whoever presses, approved like any other. */
  async function reverse(click: Click): Promise<void> {
    const request = await requestOf(click)
    const { change, input, latest } = catalog.open(request)
    const back = change.reverse?.(input, latest)
    if (!back) throw new Refusal(mrkdwn`This cannot be undone from here. Ask for what you want with the command.`)
    const origin = originOf(click, request)
    const reason = `Undoes request ${request.id.slice(0, 8)}.`
    const { is } = await ask({ change, input: back.input, origin, reason, deliveryKey: click.deliveryKey })
    if (is === 'card-delayed')
      await click.answer.whisper(notice(mrkdwn`Recorded. Slack has not confirmed the card yet; it appears here as soon as it does.`))
  }

  return {
    clicks: {
      [cardButtons.approve]: approve,
      [cardButtons.reject]: openReject,
      [cardButtons.withdraw]: withdraw,
      [cardButtons.take]: take,
      [cardButtons.again]: askAgain,
      [cardButtons.reverse]: reverse,
    },
    submissions: { [rejectCallbackId]: submitReject },
  }
}

function rejectForm(metadata: Metadata, problem?: Mrkdwn, entered?: string): ModalView {
  return modal({
    callbackId: rejectCallbackId,
    title: 'Reject the request',
    submit: 'Reject',
    metadata: writeMetadata(metadata),
    blocks: [
      ...(problem ? wholeSection(mrkdwn`:warning: ${problem}`) : []),
      input({
        blockId: 'reason',
        label: 'Reason',
        hint: 'The person who asked is told this in the thread.',
        element: plainTextInput({ actionId: 'reason', multiline: true, maxLength: 500, ...(entered ? { initialValue: entered } : {}) }),
      }),
    ],
  })
}

/** Whoever clicks asks, where they click, with the command's name as it was used then. */
function originOf(click: Click, request: Request): Origin {
  return { ...click.origin, command: request.origin.command }
}
