import { randomUUID } from 'node:crypto'
import type { AckFn, App, ViewResponseAction, ViewSubmitAction } from '@slack/bolt'
import type { ModalView, PlainTextElement, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import type { Origin } from '../domain/approval.ts'
import { inLane } from '../domain/lane.ts'
import { MessageRef } from '../domain/request.ts'
import { within } from '../domain/within.ts'
import { commandOf, context, modal, notice, noticeView, withSubject } from './blocks.ts'
import { longestCommand, refuseLongCommand } from './commands.ts'
import { NothingRequested, outdatedButton, Refusal, toUserWords } from './errors.ts'
import type { OpenForm } from './forms.ts'
import {
  type Answerable,
  type Authorize,
  type Choices,
  type Click,
  type ClickAnswer,
  type ClickedView,
  type FormHandler,
  type Handler,
  handlerOf,
  hasTable,
  type InteractionHandlers,
  inEachLayout,
  type Shortcut,
  type ShortcutMessage,
  type SlashCommand,
  type SubmissionAnswer,
  sendWithTable,
  type TableMessage,
} from './interactions.ts'
import {
  ClickPayload,
  CommandPayload,
  chosenOf,
  deliveryKey,
  GlobalShortcutPayload,
  HomeOpenedPayload,
  keepForm,
  MessageShortcutPayload,
  OptionsPayload,
  readMetadata,
  readOrigin,
  SubmissionPayload,
  tickedOf,
  type UnhandledPayload,
  type View,
  valuesOf,
} from './payloads.ts'
import { longestNote, noticeOptions } from './pickers.ts'
import type { Respond } from './response-url.ts'
import { dataTable } from './table.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, plain, toPlainText } from './text.ts'
import { parseWords, splitReason } from './typed-words.ts'
import { type Done, isContentRefused, type Message, type Messenger } from './web-api.ts'

/** Slack rolls blocks out in phases, so tables are tried again a day after Slack refused them. */
const tryAgainMs = 24 * 3_600_000

/** A message with the smallest table. A person who sees it reads why the list has no table. */
export function probeMessage(): Message {
  const words = mrkdwn`Slack refused this list as a table. The list follows as text.`
  const table = dataTable('Table', { headers: ['Layout'], rows: [['Text']] })
  return { text: words.text, blocks: [...(table ? [table] : []), ...context([words])] }
}

/** Remembers whether Slack takes tables in answers through response URLs. Each process finds out for itself. */
export function createTableSupport(now: () => number = Date.now) {
  let refusedAt: number | undefined

  return {
    isRefused: () => refusedAt !== undefined && now() - refusedAt < tryAgainMs,
    noteTaken: () => {
      refusedAt = undefined
    },
    noteRefused: () => {
      refusedAt = now()
    },
  }
}

interface HowToRespond {
  isClick: boolean
  /** Replaces the interim answer to a command. */
  replaceOriginal?: boolean
}

/**
 * Creates the function that answers with a table through a response URL. Where Slack refuses it, the same content follows without a table.
 * A probe with the smallest table shows whether Slack refuses all tables or only this one. If Slack takes the probe, the content replaces
 * it. A click gets no probe, because there the content would replace the message that was clicked.
 */
export function createRespondWithTable(respond: Respond, support = createTableSupport()) {
  return async function respondWithTable(
    url: string,
    answer: TableMessage,
    { isClick, replaceOriginal = false }: HowToRespond,
  ): Promise<Done> {
    if (support.isRefused() && !answer.tries) return respond(url, answer.instead, { replaceOriginal })
    const sent = await respond(url, answer.table, { replaceOriginal })
    if (sent.is === 'sent') support.noteTaken()
    if (!isContentRefused(sent) && sent.is !== 'unknown') return sent
    if (isClick || sent.is === 'unknown') return respond(url, answer.instead, { replaceOriginal })
    const probed = await respond(url, probeMessage(), { replaceOriginal })
    if (isContentRefused(probed)) support.noteRefused()
    return respond(url, answer.instead, { replaceOriginal: probed.is === 'sent' })
  }
}

interface AnsweringParts {
  messenger: Pick<Messenger, 'postEphemeral' | 'post' | 'openView'>
  respond: Respond
  onError: (error: unknown, context: { at: string }) => void
}

interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
  /** Whether the response URL belongs to a message that was clicked. */
  isClick?: boolean
  /** Whether that message is not for one person alone. It is then never replaced: a modified client can send any button with it. */
  isShared?: boolean
}

export interface TrackedAnswer extends ClickAnswer {
  /** Whether the person has an answer, here or elsewhere. */
  given: () => boolean
  /** Says that the answer takes longer. For a command, the answer then replaces it. */
  interim: (message: Message) => Promise<void>
}

/**
 * Answers a person in the first way that works: through the response URL, as an ephemeral message in the channel, in a modal (on the Home
 * tab only), or as a direct message. Where Slack refuses a table, the same way is tried without it.
 */
export function createAnswering({ messenger, respond, onError }: AnsweringParts) {
  const respondWithTable = createRespondWithTable(respond)

  return function answerTo({ origin, responseUrl, triggerId, isClick = false, isShared = false }: AnswerPlace): TrackedAnswer {
    let answers = 0
    let interim: Promise<boolean> | undefined
    let subject: Mrkdwn | undefined

    async function throughResponseUrl(url: string, answer: Answerable, replaceOriginal: boolean): Promise<Done> {
      return hasTable(answer) ? respondWithTable(url, answer, { isClick, replaceOriginal }) : respond(url, answer, { replaceOriginal })
    }

    /** Whether the answer can replace an interim answer. After a click, it would replace the message that was clicked. */
    async function takeInterim(): Promise<boolean> {
      const saying = interim
      interim = undefined
      return (await saying) === true && !isClick
    }

    async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
      const replaceOriginal = (await takeInterim()) || replaces
      const answered = responseUrl ? await throughResponseUrl(responseUrl, answer, replaceOriginal) : undefined
      if (answered?.is === 'sent') return true
      const posted = origin.channelId ? await sendWithTable(answer, (one) => messenger.postEphemeral(origin, one)) : undefined
      if (posted?.is === 'sent') return false
      const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(answer)) : undefined
      if (shown?.is === 'opened') return false
      const sent = await sendWithTable(answer, (one) => messenger.post({ channelId: origin.userId }, one))
      if (sent.is !== 'sent')
        onError(new Error(`an answer could not be delivered: ${JSON.stringify(answered ?? posted ?? shown ?? sent)}`), { at: 'answer' })
      return false
    }

    async function give(answer: Answerable, replaces: boolean): Promise<void> {
      answers += 1
      await say(answer, replaces)
    }

    function named(answer: Answerable): Answerable {
      const about = subject
      return about ? inEachLayout(answer, (message) => withSubject(about, message)) : answer
    }

    return {
      ephemeral: (answer, { isWhole = false } = {}) => give(isWhole ? answer : named(answer), false),
      replace: (message) => give(message, !isShared),
      about: (words) => {
        subject = words
      },
      elsewhere: () => {
        answers += 1
      },
      given: () => answers > 0,
      interim: async (message) => {
        interim = say(message, false)
        await interim
      },
    }
  }
}
export type AnswerTo = ReturnType<typeof createAnswering>

/** Modals take no tables. */
function asModal(answer: Answerable) {
  const { blocks } = hasTable(answer) ? answer.instead : answer
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}

/** Is called for every error. `reference` is what the person was given to find it in the log. */
export type OnError = (error: unknown, context: { reference?: string; at: string }) => void

/** Explains an error to the person, and reports it. `at` names the interaction in the log. */
export type Explain = (error: unknown, at: string) => Mrkdwn

export function createExplain(onError: OnError): Explain {
  return (thrown, at) => {
    const words = toUserWords(thrown)
    // The log and the operators get the error that the account API gave.
    const error = thrown instanceof NothingRequested ? thrown.cause : thrown
    if (words !== undefined) {
      onError(error, { at })
      return words
    }
    const reference = randomUUID().slice(0, 8)
    onError(error, { at, reference })
    return mrkdwn`Something went wrong. Tell the people who run Lockkeeper, with the reference ${code(reference)}.`
  }
}

/** Slack waits 3 s for an answer. If the work takes longer than this, people get an interim answer. */
export const interimAfterMs = 2_000

/** Stands in a form until the result replaces it. */
export const interimWords = mrkdwn`Still working. The result will appear here.`

/** The answer to a command replaces these words. */
export const slowWords = mrkdwn`Slower than usual. The result follows.`

/** These words must stay true below the result, because an ephemeral message after a click can't be changed or deleted. */
export const slowClickWords = mrkdwn`Slower than usual. The message will show the result, or an answer will appear here.`

/**
 * Waits at most 100 ms for the duplicate check before the acknowledgement, so that a hanging Redis does not delay it. The acknowledgement
 * does not need the result. But acknowledgements that wait for Redis go out together in one turn of the event loop, which costs 20 % less CPU.
 */
const acknowledgeWithinMs = 100

/** How long a form waits for the authorization. Then it opens anyway, before its trigger expires, and a refusal may replace it. */
const authorizeFirstMs = 1_500

interface ServeParts {
  authorize: Authorize
  openForm: OpenForm
  /** The duplicate check: whether this interaction is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  explain: Explain
}

interface Interaction {
  deliveryKey: string
  origin: Origin
  triggerId: string
  answer: TrackedAnswer
  /** The value of the button that was clicked. */
  value?: string
}

/** Acknowledges a command or a click, drops a duplicate, authorizes the person, and runs the handler or opens its form. */
export function createServe({ authorize, openForm, isFirstDelivery, explain }: ServeParts) {
  /** The interactions that are being served now. */
  const served = new Set<string>()

  return async function serve<I extends Interaction>(
    interaction: I,
    at: string,
    ack: () => Promise<void>,
    handler: NoInfer<Handler<I> | FormHandler<I>>,
  ): Promise<void> {
    const { deliveryKey, origin, triggerId, answer, value } = interaction
    const isFirst = isFirstDelivery(deliveryKey)
    await within(acknowledgeWithinMs, isFirst)
    await ack()
    // A person who presses a button again while the first press is served gets one interim answer.
    const press = value === undefined ? deliveryKey : [origin.userId, at, value].join(' ')
    const isAgain = served.has(press)
    served.add(press)
    const onMessage = value !== undefined && origin.channelId !== ''
    const interim = setTimeout(() => {
      if (!answer.given() && !isAgain) void answer.interim(notice(onMessage ? slowClickWords : slowWords))
    }, interimAfterMs)
    try {
      if (!(await isFirst)) return
      const authorized = authorize(origin, at)
      // A refusal is thrown where `authorized` is awaited. Until then it must not count as an unhandled rejection.
      authorized.catch(() => {})
      if (typeof handler === 'function') {
        await authorized
        await handler(interaction)
        return
      }
      if (handler.reads) await authorized
      else await within(authorizeFirstMs, authorized)
      const opened = openForm(triggerId, await handler.form(interaction), async () => {
        await authorized
        await handler.allow(interaction)
        // The form itself says that the result follows.
        if (handler.fill) clearTimeout(interim)
        return handler.fill?.(interaction).catch((error: unknown) => noticeView(explain(error, at)))
      })
      await opened.catch(async (error: unknown) => {
        // If the person may not use the form, the refusal is the better answer, and not that the form failed to open.
        await authorized
        throw error
      })
    } catch (error) {
      await answer.ephemeral(notice(explain(error, at)))
    } finally {
      clearTimeout(interim)
      if (!isAgain) served.delete(press)
    }
  }
}
export type Serve = ReturnType<typeof createServe>

interface TakeClickParts {
  handlers: Pick<InteractionHandlers, 'clicks'>
  messenger: Pick<Messenger, 'updateView'>
  answerTo: AnswerTo
  serve: Serve
  onError: OnError
  /** The slash command to name in answers, if the message names none. */
  command: string
}

/** Reads a click from its payload and serves it. A click without any id counts as new, not as a duplicate. */
export function createTakeClick({ handlers, messenger, answerTo, serve, onError, command }: TakeClickParts) {
  function clickedView({ id, private_metadata: metadata, state }: z.infer<typeof View>): ClickedView {
    return {
      id,
      metadata,
      values: valuesOf(state),
      chosen: chosenOf(state),
      ticked: tickedOf(state),
      async update(view) {
        const updated = await messenger.updateView(id, view)
        // The person may have closed the form, or may continue with the old one: every submission is checked anyway.
        if (updated.is !== 'sent') onError(new Error(`a form could not be updated: ${JSON.stringify(updated)}`), { at: 'update of a form' })
      },
    }
  }

  return async function takeClick(payload: z.infer<typeof ClickPayload>, ack: () => Promise<void>): Promise<void> {
    const [action] = payload.actions
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const { trigger_id: triggerId } = payload
    const responseUrl = payload.response_url ?? metadata?.responseUrl
    const read = readOrigin(payload)
    const origin = { ...read, command: read.command || commandOf(action.block_id) || command }
    const click: Click & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('click', payload.user.id, action.action_id, action.block_id, action.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId, isClick: true, isShared: payload.container?.is_ephemeral === false }),
      actionId: action.action_id,
      responseUrl,
      value: action.selected_option?.value ?? action.value ?? '',
      triggerId,
      messageTs: payload.container?.message_ts ?? payload.message?.ts,
      onHome: payload.view?.type === 'home',
      view: payload.view ? clickedView(payload.view) : undefined,
    }
    const handler = handlerOf(handlers.clicks, action.action_id) ?? refuseUnknown
    await serve(click, `click ${action.action_id}`, ack, handler)
  }
}

async function refuseUnknown(): Promise<void> {
  throw new Refusal(outdatedButton)
}

/** The ids of requests have 32 hexadecimal characters, and tokens of the account 36. */
const longHex = /[0-9a-f]{33,}/gi

/** The rest of a Slack token is long. A server may be called `xapp-1`. */
const slackToken = /\bx(?:ox[a-z]|app)-[\w-]{10,}/i

/** Hashes of commits have one of these lengths. Reasons may name them. */
const hashLengths = [40, 64]

/** Whether a person typed what looks like a token of the account or of Slack. */
export function hasToken(text: string): boolean {
  return slackToken.test(text) || (text.match(longHex) ?? []).some(({ length }) => !hashLengths.includes(length))
}

export const tokenAdvice: Mrkdwn = mrkdwn`Nothing was done, because what you typed looks like a token. Revoke that token now: Slack may keep what you typed. Name a key by its name or id.`

export async function refuseToken(): Promise<void> {
  throw new Refusal(tokenAdvice)
}

interface TakeCommandParts {
  handlers: Pick<InteractionHandlers, 'command' | 'commandNamed'>
  answerTo: AnswerTo
  serve: Serve
}

/** Reads a slash command from its payload and serves it. A command without a trigger id counts as new, not as a duplicate. */
export function createTakeCommand({ handlers, answerTo, serve }: TakeCommandParts) {
  function readText(text: string): { words: string[]; reason?: string } {
    const split = splitReason(text)
    const words = split ? parseWords(split.command) : []
    return split && handlers.commandNamed(words).takesReason ? { words, reason: split.reason } : { words: parseWords(text) }
  }

  return async function takeCommand(payload: z.infer<typeof CommandPayload>, ack: () => Promise<void>): Promise<void> {
    const { trigger_id: triggerId, response_url: responseUrl } = payload
    const refuse = payload.text.length > longestCommand ? refuseLongCommand : hasToken(payload.text) ? refuseToken : undefined
    const { words, reason } = refuse ? { words: [] } : readText(payload.text)
    const origin: Origin = { teamId: payload.team_id, channelId: payload.channel_id, userId: payload.user_id, command: payload.command }
    const command: SlashCommand & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('command', payload.user_id, triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl }),
      responseUrl,
      triggerId,
      reason,
    }
    const { name } = refuse ? { name: 'unknown' } : handlers.commandNamed(words)
    await serve(command, `command ${name}`, ack, refuse ?? handlers.command(words))
  }
}

interface TakeOptionsParts {
  handlers: Pick<InteractionHandlers, 'options'>
  authorize: Authorize
  explain: Explain
  onError: OnError
  withNames: (words: Mrkdwn) => Mrkdwn
  /** The slash command that notes name, if the form names none. */
  command: string
}

type OptionsAnswer = { options: PlainTextOption[] } | { option_groups: { label: PlainTextElement; options: PlainTextOption[] }[] }
type Acknowledge = (answer: OptionsAnswer) => Promise<void>

/** Answers a picker with options, or with a sentence in their place if they are late, refused or could not be read. */
export function createTakeOptions({ handlers, authorize, explain, onError, withNames, command }: TakeOptionsParts) {
  return async function takeOptions(payload: z.infer<typeof OptionsPayload>, ack: Acknowledge): Promise<void> {
    const load = handlerOf(handlers.options, payload.action_id)
    const read = readOrigin(payload)
    const origin = { ...read, command: read.command || command }
    try {
      if (!load) throw new Refusal(mrkdwn`This form is out of date. Close it and run the command again.`)
      if (hasToken(payload.value)) throw new Refusal(tokenAdvice)
      const query = {
        actionId: payload.action_id,
        origin,
        typed: payload.value,
        metadata: payload.view?.private_metadata ?? '',
        values: valuesOf(payload.view?.state),
      }
      const found = await within(
        interimAfterMs,
        authorize(origin, `options ${payload.action_id}`).then(() => load(query)),
      )
      if (found.is === 'late') found.work.catch((error) => onError(error, { at: `options ${payload.action_id}` }))
      await ack(optionsAnswer(found.is === 'ready' ? found.value : noticeOptions('The account API is slow. Type again in a moment.')))
    } catch (error) {
      await ack(optionsAnswer(noticeOptions(toPlainText(withNames(explain(error, `options ${payload.action_id}`))))))
    }
  }
}

/** Shows the note as the label of a group, because people can choose every option of a picker, but no label. */
export function optionsAnswer({ options, note }: Choices): OptionsAnswer {
  return note === undefined ? { options } : { option_groups: [{ label: plain(note, longestNote), options }] }
}

type MessagePayload = z.infer<typeof MessageShortcutPayload>
type ShortcutPayload = z.infer<typeof GlobalShortcutPayload> | MessagePayload

interface TakeShortcutParts {
  handlers: Pick<InteractionHandlers, 'shortcuts'>
  answerTo: AnswerTo
  serve: Serve
  /** The slash command that answers name. */
  command: string
}

/** Reads a shortcut from its payload and serves it. A shortcut without any id counts as new, not as a duplicate. */
export function createTakeShortcut({ handlers, answerTo, serve, command }: TakeShortcutParts) {
  return async function takeShortcut(payload: ShortcutPayload, ack: () => Promise<void>): Promise<void> {
    const { callback_id: callbackId, trigger_id: triggerId, user, team } = payload
    const onMessage = payload.type === 'message_action' ? payload : undefined
    const responseUrl = onMessage?.response_url
    const origin: Origin = {
      teamId: team?.id ?? user.team_id,
      channelId: onMessage?.channel.id ?? '',
      userId: user.id,
      command,
    }
    const shortcut: Shortcut & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('shortcut', user.id, callbackId, payload.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId }),
      callbackId,
      responseUrl,
      triggerId,
      message: onMessage && messageOf(onMessage),
    }
    await serve(shortcut, `shortcut ${callbackId}`, ack, handlerOf(handlers.shortcuts, callbackId) ?? refuseUnknownTakeShortcut)
  }
}

function messageOf({ channel, message }: MessagePayload): ShortcutMessage {
  const { ts, thread_ts: threadTs, text, blocks, attachments } = message
  const isReply = threadTs !== undefined && threadTs !== ts
  const ref = MessageRef.safeParse({ channelId: channel.id, ts, ...(isReply ? { threadTs } : {}) })
  return { ref: ref.data, text, blocks, attachments }
}

async function refuseUnknownTakeShortcut(): Promise<void> {
  throw new Refusal(mrkdwn`This shortcut is out of date. Reload Slack, or use Lockkeeper's command instead.`)
}

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

export interface ListenOptions {
  handlers: InteractionHandlers
  authorize: Authorize
  messenger: Messenger
  openForm: OpenForm
  respond: Respond
  /** The slash command to name on the Home tab and in answers to clicks and shortcuts. Slack does not say which one led to them. */
  command: string
  /** Adds to words what only the configuration knows: the operators' channel and the slash command. */
  withNames?: (words: Mrkdwn) => Mrkdwn
  /** The duplicate check: whether this interaction is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  /** Is called for every click and every option load that arrives. */
  onReceived?: (what: 'click' | 'options') => void
  /** Is called for every submitted form whose id is unknown or whose metadata cannot be read. */
  onUnhandled?: (unhandled: UnhandledPayload) => void
  onError: OnError
}

/**
 * Handles everything that people can do in Slack. It acknowledges at once, runs no handler without an authorization, answers within 3 s, and
 * explains every error in a sentence. Each kind of payload has one listener for all ids, so no id stays unanswered and none avoids the
 * authorization. The schemas do not throw here, because `screen` forwards only payloads that they accept.
 */
export function listen(app: App, { onReceived = () => {}, onUnhandled = () => {}, withNames = (words) => words, ...parts }: ListenOptions) {
  const { handlers, authorize, command, isFirstDelivery, onError } = parts
  const underway = new Set<Promise<void>>()
  const explain = createExplain(onError)
  const shared = { ...parts, explain, answerTo: createAnswering(parts), onUnhandled, withNames }
  const serve = createServe(shared)
  const takeCommand = createTakeCommand({ ...shared, serve })
  const takeClick = createTakeClick({ ...shared, serve })
  const takeSubmission = createTakeSubmission(shared)
  const takeShortcut = createTakeShortcut({ ...shared, serve })
  const takeOptions = createTakeOptions(shared)

  function track(userId: string, run: () => Promise<void>): Promise<void> {
    const work = inLane('person', run, { userId })
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }

  app.command(/^\//, ({ body, ack }) => track(body.user_id, () => takeCommand(CommandPayload.parse(body), ack)))

  app.action(/^/, ({ body, ack }) => {
    onReceived('click')
    return track(body.user.id, () => takeClick(ClickPayload.parse(body), ack))
  })

  app.shortcut(/^/, ({ body, ack }) => {
    onReceived('click')
    return track(body.user.id, () => takeShortcut(z.union([GlobalShortcutPayload, MessageShortcutPayload]).parse(body), ack))
  })

  app.view<ViewSubmitAction>({ type: 'view_submission', callback_id: /^/ }, ({ body, ack }) =>
    track(body.user.id, () => takeSubmission(SubmissionPayload.parse(body), ack)),
  )

  app.options(/^/, ({ body, ack }) => {
    onReceived('options')
    return inLane('person', () => takeOptions(OptionsPayload.parse(body), ack), { userId: body.user.id })
  })

  app.event('app_home_opened', async ({ body }) => {
    const payload = HomeOpenedPayload.parse(body)
    if (payload.event.tab !== 'home') return
    const userId = payload.event.user
    await track(userId, () => showHome({ teamId: payload.team_id, channelId: '', userId, command }, payload.event_id))
  })

  async function showHome(viewer: Origin, eventId: string): Promise<void> {
    try {
      if (!(await isFirstDelivery(deliveryKey('event', eventId || randomUUID())))) return
      const refused = await authorize(viewer, 'home').then(
        () => undefined,
        (error: unknown) => explain(error, 'home'),
      )
      await handlers.home(viewer, refused)
    } catch (error) {
      onError(error, { at: 'home' })
    }
  }

  /** Waits for all work that is still running. */
  async function settle(): Promise<void> {
    await Promise.allSettled(underway)
  }

  return { settle }
}
