import type { ModalView } from '@slack/web-api'
import type { App } from '../app.ts'
import { type ButtonDenial, isMachine, type Origin, type Requester } from '../domain/approval.ts'
import { OfferedThing } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { noteRequest } from '../domain/lane.ts'
import { type ChangeKind, longestReason, visibleReason } from '../domain/policy.ts'
import { canReverse, isOpen, type Request, restOf } from '../domain/request.ts'
import { breakGlassForm, ChoiceButton, rejectForm, submittedWords, tooLongReason } from '../messages/forms.ts'
import { tooLate, unverifiedDescription } from '../messages/refusals.ts'
import { belongsTo, readButton, retryLabel, subjectWords } from '../messages/words.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { notice, noticeView, reasonBlockId, reasonIn } from '../slack/blocks.ts'
import type { CommandCall } from '../slack/commands.ts'
import { nothingRequested, outdatedButton, Refusal, toUserWords } from '../slack/errors.ts'
import { formMetadata, type OpenForm, refuseForm } from '../slack/forms.ts'
import { type Answer, type Click, type FormHandler, handlerOf, type Submission, type SubmissionAnswer } from '../slack/interactions.ts'
import { type Metadata, readJson, readMetadata } from '../slack/payloads.ts'
import { boldPhrase, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { type Access, ReasonRequired } from './access.ts'
import { breakGlass, mayReject, reject } from './decide.ts'
import { doneInput, type RequestedChange } from './history.ts'
import type { Submit } from './submit.ts'

/** What a form is filled with. */
export interface Filling {
  input: unknown
  facts: unknown
  reason: string | undefined
  /** The title of the form while its fields stay as they are filled. Default: that of an empty form. */
  title?: string | undefined
  /** Shown on top: why the form opened. */
  problem?: Mrkdwn | undefined
}

/**
 * Renders the form of a kind of change, filled with an earlier request, with the change that undoes one, or with the words of a command.
 */
export type FilledForm = (metadata: string, filling: Filling) => ModalView

/** Reads the account, and renders the same form with what can be requested now. It replaces the filled form once that is open. */
export type FreshForm = (metadata: string, filling: Filling) => Promise<ModalView>

type ChangeAndInput<Input, Facts> = Pick<RequestedChange<Input, Facts>, 'change' | 'input'>

/** What submits a command, and opens a form if something is missing. */
export interface CommandSubmit {
  submit: Submit
  openForm: OpenForm
}

interface CommandRequest<Input, Facts> extends ChangeAndInput<Input, Facts> {
  /** Opens if the rule requires a reason and none was typed. */
  form: FilledForm
}

/** Submits the request of a command, and says to the requester what follows. Throws what `submit` throws. */
export async function submitFromCommand<Input, Facts>(
  parts: CommandSubmit,
  { slashCommand, requester, say }: Pick<CommandCall, 'slashCommand' | 'requester' | 'say'>,
  requested: CommandRequest<Input, Facts>,
): Promise<void> {
  const words = await submitTyped(parts, { ...slashCommand, requester }, requested)
  if (words) await say(words)
}

interface Typed {
  origin: Origin
  deliveryKey: string
  triggerId: string
  responseUrl: string | undefined
  reason?: string | undefined
  requester?: Requester | undefined
}

/** Submits what was typed, and returns what follows in words. Undefined if the form opened, because the rule requires a reason. */
export async function submitTyped<Input, Facts>(
  { submit, openForm }: CommandSubmit,
  typed: Typed,
  { change, input, form }: CommandRequest<Input, Facts>,
): Promise<Mrkdwn | undefined> {
  const { origin, deliveryKey, reason, requester } = typed
  try {
    return submittedWords(await submit({ change, input, origin, requester, reason, deliveryKey }))
  } catch (error) {
    if (!(error instanceof ReasonRequired)) throw nothingRequested(error)
    await askForReason(openForm, typed, error, form)
    return undefined
  }
}

/** Opens the form with everything that was typed. The reads may have taken longer than Slack's trigger lasts. */
async function askForReason(openForm: OpenForm, typed: Typed, { rule, draft, words }: ReasonRequired, form: FilledForm): Promise<void> {
  const view = form(formMetadata(typed, rule), { ...draft, reason: undefined, problem: mrkdwn`${words} Nothing was requested yet.` })
  try {
    await openForm(typed.triggerId, view, async () => {})
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(mrkdwn`${words} Nothing was requested. Add it at the end of the command: *because* and the reason.`)
  }
}

interface FormRequest<Input, Facts> extends ChangeAndInput<Input, Facts> {
  reason: string | undefined
  /** The field that shows a refusal. */
  blockId: string | ((error: unknown) => string)
  /** Renders the form again, with what was entered. */
  again: (problem: Mrkdwn) => ModalView
}

/** Submits the request of a form. If it is refused, the form stays open and shows why. Throws errors that are no refusals. */
export async function submitFromForm<Input, Facts>(
  submit: Submit,
  { origin, metadata, deliveryKey }: Pick<Submission, 'origin' | 'metadata' | 'deliveryKey'>,
  { change, input, reason, blockId, again }: FormRequest<Input, Facts>,
): Promise<SubmissionAnswer> {
  const before = readMetadata(metadata)
  try {
    const { undoes, repeats, message: fromMessage } = before ?? {}
    const outcome = await submit({
      change,
      input,
      origin,
      reason,
      undoes: undoes?.id,
      repeats: repeats?.id,
      fromMessage,
      deliveryKey,
    })
    return { is: 'accepted', words: submittedWords(outcome), title: 'Request sent' }
  } catch (error) {
    // The form stays open beside the words of a check.
    const problem = toUserWords(error instanceof CheckFailed ? error : nothingRequested(error))
    if (problem === undefined) throw error
    return { is: 'refused', problems: { [fieldOf(error, blockId)]: problem }, again }
  }
}

function fieldOf(error: unknown, blockId: string | ((error: unknown) => string)): string {
  if (error instanceof ReasonRequired) return reasonBlockId
  return typeof blockId === 'string' ? blockId : blockId(error)
}

type ChooseOneParts<Input, Facts> = CommandSubmit & Omit<CommandRequest<Input, Facts>, 'input'>

/**
 * Creates the button of one of several things of the same name. It continues the command as if the id had been typed, and the answer replaces
 * the buttons.
 */
export function createChooseOne<Input, Facts>({ submit, openForm, change, form }: ChooseOneParts<Input, Facts>) {
  return async function chooseOne({ value, origin, deliveryKey, triggerId, responseUrl, answer }: Click): Promise<void> {
    const button = readJson(ChoiceButton, value)
    const input = change.input.safeParse(button?.input)
    if (!button || !input.success) throw new Refusal(outdatedButton)
    const { command, reason } = button
    const typed = { origin: { ...origin, command }, deliveryKey, triggerId, responseUrl, reason }
    const words = await submitTyped({ submit, openForm }, typed, { change, input: input.data, form })
    if (words) await answer.replace(notice(words))
  }
}

/** Reads the request of a button. Throws a Refusal if the button or the record cannot be trusted. A button on a copy of the message is refused. */
export async function requestOfClick(app: App, click: Click): Promise<Request> {
  const { value, origin, answer, actionId: at } = click
  const request = await genuine(app, { value, origin, answer, at }, (found) => click.onHome || isOnCard(click, found))
  if (!click.onHome && !isOnCard(click, request)) throw await app.access.refuse(origin, { to: at, request }, { code: 'stale-card' })
  return request
}

/** Whether the button is on the request message, and not on a copy of it. */
function isOnCard({ origin, messageTs }: Click, { origin: { channelId }, cardTs }: Request): boolean {
  return origin.channelId === channelId && (cardTs === undefined || messageTs === cardTs)
}

/** Reads the request that a form was opened for. Throws as `requestOfClick` does. */
function requestOfForm(app: App, metadata: Metadata | undefined, { origin, answer, callbackId }: Submission): Promise<Request> {
  return genuine(app, { value: metadata?.extra ?? '', origin, answer, at: callbackId }, () => true)
}

/** A click or a form that was sent. `at`: the id of the button or the form. */
interface Pressed {
  value: string
  origin: Origin
  answer: Answer
  at: string
}

/** Reads the request of a button's value. `mayName`: whether the person sees the request where they clicked, so that the answer may name it. */
async function genuine(app: App, { value, origin, answer, at }: Pressed, mayName: (request: Request) => boolean): Promise<Request> {
  const { store, signatures, catalog, slack } = app
  const refused = (code: ButtonDenial['code'], request?: Request) => app.access.refuse(origin, { to: at, request }, { code })
  const button = readButton(value)
  if (!button) throw await refused('foreign-button')
  const request = await store.find(button.id)
  if (!request) throw await refused('unknown-request')
  if (!belongsTo(button, request)) throw await refused('foreign-button', request)
  noteRequest(request.id)
  const verdict = signatures.verifyRecord(request)
  if (mayName(request)) {
    const subject = subjectWords(catalog.titleOf(request), { id: request.id, link: slack.identity.linkTo(request) })
    answer.about(verdict === 'genuine' ? subject : boldPhrase(unverifiedDescription(request).title))
  }
  if (verdict === 'unknown-key') throw await refused('unknown-key', request)
  if (verdict !== 'genuine') {
    void onDistrusted(app, request, { code: 'record-changed' })
    throw await refused('changed-record', request)
  }
  // During an update, another version of Lockkeeper may have posted the card.
  if (!catalog.openIfFit(request)) throw await refused('other-version', request)
  return request
}

/** *Reject* opens the form that asks for the reason. */
export function openReject(app: App): FormHandler<Click> {
  return {
    // The form names what is rejected, so the request is read first.
    reads: true,
    form: async (click) => {
      const request = await requestOfClick(app, click)
      // Requesters can't reject, so no form opens for them. They get the same ephemeral message as for *Approve*.
      if (click.origin.userId === request.origin.userId) await mayReject(app, request, click.origin)
      return rejectForm({ origin: click.origin, extra: click.value }, app.catalog.titleOf(request))
    },
    allow: async (click) => mayReject(app, await requestOfClick(app, click), click.origin),
  }
}

export async function submitReject(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const metadata = readMetadata(submission.metadata)
  const request = await requestOfForm(app, metadata, submission)
  const { reason, problem } = readReason(submission, mrkdwn`Enter a reason, so that the requester knows what to do.`)
  const again = (problem: Mrkdwn) => rejectForm(metadata ?? submission, app.catalog.titleOf(request), problem, reason || undefined)
  if (problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
  await reject(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`Rejected. The requester will see it in the thread.` }
}

export async function submitBreakGlass(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const metadata = readMetadata(submission.metadata)
  const request = await requestOfForm(app, metadata, submission)
  const { reason, problem } = readReason(submission, mrkdwn`Say why this can't wait for an approver.`)
  const again = (problem: Mrkdwn) => breakGlassForm(metadata ?? submission, app.catalog.titleOf(request), problem, reason || undefined)
  const confirmed = submission.ticked.confirmed?.includes('yes') ? undefined : mrkdwn`Tick this to approve your own request.`
  const refused = refuseForm({ [reasonBlockId]: problem, confirmed }, again)
  if (refused) return refused
  await breakGlass(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`You approved your own request. The channel sees your reason.` }
}

/**
 * Reads the reason of a decision. `problem`: why it cannot be taken. A reason that is longer than a form takes would not fit into the messages that
 * have to show it.
 */
function readReason({ values }: Pick<Submission, 'values'>, missing: Mrkdwn): { reason: string; problem: Mrkdwn | undefined } {
  const reason = visibleReason(reasonIn(values)) ?? ''
  if (reason === '') return { reason, problem: missing }
  return { reason, problem: reason.length > longestReason ? tooLongReason(reason.length) : undefined }
}

interface OpenOfferParts {
  access: Pick<Access, 'gateForm'>
  kind: ChangeKind
  /** Renders the form, filled with the thing. `metadata` is that of the look-up. */
  form: (thing: OfferedThing, metadata: string) => Promise<ModalView>
}

/**
 * Creates the button of a look-up that offers a change: the filled form replaces the look-up, or the reason does why the person can't
 * request the change here.
 */
export function createOpenOffer({ access, kind, form }: OpenOfferParts) {
  return async function openOffer({ view, value, origin }: Click): Promise<void> {
    if (!view) return
    const thing = readJson(OfferedThing, value)
    if (!thing) return view.update(noticeView(mrkdwn`This button is out of date. Look the message up again.`))
    try {
      await access.gateForm(origin, kind)
    } catch (error) {
      const problem = toUserWords(error)
      if (!problem) throw error
      return view.update(noticeView(problem, 'Not possible'))
    }
    await view.update(await form(thing, view.metadata))
  }
}

/** How the forms of each kind of change are filled. */
export interface ChangeForms {
  filled: Record<ChangeKind, FilledForm>
  fresh: Record<ChangeKind, FreshForm>
}

/** What a form is filled with, and the earlier request that it names. */
interface Filled {
  filling: Filling
  metadata?: Pick<Metadata, 'undoes' | 'repeats'>
}

/**
 * The buttons that open a filled form from an ended request: for the same change again, for the change that undoes it, or for what did not
 * succeed. The person who sends the form is the requester, and it needs approval like any other.
 */
export function requestAgainButtons(app: App, forms: ChangeForms) {
  function opener(fill: (request: Request, userId: string) => Filled): FormHandler<Click> {
    /** Returns what the form shows, as its arguments. */
    async function contentOf(request: Request, click: Click): Promise<Parameters<FilledForm>> {
      const { filling, metadata } = fill(request, click.origin.userId)
      const rule = app.access.ruleOf(request)
      const opened = { origin: originOf(click, request), responseUrl: click.responseUrl }
      const reasonRule = rule?.needsReason ? rule.name : undefined
      return [formMetadata(opened, reasonRule, { ...metadata, message: request.fromMessage }), filling]
    }

    return {
      reads: true,
      form: async (click) => {
        const request = await requestOfClick(app, click)
        // The Home tab also shows requests of private channels that the person is not in. It is checked before the form opens, because an open form
        // can be sent before a refusal replaces it.
        if (click.onHome) await app.access.gateChosen(originOf(click, request), request.kind)
        const form = handlerOf(forms.filled, request.kind)
        if (!form) throw new Refusal(cannot)
        return form(...(await contentOf(request, click)))
      },
      allow: async (click) => {
        const request = await requestOfClick(app, click)
        await app.access.gateForm(originOf(click, request), request.kind)
      },
      fill: async (click) => {
        const request = await requestOfClick(app, click)
        return handlerOf(forms.fresh, request.kind)?.(...(await contentOf(request, click)))
      },
    }
  }

  const openAgain = opener((request) => {
    const { change, input, facts } = app.catalog.open(request)
    const title = request.undoes && change.reverse?.(input, facts)?.label
    return { filling: { input, facts, reason: reasonAgain(request), title }, metadata: repeating(request) }
  })

  const openReverse = opener((request, userId) => {
    if (!canReverse(request)) throw new Refusal(tooLate(request, userId))
    const { change, input, latest } = app.catalog.open(request)
    const back = change.reverse?.(doneInput(request, change, input), latest)
    if (!back) throw new Refusal(cannot)
    const { label: title, ...content } = back
    return { filling: { ...content, reason: undefined, title }, metadata: { undoes: linked(request) } }
  })

  const openRetry = opener((request, userId) => {
    const { change, input, facts } = app.catalog.open(request)
    const rest = restOf(request.items ?? []).map(({ id }) => id)
    if (isOpen(request.state) || !change.items || rest.length === 0) throw new Refusal(tooLate(request, userId))
    return {
      filling: { input: change.items.narrow(input, rest), facts, reason: reasonAgain(request), title: retryLabel },
      metadata: repeating(request),
    }
  })

  /** If the repeated request was to undo another one, the new one undoes that one, too. */
  function repeating(request: Request): Pick<Metadata, 'undoes' | 'repeats'> {
    const { undoes } = request
    return { repeats: linked(request), undoes: undoes && linked({ id: undoes.id, origin: undoes, cardTs: undoes.cardTs }) }
  }

  function linked(request: Pick<Request, 'id'> & Parameters<App['slack']['identity']['linkTo']>[0]) {
    return { id: request.id, link: app.slack.identity.linkTo(request) }
  }

  return { openAgain, openReverse, openRetry }
}

/** What an alert gave as the reason may no longer be true when a person requests it again. */
function reasonAgain({ origin, reason }: Request): string | undefined {
  return isMachine(origin) ? undefined : reason
}

const cannot = mrkdwn`This can't be requested from here. Use the command.`

/** Returns the origin of a request that a click makes: the person who clicked, with the channel and the command of the earlier request. */
function originOf(click: Click, request: Request): Origin {
  const { channelId, command } = request.origin
  return { ...click.origin, channelId, command }
}
