import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { ButtonDenial } from '../../domain/denial.ts'
import type { Origin } from '../../domain/origin.ts'
import { isGenuine } from '../../domain/payload.ts'
import type { Request } from '../../domain/request.ts'
import { reasonIn } from '../../slack/blocks/inputs.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { OpenForm } from '../../slack/commands/form.ts'
import {
  type Click,
  type FormHandler,
  handlerOf,
  type InteractionHandlers,
  type Submission,
  type SubmissionAnswer,
} from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { type Metadata, readMetadata, writeMetadata } from '../../slack/receive/payloads.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import type { HandOver } from '../hand-over/hand-over.ts'
import type { Decide } from '../lifecycle/decide.ts'
import type { Submit } from '../lifecycle/submit.ts'
import { askAgainCallbackId, belongsTo, breakGlassCallbackId, cardButtons, readButton, rejectCallbackId } from '../messages/buttons.ts'
import { askAgainForm, breakGlassForm, rejectForm } from '../messages/forms.ts'
import { counted } from '../messages/refusals.ts'
import { submittedWords } from '../messages/submitted.ts'
import { shortId } from '../messages/words.ts'
import { submitFromForm } from './submit-from-slack.ts'

/** The form of a kind of change, filled with what was asked for before. Pure. */
export type FormAgain = (metadata: string, before: { input: unknown; facts: unknown; reason: string | undefined }) => ModalView

interface CardButtonsParts {
  decide: Decide
  handOver: HandOver
  submit: Submit
  catalog: Catalog
  access: Access
  openForm: OpenForm
  /** Shows somebody's Home tab as it is now. */
  refreshHome: (viewer: Origin) => Promise<void>
  /** Hears of a record that is not what was asked for any more. */
  onChanged: (request: Request) => void
  forms: Record<ChangeKind, FormAgain>
}

/** What the buttons of a card do, for every kind of change, on the card itself and on the Home tab. */
export function createCardButtons({
  decide,
  handOver,
  submit,
  catalog,
  access,
  openForm,
  refreshHome,
  onChanged,
  forms,
}: CardButtonsParts): Pick<InteractionHandlers, 'clicks' | 'submissions'> {
  /**
   * The request of a button, if the button is where it belongs and was made for it: a copy of a card elsewhere, or a button with
   * another request's name, decides nothing.
   */
  async function requestOf(click: Click): Promise<Request> {
    const request = await genuine(click.value, click.origin, click.actionId)
    const onCard =
      click.origin.channelId === request.origin.channelId && (request.cardTs === undefined || click.messageTs === request.cardTs)
    if (!onCard && !click.onHome) throw await refused(click.origin, click.actionId, request, 'stale-card')
    return request
  }

  /** The request that a button or a form names, where it was made for it as it is. */
  async function genuine(value: string, origin: Origin, at: string): Promise<Request> {
    const button = readButton(value)
    if (!button) throw await refused(origin, at, undefined, 'foreign-button')
    const request = await decide.find(button.id)
    if (!request) throw await refused(origin, at, undefined, 'unknown-request')
    if (!belongsTo(button, request)) throw await refused(origin, at, request, 'foreign-button')
    if (!isGenuine(request)) {
      onChanged(request)
      throw await refused(origin, at, request, 'changed-record')
    }
    return request
  }

  /** `at`: the id of the button or the form. */
  function refused(origin: Origin, at: string, request: Request | undefined, code: ButtonDenial['code']): Promise<Refusal> {
    return access.refuse(origin, { to: at, request }, { code })
  }

  /** A button that does its work and, where it stands on the Home tab, shows there what became of it. */
  function button(work: (request: Request, click: Click) => Promise<void>) {
    return async (click: Click): Promise<void> => {
      try {
        await work(await requestOf(click), click)
      } finally {
        if (click.onHome) await refreshHome(click.origin)
      }
    }
  }

  async function approve(request: Request, click: Click): Promise<void> {
    const { origin } = click
    if (origin.userId === request.origin.userId && access.ruleOf(request)?.breakGlass) {
      await decide.mayBreakGlass(request, origin)
      await openForm(click.triggerId, breakGlassForm({ origin, extra: click.value }, catalog.sentenceOf(request)), async () => {})
      return
    }
    const { missing, needed } = await decide.approve(request, origin)
    if (missing > 0) await click.answer.ephemeral(notice(counted({ missing, needed })))
  }

  const openReject: FormHandler<Click> = {
    form: ({ origin, value }) => rejectForm({ origin, extra: value }),
    allow: async (click) => decide.mayReject(await requestOf(click), click.origin),
  }

  async function submitReject(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) => rejectForm(metadata ?? { origin: submission.origin }, problem, reason)
    if (reason === undefined)
      return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say why, so that the person who asked knows what to do.`, again }
    await decide.reject(await requestIn(metadata, submission), submission.origin, reason)
    await refreshHome(submission.origin)
    return { is: 'accepted', words: mrkdwn`Rejected. The thread tells it to the person who asked.` }
  }

  /** The request that a form was opened for. */
  function requestIn(metadata: Metadata | undefined, { origin, callbackId }: Submission): Promise<Request> {
    return genuine(metadata?.extra ?? '', origin, callbackId)
  }

  async function submitBreakGlass(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requestIn(metadata, submission)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) =>
      breakGlassForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    if (reason === undefined) return { is: 'refused', blockId: 'reason', problem: mrkdwn`Say what cannot wait for another person.`, again }
    if (submission.values.confirmed !== 'yes') {
      return { is: 'refused', blockId: 'confirmed', problem: mrkdwn`Confirm that you approve what you asked for yourself.`, again }
    }
    await decide.breakGlass(request, submission.origin, reason)
    await refreshHome(submission.origin)
    return { is: 'accepted', words: mrkdwn`Approved by yourself. The channel is told, with your reason.` }
  }

  const askAgain: FormHandler<Click> = {
    reads: true,
    form: async (click) => {
      const request = await requestOf(click)
      const { input, facts } = catalog.open(request)
      const { responseUrl } = click
      const metadata = { origin: originOf(click, request), ...(responseUrl ? { responseUrl } : {}) }
      const formAgain = handlerOf(forms, request.kind)
      return formAgain
        ? formAgain(writeMetadata(metadata), { input, facts, reason: request.reason })
        : askAgainForm({ ...metadata, extra: click.value }, catalog.sentenceOf(request))
    },
    allow: async (click) => {
      const request = await requestOf(click)
      await access.gate(originOf(click, request), request.kind)
    },
  }

  /** The same once more, for a kind of change that has no form of its own. */
  async function submitAgain(submission: Submission): Promise<SubmissionAnswer> {
    const metadata = readMetadata(submission.metadata)
    const request = await requestIn(metadata, submission)
    const { change, input } = catalog.open(request)
    const reason = reasonIn(submission.values)
    const again = (problem: Mrkdwn) => askAgainForm(metadata ?? { origin: submission.origin }, catalog.sentenceOf(request), problem, reason)
    return submitFromForm(submit, submission, { change, input, reason, blockId: 'reason', again })
  }

  /** Asks for the change that undoes this one: a request of its own, by whoever presses, approved like any other. */
  async function reverse(request: Request, click: Click): Promise<void> {
    const { change, input, latest } = catalog.open(request)
    const back = change.reverse?.(input, latest)
    if (!back) throw new Refusal(mrkdwn`This cannot be undone from here. Ask for what you want with the command.`)
    const origin = originOf(click, request)
    const reason = `Undoes request ${shortId(request)}.`
    const outcome = await submit({ change, input: back.input, origin, reason, deliveryKey: click.deliveryKey })
    if (outcome.is === 'card-delayed') await click.answer.ephemeral(notice(submittedWords(outcome)))
  }

  return {
    clicks: {
      [cardButtons.approve]: button(approve),
      [cardButtons.reject]: openReject,
      [cardButtons.withdraw]: button((request, { origin }) => decide.withdraw(request, origin)),
      [cardButtons.handOver]: button(handOver),
      [cardButtons.again]: askAgain,
      [cardButtons.reverse]: button(reverse),
      [cardButtons.stopTracking]: button((request, { origin }) => decide.stopTracking(request, origin)),
      [cardButtons.trackAgain]: button((request, { origin }) => decide.trackAgain(request, origin)),
    },
    submissions: { [rejectCallbackId]: submitReject, [breakGlassCallbackId]: submitBreakGlass, [askAgainCallbackId]: submitAgain },
  }
}

/** Whoever clicks asks, in the channel of the card, with the command's name as it was used then. */
function originOf(click: Click, request: Request): Origin {
  const { channelId, command } = request.origin
  return { ...click.origin, channelId, command }
}
