import type { ModalView } from '@slack/web-api'
import type { App } from '../app.ts'
import { formMetadata, refuseForm } from '../bolt/open-forms.ts'
import { type ButtonDenial, isMachine, type Origin } from '../domain/approval.ts'
import { noteRequest } from '../domain/lane.ts'
import { type ChangeKind, longestReason, visibleReason } from '../domain/policy.ts'
import { isSentence } from '../domain/reason.ts'
import { canReverse, isOpen, type Request, restOf } from '../domain/request.ts'
import { utcTime } from '../domain/text.ts'
import { approve, breakGlass, mayDecide, reject } from '../life/decide.ts'
import { changedSince, doneInput } from '../life/history.ts'
import { belongsTo, cardButtons, readButton, retryLabel } from '../messages/button-ids.ts'
import { alreadyChanged, counted, tooLate, unverifiedDescription } from '../messages/refusals.ts'
import { passesWords, subjectWords } from '../messages/request-words.ts'
import { breakGlassForm, heldApprovalForm, rejectForm, tooLongReason, urgencyBlockId, urgent } from '../messages/submit-words.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { holdsIfApproved } from '../rights/times.ts'
import { notice, reasonBlockId, reasonIn } from '../slack/blocks.ts'
import { Refusal } from '../slack/errors.ts'
import { type Answer, type Click, type FormHandler, handlerOf, type Submission, type SubmissionAnswer } from '../slack/interactions.ts'
import { type Metadata, readMetadata } from '../slack/payloads.ts'
import { boldPhrase, type Mrkdwn, mrkdwn } from '../slack/text.ts'

/** What a form is filled with. */
export interface Filling {
  input: unknown
  facts: unknown
  reason: string | undefined
  /** Default: the title of an empty form. */
  title?: string | undefined
  /** Shown on top: why the form opened. */
  problem?: Mrkdwn | undefined
}

export type FilledForm = (metadata: string, filling: Filling) => ModalView

/** The form of a kind of change, filled with an earlier request, with the change that undoes one, or with the words of a command. */
export interface ChangeForms {
  filled: FilledForm
  /** Reads the account, and renders the same with what can be requested now. It replaces the filled form once that is open. */
  fresh?: ((...content: Parameters<FilledForm>) => Promise<ModalView>) | undefined
}

/** Reads the request of a button. Throws a Refusal if the button or the record cannot be trusted. A button on a copy of the message is refused. */
export function requestOfClick(app: App, click: Click): Promise<Request> {
  const { value, origin, answer, actionId: at, onHome, messageTs } = click
  const isThere = ({ origin: { channelId }, cardTs }: Request) =>
    onHome || (origin.channelId === channelId && (cardTs === undefined || messageTs === cardTs))
  return requireRequest(app, { value, origin, answer, at }, isThere)
}

/** A click or a form that was sent. `at`: the id of the button or the form. */
type Pressed = Pick<Click, 'value' | 'origin'> & { answer: Answer; at: string }

/** Reads the request of a button's value. Throws a Refusal if it is none that Lockkeeper wrote. `isThere`: whether the person sees the request where they clicked, so that the answer may name it. */
async function requireRequest(app: App, { value, origin, answer, at }: Pressed, isThere: (request: Request) => boolean): Promise<Request> {
  const { store, signatures, catalog, slack } = app
  const refused = (code: ButtonDenial['code'], request?: Request) => app.access.refuse(origin, { to: at, request }, { code })
  const button = readButton(value)
  if (!button) throw await refused('foreign-button')
  const request = await store.find(button.id)
  if (!request) throw await refused('unknown-request')
  if (!belongsTo(button, request)) throw await refused('foreign-button', request)
  noteRequest(request.id)
  const verdict = signatures.verifyRecord(request)
  if (isThere(request)) {
    const subject = subjectWords(catalog.titleOf(request), { id: request.id, link: slack.identity.linkTo(request) })
    answer.about(verdict === 'genuine' ? subject : boldPhrase(unverifiedDescription(request).title))
  }
  if (verdict === 'unknown-key') throw await refused('unknown-key', request)
  if (verdict !== 'genuine') {
    void onDistrusted(app, request, { code: 'record-changed' })
    throw await refused('record-changed', request)
  }
  // During an update, another version of Lockkeeper may have posted the card.
  if (!catalog.openIfFit(request)) throw await refused('other-version', request)
  if (!isThere(request)) throw await refused('stale-card', request)
  return request
}

/** *Reject* opens the form that asks for the reason. */
export function openReject(app: App): FormHandler<Click> {
  return {
    form: async (click) => {
      const request = await requestOfClick(app, click)
      // Requesters can't reject, so no form opens for them. They get the same ephemeral message as for *Approve*.
      if (click.origin.userId === request.origin.userId) await mayDecide(app, request, click.origin, 'decide')
      return rejectForm({ origin: click.origin, button: click.value }, app.catalog.titleOf(request))
    },
    allow: async (click) => mayDecide(app, await requestOfClick(app, click), click.origin, 'decide'),
  }
}

export async function submitReject(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const missing = mrkdwn`Enter a reason, so that the requester knows what to do.`
  const { request, reason, problem, again } = await readDecision(app, submission, async () => rejectForm, missing)
  if (problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
  await reject(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`Rejected. The requester will see it in the thread.` }
}

/** The form in which an approver learns, before they approve, what would hold the request. Undefined where nothing would. */
export async function approveForm(app: App, request: Request, origin: Origin): Promise<typeof rejectForm | undefined> {
  // What is refused is refused without a form.
  if (request.state !== 'waiting' || request.approvals.some(({ by }) => by === origin.userId)) return undefined
  const { held } = await holdsIfApproved(app, request)
  if (!held) return undefined
  await mayDecide(app, request, origin, 'decide', cardButtons.approve)
  return heldForm(app, request)
}

/** `isUrgent`: an emergency approval is chosen. */
async function heldForm(app: App, request: Request, isUrgent = false): Promise<typeof rejectForm> {
  const { held, passed } = await holdsIfApproved(app, request)
  const canPass = app.access.ruleOf(request)?.emergency && passed.length > 0
  const passes = canPass ? passesWords(passed, app.freezes.lastRead()?.record?.by) : undefined
  return (...shown) => heldApprovalForm({ held, passes, isUrgent }, ...shown)
}

export async function submitApprove(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const isUrgent = submission.chosen[urgencyBlockId]?.value === urgent
  const whole = mrkdwn`Say in a sentence why this can't wait. The channel reads it.`
  const { request, reason, problem, again } = await readDecision(app, submission, (...of) => heldForm(...of, isUrgent), whole)
  const wrong = problem ?? (isSentence(reason) ? undefined : whole)
  if (isUrgent && wrong) return { is: 'refused', problems: { [reasonBlockId]: wrong }, again }
  const { missing, needed } = await approve(app, request, submission.origin, { emergency: isUrgent ? reason : undefined })
  if (missing > 0) await submission.answer.ephemeral(notice(counted({ missing, needed })))
  if (missing > 0) return { is: 'accepted', words: counted({ missing, needed }) }
  return {
    is: 'accepted',
    words: isUrgent ? mrkdwn`Approved. The channel sees your reason.` : mrkdwn`Approved. The request message says when it starts.`,
  }
}

export async function submitBreakGlass(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const missing = mrkdwn`Say why this can't wait for an approver.`
  const { request, reason, problem, again } = await readDecision(app, submission, emergencyForm, missing)
  const confirmed = submission.ticked.confirmed?.includes('yes') ? undefined : mrkdwn`Tick this to approve your own request.`
  const refused = refuseForm({ [reasonBlockId]: problem, confirmed }, again)
  if (refused) return refused
  await breakGlass(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`You approved your own request. The channel sees your reason.` }
}

/** Returns the form of an emergency approval, which says what the approval passes now. */
export async function emergencyForm(app: App, request: Request): Promise<typeof rejectForm> {
  const { passed } = await holdsIfApproved(app, request)
  const passes = passesWords(passed, app.freezes.lastRead()?.record?.by)
  return (...shown) => breakGlassForm(passes, ...shown)
}

/** `problem`: why the reason cannot be taken. One that is too long would not fit into the messages that have to show it. */
async function readDecision(
  app: App,
  submission: Submission,
  formOf: (app: App, request: Request) => Promise<typeof rejectForm>,
  missing: Mrkdwn,
) {
  const { origin, answer, callbackId, values } = submission
  const metadata = readMetadata(submission.metadata)
  const request = await requireRequest(app, { value: metadata?.button ?? '', origin, answer, at: callbackId }, () => true)
  const form = await formOf(app, request)
  const reason = visibleReason(reasonIn(values)) ?? ''
  const tooLong = reason.length > longestReason ? tooLongReason(reason.length) : undefined
  const again = (shown: Mrkdwn) => form(metadata ?? { origin }, app.catalog.titleOf(request), shown, reason || undefined)
  return { request, reason, problem: reason === '' ? missing : tooLong, again }
}

/** What an ended request offers to request: the content of a form, and the earlier request that it names. */
type FillAgain = (app: App, request: Request, userId: string) => Again | Promise<Again>

interface Again {
  filling: Filling
  start?: string | undefined
  metadata: Pick<Metadata, 'undoes' | 'repeats'>
}

/** A button of an ended request. The person who sends the form is the requester, and it needs approval like any other. */
export function formAgain(app: App, forms: Record<ChangeKind, ChangeForms>, fill: FillAgain): FormHandler<Click> {
  async function opened(click: Click) {
    const request = await requestOfClick(app, click)
    const { channelId, command } = request.origin
    // The request of the person who clicked, in the channel and with the command of the earlier one.
    return { request, origin: { ...click.origin, channelId, command } }
  }

  /** Returns what the form shows, as its arguments. */
  async function contentOf(request: Request, origin: Origin, responseUrl: string | undefined): Promise<Parameters<FilledForm>> {
    const { filling, start, metadata } = await fill(app, request, origin.userId)
    const terms = app.access.ruleOf(request)?.reason[0]
    return [formMetadata(app, { origin, responseUrl, start }, terms, { ...metadata, message: request.fromMessage }), filling]
  }

  return {
    form: async (click) => {
      const { request, origin } = await opened(click)
      // The Home tab also shows requests of private channels that the person is not in. It is checked before the form opens, because an open form
      // can be sent before a refusal replaces it.
      if (click.onHome) await app.access.gate(origin, request.kind, 'channel-chosen')
      const form = handlerOf(forms, request.kind)
      if (!form) throw new Refusal('not-from-here', cannot)
      return form.filled(...(await contentOf(request, origin, click.responseUrl)))
    },
    allow: async (click) => {
      const { request, origin } = await opened(click)
      await app.access.gate(origin, request.kind, 'opened')
    },
    fill: async (click) => {
      const { request, origin } = await opened(click)
      return handlerOf(forms, request.kind)?.fresh?.(...(await contentOf(request, origin, click.responseUrl)))
    },
  }
}

const cannot = mrkdwn`This can't be requested from here. Use the command.`

/** *Request again*: the same change, also at the same time if that is still ahead. */
export const fillAgain: FillAgain = (app, request) => {
  const { change, input, facts } = app.catalog.open(request)
  const title = request.undoes && change.reverse?.(input, facts)?.label
  const { start = 0 } = request
  return {
    filling: { input, facts, reason: reasonAgain(request), title },
    start: start > Date.now() ? utcTime(start) : undefined,
    metadata: repeating(app, request),
  }
}

/** *Move back* and the like: the change that undoes it. */
export const fillReverse: FillAgain = async (app, request, userId) => {
  if (!canReverse(request)) throw tooLate(request, userId)
  const later = await changedSince(app, request)
  if (later)
    throw new Refusal('changed-since', alreadyChanged(app.catalog.titleOf(later), { id: later.id, link: app.slack.identity.linkTo(later) }))
  const { change, input, latest } = app.catalog.open(request)
  const back = change.reverse?.(doneInput(request, change, input), latest)
  if (!back) throw new Refusal('not-from-here', cannot)
  const { label: title, ...content } = back
  return { filling: { ...content, reason: undefined, title }, metadata: { undoes: linked(app, request) } }
}

/** *Retry the rest*: what did not succeed. */
export const fillRetry: FillAgain = (app, request, userId) => {
  const { change, input, facts } = app.catalog.open(request)
  const rest = restOf(request.items ?? []).map(({ id }) => id)
  if (isOpen(request.state) || !change.items || rest.length === 0) throw tooLate(request, userId)
  const filling = { input: change.items.narrow(input, rest), facts, reason: reasonAgain(request), title: retryLabel }
  return { filling, metadata: repeating(app, request) }
}

/** If the repeated request was to undo another one, the new one undoes that one, too. */
function repeating(app: App, request: Request): Pick<Metadata, 'undoes' | 'repeats'> {
  const { undoes } = request
  return { repeats: linked(app, request), undoes: undoes && linked(app, { id: undoes.id, origin: undoes, cardTs: undoes.cardTs }) }
}

function linked({ slack }: App, request: Parameters<App['slack']['identity']['linkTo']>[0] & { id: string }) {
  return { id: request.id, link: slack.identity.linkTo(request) }
}

/** What an alert gave as the reason may no longer be true when a person requests it again. */
function reasonAgain({ origin, reason }: Request): string | undefined {
  return isMachine(origin) ? undefined : reason
}
