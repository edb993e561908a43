import type { KnownBlock, ModalView } from '@slack/web-api'
import type { App } from '../app.ts'
import { openForm } from '../bolt/open-forms.ts'
import type { ButtonDenial } from '../domain/approval.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { noteRequest } from '../domain/lane.ts'
import { longestReason, visibleReason } from '../domain/policy.ts'
import { fewestWords, isSentence } from '../domain/reason.ts'
import type { Passed, Request, Waits } from '../domain/request.ts'
import type { Phrase } from '../domain/text.ts'
import { approve, breakGlass, hasApproved, mayDecide, reject, startNow, stopTracking, trackAgain, withdraw } from '../life/decide.ts'
import { handOver } from '../life/hand-over.ts'
import { approveCallbackId, belongsTo, breakGlassCallbackId, cardButtons, readButton, rejectCallbackId } from '../messages/button-ids.ts'
import { entryWords } from '../messages/home-view.ts'
import { checkBlocks, checkLines } from '../messages/request-content.ts'
import { asksAgain, asksInForm } from '../messages/request-message.ts'
import { heldWords, passesWords, requestedStart, subjectWords } from '../messages/request-words.ts'
import { tooLongReason } from '../messages/submit-words.ts'
import { counted, unverifiedDescription } from '../messages/why-not.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { renderDetails, viewOf } from '../outbox/render.ts'
import { refuse } from '../rights/authorize.ts'
import { ConfirmationRequired, requireAble } from '../rights/confirmation.ts'
import { ruleOf } from '../rights/judge.ts'
import { holdsIfApproved } from '../rights/times.ts'
import { input, modal, notice, option, problemBlocks, reasonBlockId, reasonIn, reasonInput, wholeSection } from '../slack/blocks.ts'
import { reading } from '../slack/errors.ts'
import type { Answer, Click, FormHandler, InteractionHandlers, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { createOneAtATime } from '../slack/one-at-a-time.ts'
import { type Metadata, marksOf, readMetadata, untold, writeMetadata } from '../slack/payloads.ts'
import { radioButtons } from '../slack/pickers.ts'
import { boldPhrase, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'

/** The buttons of request messages that need no form of a kind, and the forms of a decision. The Home tab has the same buttons. */
export function requestButtons(
  app: App,
  showAgain: (after: Pick<Click, 'origin' | 'answer' | 'deliveryKey'> & Partial<Click>) => Promise<unknown>,
): Pick<InteractionHandlers, 'clicks' | 'submissions'> {
  const runAlone = createOneAtATime(mrkdwn`Your first click is still being processed. Its result appears here.`)

  /** After a click on the Home tab or in a list, that is shown again. */
  const pressed = (press: (click: Click) => Promise<unknown>) => async (click: Click) => {
    try {
      await press(click)
    } finally {
      if (click.onHome || click.inList) await showAgain(click)
    }
  }

  /** The form closes without waiting for it. */
  const decided = (submit: (submission: Submission) => Promise<SubmissionAnswer>) => async (submission: Submission) => {
    const answer = await submit(submission)
    const isFromList = readMetadata(submission.metadata)?.responseUrl !== undefined
    if (answer.is === 'accepted' && isFromList) showAgain(submission).catch(app.errors.of('people'))
    return answer
  }

  const onRequest = (press: (request: Request, click: Click) => Promise<unknown>) =>
    pressed(async (click) => {
      const request = await requestOfClick(app, click)
      await press(request, click)
      if (!click.isPrivate || click.inList) return
      // A list in its place would have the button of another request where the pointer is.
      const card = viewOf(app, (await app.store.find(request.id)) ?? request)
      const words = entryWords({ card, link: app.slack.identity.linkTo(request) }, 'mine')
      const next = card.request.state === 'withdrawn' ? mrkdwn`\nIf it was in the way of another request, send that again.` : ''
      await click.answer.replace(notice(mrkdwn`${words}${next}`))
    })

  return {
    clicks: {
      [cardButtons.approve]: pressed((click) => orConfirm(click, () => pressApprove(app, click), undefined)),
      [cardButtons.reject]: openReject(app),
      [cardButtons.withdraw]: onRequest((request, { origin, answer }) => withdraw(app, request, origin, answer.elsewhere)),
      // Each press reads the account and takes a turn of its writes before one of them takes the step.
      [cardButtons.handOver]: onRequest((request, click) =>
        runAlone(`${request.id} ${click.origin.userId}`, () => handOver(app, request, click)),
      ),
      [cardButtons.startNow]: onRequest((request, click) =>
        orConfirm(click, () => startNow(app, request, click.origin, click.answer.elsewhere), undefined),
      ),
      [cardButtons.stopTracking]: onRequest((request, { origin, answer }) => stopTracking(app, request, origin, answer.elsewhere)),
      [cardButtons.trackAgain]: onRequest((request, { origin, answer }) => trackAgain(app, request, origin, answer.elsewhere)),
      [urgencyBlockId]: (click) => chooseUrgency(app, click),
      [cardButtons.details]: reading(onRequest((request, { answer }) => answer.ephemeral(renderDetails(app, request), { isWhole: true }))),
    },
    submissions: {
      [rejectCallbackId]: decided((submission) => submitReject(app, submission)),
      [approveCallbackId]: decided((submission) => orConfirm(submission, () => submitApprove(app, submission), toConfirm)),
      [breakGlassCallbackId]: decided((submission) => orConfirm(submission, () => submitBreakGlass(app, submission), toConfirm)),
    },
  }
}

const toConfirm: SubmissionAnswer = { is: 'accepted', words: mrkdwn`Not approved yet: confirm it with the link that only you see.` }

/** Where the rule of the request asks for more than a click, the answer says how to confirm it, and nothing is approved yet. */
async function orConfirm<Result>(
  { origin, answer }: Pick<Click, 'origin' | 'answer'>,
  decide: () => Promise<Result>,
  asked: Result,
): Promise<Result> {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof ConfirmationRequired)) throw error
    await answer.ephemeral(await error.ask(origin))
    return asked
  }
}

/** Approves, or opens a form: in an emergency of the requester, who approves it alone with a reason, and where something would hold the request. */
async function pressApprove(app: App, click: Click): Promise<void> {
  const { origin, answer, triggerId } = click
  let isSent = false
  const onSend = () => {
    isSent = true
  }
  try {
    const request = await requestOfClick(app, click)
    const isEmergency = origin.userId === request.origin.userId && ruleOf(app, request)?.breakGlass
    if (isEmergency) await mayDecide(app, request, origin, 'break-glass')
    const form = isEmergency ? await emergencyForm(app, request) : await approveForm(app, request, click)
    if (form) await requireAble(app, request, { to: isEmergency ? 'break-glass' : 'approve', by: origin.userId }, origin)
    if (form) return void (await openForm(app, triggerId, form(openedBy(click), app.catalog.titleOf(request))))
    const { missing, needed } = await approve(app, request, origin, { onSend, onTaken: answer.elsewhere })
    if (missing > 0) await answer.ephemeral(notice(counted({ missing, needed })))
  } catch (error) {
    const isUndone = error instanceof StoreUnavailableError && !isSent
    throw isUndone ? new StoreUnavailableError(error.message, error.code, notApproved) : error
  }
}

const notApproved = "Not approved: Redis isn't responding. Try again in a minute."

/** Reads the request of a button. Throws a Refusal if the button or the record cannot be trusted. A button on a copy of the message is refused. */
export function requestOfClick(app: App, click: Click): Promise<Request> {
  const { value, origin, answer, actionId: at, onHome, isPrivate, messageTs } = click
  const isThere = ({ origin: { channelId }, cardTs }: Request) =>
    onHome || isPrivate || (origin.channelId === channelId && (cardTs === undefined || messageTs === cardTs))
  return requireRequest(app, { value, origin, answer, at }, isThere)
}

/** A click or a form that was sent. `at`: the id of the button or the form. */
type Pressed = Pick<Click, 'value' | 'origin'> & { answer: Answer; at: string }

/** Reads the request of a button's value. Throws a Refusal if it is none that Lockkeeper wrote. `isThere`: whether the person sees the request where they clicked, so that the answer may name it. */
async function requireRequest(app: App, { value, origin, answer, at }: Pressed, isThere: (request: Request) => boolean): Promise<Request> {
  const { store, signatures, catalog, slack } = app
  const refused = (code: ButtonDenial['code'], request?: Request) => refuse(app, origin, { to: at, request }, { code })
  const button = readButton(value)
  if (!button) throw await refused('foreign-button')
  // Before it is read, so that the log names it, whatever happens.
  noteRequest(button.id)
  const request = await store.find(button.id)
  if (!request) throw await refused('unknown-request')
  if (!belongsTo(button, request)) throw await refused('foreign-button', request)
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

/** A list is replaced once the form is sent. A request message is updated by itself. */
function openedBy({ origin, value, inList, responseUrl }: Click): Metadata {
  return { origin, button: value, responseUrl: inList ? responseUrl : undefined }
}

/** *Reject* opens the form that asks for the reason. */
function openReject(app: App): FormHandler<Click> {
  return {
    form: async (click) => {
      const request = await requestOfClick(app, click)
      // Requesters can't reject, so no form opens for them. They get the same ephemeral message as for *Approve*.
      if (click.origin.userId === request.origin.userId) await mayDecide(app, request, click.origin, 'decide')
      return rejectForm(openedBy(click), app.catalog.titleOf(request))
    },
    allow: async (click) => mayDecide(app, await requestOfClick(app, click), click.origin, 'decide'),
  }
}

async function submitReject(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const missing = mrkdwn`Enter a reason, so that the requester knows what to do.`
  const { request, reason, problem, again } = await readDecision(app, submission, async () => rejectForm, missing)
  if (problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
  await reject(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`Rejected. The requester will see it in the thread.` }
}

/** The form in which an approver learns, before they approve, what would hold the request, or what to check. Undefined if there is neither. */
async function approveForm(app: App, request: Request, { origin, onHome, inList = false }: Click): Promise<Form | undefined> {
  // What is refused is refused without a form.
  if (request.state !== 'waiting' || (await hasApproved(app, request, origin.userId))) return undefined
  const [{ held }, view] = [await holdsIfApproved(app, request), viewOf(app, request)]
  const isListed = onHome || inList
  if (!held && !(asksInForm(view, isListed) && asksAgain(view, isListed))) return undefined
  await mayDecide(app, request, origin, 'decide', cardButtons.approve)
  return heldForm(app, request)
}

/** `isUrgent`: an emergency approval is chosen. */
async function heldForm(app: App, request: Request, isUrgent = false): Promise<Form> {
  const [{ held, passed, isPassed }, view] = [await holdsIfApproved(app, request), viewOf(app, request)]
  const canPass = ruleOf(app, request)?.emergency && !isPassed
  const passes = canPass ? passesWords(passed, app.freezes.lastBy) : undefined
  const now = held ? heldWords(held) : mrkdwn`Nothing holds it anymore.`
  // An emergency approval that the rule allows no more is refused.
  const told = isUrgent && !isPassed ? (canPass ? eachPassed(app, passed) : []) : [now]
  const checks = checkBlocks(view)
  return heldApprovalForm({ held, passes, start: request.start, isUrgent, checks, told: [...told, ...checkLines(view)] })
}

/** Slack marks a field that may stay empty as optional, so the form has one for the reason only once an emergency approval is chosen. */
async function chooseUrgency(app: App, { view, origin, answer, actionId: at }: Click): Promise<void> {
  const metadata = readMetadata(view?.metadata ?? '')
  const request = await requireRequest(app, { value: metadata?.button ?? '', origin, answer, at }, () => true)
  const form = await heldForm(app, request, view?.chosen[urgencyBlockId]?.value === urgent)
  await view?.update(form(metadata ?? { origin }, app.catalog.titleOf(request), undefined, reasonIn(view.values)))
}

const eachPassed = (app: App, passed: Passed[]) => passed.map((each) => passesWords([each], app.freezes.lastBy))

const sentence = [mrkdwn`Too short. Write at least ${fewestWords} different words.`, isSentence] as const

async function submitApprove(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const isUrgent = submission.chosen[urgencyBlockId]?.value === urgent
  const { request, reason, problem, changed, again } = await readDecision(
    app,
    submission,
    (...of) => heldForm(...of, isUrgent),
    ...sentence,
  )
  // The form may have been sent before it had the field.
  if (isUrgent && problem && !Object.hasOwn(submission.values, reasonBlockId)) return { is: 'next', view: again(problem) }
  if (changed) return { is: 'next', view: again(changed) }
  if (isUrgent && problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
  const { missing, needed } = await approve(app, request, submission.origin, { emergency: isUrgent ? reason : undefined })
  if (missing > 0) await submission.answer.ephemeral(notice(counted({ missing, needed })))
  if (missing > 0) return { is: 'accepted', words: counted({ missing, needed }) }
  return {
    is: 'accepted',
    words: isUrgent
      ? mrkdwn`Approved. ${ownStart(request.start)}The channel sees your reason.`
      : mrkdwn`Approved. The request message says when it starts.`,
  }
}

async function submitBreakGlass(app: App, submission: Submission): Promise<SubmissionAnswer> {
  const { request, reason, problem, changed, again } = await readDecision(app, submission, emergencyForm, ...sentence)
  if (changed) return { is: 'next', view: again(changed) }
  if (problem) return { is: 'refused', problems: { [reasonBlockId]: problem }, again }
  await breakGlass(app, request, submission.origin, reason)
  return { is: 'accepted', words: mrkdwn`You approved your own request. ${ownStart(request.start)}The channel sees your reason.` }
}

/** Returns the form of an emergency approval, which says what the approval passes now. */
async function emergencyForm(app: App, request: Request): Promise<Form> {
  const { passed } = await holdsIfApproved(app, request)
  const passes = passesWords(passed, app.freezes.lastBy)
  const view = viewOf(app, request)
  const told = [...eachPassed(app, passed), ...checkLines(view)]
  return breakGlassForm({ passes, start: request.start, checks: checkBlocks(view), told })
}

/**
 * `problem`: why the reason cannot be taken. One that is too long would not fit into the messages that have to show it. `changed`: what the decision
 * would do that the form did not tell.
 */
async function readDecision(
  app: App,
  submission: Submission,
  formOf: (app: App, request: Request) => Promise<Form>,
  missing: Mrkdwn,
  isEnough = (reason: string) => reason !== '',
) {
  const { origin, answer, callbackId, values } = submission
  const metadata = readMetadata(submission.metadata)
  const request = await requireRequest(app, { value: metadata?.button ?? '', origin, answer, at: callbackId }, () => true)
  const form = await formOf(app, request)
  const reason = visibleReason(reasonIn(values)) ?? ''
  const tooLong = reason.length > longestReason ? tooLongReason(reason.length) : undefined
  const again = (shown: Mrkdwn) => form(metadata ?? { origin }, app.catalog.titleOf(request), shown, reason || undefined)
  const added = request.state === 'waiting' ? untold(metadata, form.told) : []
  const changed = added.length > 0 ? mrkdwn`*Not approved yet.* Changed since this form opened:\n${joinMrkdwn(added, '\n')}` : undefined
  return { request, reason, problem: tooLong ?? (isEnough(reason) ? undefined : missing), changed, again }
}

// The forms for every kind of change. `problem` is shown at the top, and says why the form was refused. `entered` is the reason so far.
type Form = ((metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string) => ModalView) & { told: Mrkdwn[] }

interface FormContent {
  callbackId: string
  title: string
  submit: string
  /** Follows the title of the request. */
  words?: Mrkdwn
  blocks: (entered: string | undefined) => KnownBlock[]
  /** What the decision passes, as the form says it. */
  told?: Mrkdwn[]
}

function formOf({ words = mrkdwn``, blocks, told = [], ...parts }: FormContent): Form {
  const show = (metadata: Metadata, title: Phrase, problem?: Mrkdwn, entered?: string) =>
    modal({
      ...parts,
      metadata: writeMetadata({ ...metadata, told: marksOf(told) }),
      blocks: [...problemBlocks(problem), ...wholeSection(mrkdwn`${boldPhrase(title)}${words}`), ...blocks(entered)],
    })
  return Object.assign(show, { told })
}

const reasonOf = (entered: string | undefined, hint: string) => reasonInput(entered, hint, { optional: false, multiline: true })

export const rejectForm = formOf({
  callbackId: rejectCallbackId,
  title: 'Reject request',
  submit: 'Reject',
  blocks: (entered) => [reasonOf(entered, 'Everyone in the channel can read it in the thread.')],
})

export const urgencyBlockId = 'urgency'
export const urgent = 'urgent'

/** `held`: what would hold the request. `passes`: what an emergency approval passes, if the rule allows one. `isUrgent`: that is chosen. */
interface HeldApproval {
  held: Waits | undefined
  passes: Mrkdwn | undefined
  start: number | undefined
  isUrgent: boolean
  checks: KnownBlock[]
  told: Mrkdwn[]
}

/** An emergency approval passes windows and freezes, and not the start that its requester asked for. */
function ownStart(start: number | undefined): Mrkdwn {
  return start === undefined ? mrkdwn`` : mrkdwn`${heldWords({ for: 'start', until: start })} `
}

export function heldApprovalForm({ held, passes, start, isUrgent, checks, told }: HeldApproval): Form {
  const wait = option({ text: 'Approve, and let it wait', value: 'wait', description: "You can't make it an emergency later." })
  const text = start === undefined ? "Emergency approval: it doesn't wait" : 'Emergency approval: it only waits for its start'
  const now = option({ text, value: urgent })
  const choice = radioButtons(urgencyBlockId, [wait, now], isUrgent ? now : wait)
  return formOf({
    callbackId: approveCallbackId,
    told,
    title: held ? 'Approve a held change' : 'Approve',
    submit: 'Approve',
    words: held ? mrkdwn`\n:hourglass_flowing_sand: ${heldWords(held)}${requestedStart(held, start)}` : mrkdwn``,
    blocks: (entered) => [
      ...checks,
      ...(passes ? [input({ blockId: urgencyBlockId, label: 'Approval', dispatchAction: true, element: choice })] : []),
      ...(passes && isUrgent
        ? [
            ...wholeSection(mrkdwn`*Emergency approval:* ${passes}${ownStart(start)}`),
            reasonOf(entered, "A sentence that says why this can't wait. It's posted in the channel."),
          ]
        : []),
    ],
  })
}

/** `passes`: what would hold the request now. */
export function breakGlassForm({
  passes,
  start,
  checks,
  told,
}: Pick<HeldApproval, 'start' | 'checks' | 'told'> & { passes: Mrkdwn }): Form {
  return formOf({
    callbackId: breakGlassCallbackId,
    told,
    title: 'Emergency approval',
    submit: 'Approve alone',
    words: mrkdwn`\n${passes}${ownStart(start)}The channel sees your reason.`,
    blocks: (entered) => [...checks, reasonOf(entered, "A sentence that says why this can't wait for an approver.")],
  })
}
