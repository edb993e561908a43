import { hash, randomUUID } from 'node:crypto'
import type { ViewResponseAction } from '@slack/bolt'
import type { Button, ModalView, PlainTextElement, PlainTextOption } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { RefusalCode } from '../domain/codes.ts'
import { MessageRef } from '../domain/request.ts'
import { listedBlock } from '../messages/button-ids.ts'
import { claim } from '../redis/scripts.ts'
import { commandOf, meantButtons, message, notice, noticeView, wholeSection } from '../slack/blocks.ts'
import { type Command, findCommand, isComplete, longestCommand, splitLateTime } from '../slack/commands.ts'
import { outdatedButton, Refusal } from '../slack/errors.ts'
import { fit } from '../slack/fit.ts'
import {
  type Choices,
  type Click,
  type ClickedView,
  type FormHandler,
  type Handler,
  handlerOf,
  type InteractionHandlers,
  type Opening,
  type OptionsQuery,
  type Shortcut,
  type SlashCommand,
  type Submission,
  type SubmissionAnswer,
} from '../slack/interactions.ts'
import { enteredIn, type Payloads, type Received, readMetadata, readOrigin } from '../slack/payloads.ts'
import { noticeOptions } from '../slack/pickers.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, nameInAll, nameInWords, plain, toPlainText } from '../slack/text.ts'
import { asTyped, parseWords, splitReason, splitStart, typedCommand } from '../slack/typed-words.ts'
import { answerTo, type TrackedAnswer } from './answers.ts'
import { keepForm } from './app.ts'
import { type Bare, commandNamed, handlerFor } from './router.ts'

export type Handlers = InteractionHandlers & { commands: Command[]; bare?: Bare | undefined }

/** What a person did: who, where, its handler, and how to answer them. */
// biome-ignore lint/suspicious/noExplicitAny: a handler gets what was read with it, and its result goes to the reply that was.
export interface Interaction<Given = any, Result = any> {
  /** `click request-approve`: names it in the log and in the audit. */
  at: string
  origin: Origin
  given: Given
  handler: ((given: Given) => Promise<Result>) | FormHandler<Given>
  /** Answers with the result of the handler. Commands, buttons and shortcuts have none. */
  reply?: (result: Result) => Promise<void>
  pressed?: Pick<Click, 'actionId' | 'value'>
  answer?: TrackedAnswer
  /** The whole command, which an error shows that passes: Slack does not keep it. */
  typed?: string
  /** Whether it is delivered for the first time. Slack can deliver it twice, and somebody can replay a recorded request. */
  isFirst: Promise<boolean>
  /** Acknowledges what Slack shows no result of. Forms and pickers are acknowledged with their result. */
  acknowledge?: () => Promise<void>
  interim: () => Promise<void>
  fail: (words: Mrkdwn, buttons?: Button[]) => Promise<void>
  refuseRepeat?: () => Promise<void>
}

type Acknowledge<Content> = (content?: Content) => Promise<void>

/** Reads what a person did. Undefined for what needs nothing but an acknowledgement. */
export function readInteraction(
  app: App,
  handlers: Handlers,
  { kind, payload }: Received,
  ack: Acknowledge<unknown>,
): Interaction | undefined {
  switch (kind) {
    case 'command':
      return readCommand(app, handlers, payload, ack)
    case 'block_actions':
      return readClick(app, handlers, payload, ack)
    case 'shortcut':
    case 'message_action':
      return readShortcut(app, handlers, payload, ack)
    case 'view_submission':
      return readSubmission(app, handlers, payload, ack)
    case 'block_suggestion':
      return readOptions(app, handlers, payload, ack)
    case 'app_home_opened':
      return payload.event.tab === 'home' ? readHome(app, handlers, payload) : undefined
  }
}

/** How long a delivery is remembered. Slack's triggers and signatures expire sooner, so a later repeat is refused anyway. */
const keepMs = 15 * 60_000

/** While Redis does not answer, every delivery counts as the first one. Then only the record prevents a change from being made twice. */
async function isFirstDelivery({ redis, keys }: App, key: string): Promise<boolean> {
  return claim(redis, keys.delivery(key), { token: randomUUID(), lastsMs: keepMs }).then(
    (holder) => holder === undefined,
    () => true,
  )
}

/** Makes one key for all deliveries of an interaction, in all processes. What has no id counts as new, not as a duplicate. */
function deliveryKey(...parts: (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 40)
}

/** What commands, buttons and shortcuts have in common: they are acknowledged at once, and answered by messages. */
function answeredByMessage<Given extends Opening>(
  app: App,
  given: Given & { answer: TrackedAnswer },
  handler: Handler<Given> | FormHandler<Given>,
  { at, ack, slow = slowCommandWords }: { at: string; ack: Acknowledge<unknown>; slow?: Mrkdwn },
) {
  const { answer, origin, deliveryKey } = given
  return {
    at,
    origin,
    given,
    handler,
    answer,
    isFirst: isFirstDelivery(app, deliveryKey),
    acknowledge: () => ack(),
    interim: async () => {
      if (!answer.given()) await answer.interim(notice(origin.channelId ? slow : slowWords))
    },
    fail: (words: Mrkdwn, buttons: Button[] = []) =>
      answer.ephemeral(message([...wholeSection(words), ...meantButtons(origin.command, buttons)])),
  }
}

const slowWords = mrkdwn`Slower than usual. The result follows.`

/**
 * In a channel, the words must stay true below the result: Slack can't change or delete an ephemeral message after a click, and may not replace
 * one after a command (bolt-js, issue 2287; bolt-python, issue 1268).
 */
const slowCommandWords = mrkdwn`Slower than usual. The result appears in this channel.`
const slowClickWords = mrkdwn`Slower than usual. The message will show the result, or an answer will appear here.`

function readCommand(app: App, { commands, bare }: Handlers, payload: Payloads['command'], ack: Acknowledge<unknown>) {
  const { trigger_id: triggerId, response_url: responseUrl, user_id: userId } = payload
  const text = typedCommand(payload.text)
  const refused = text.length > longestCommand ? tooLongCommand : hasToken(text) ? tokenAdvice : undefined
  const { words, name, reason, start, late } = refused ? { words: [], name: 'unknown' } : readWords(commands, text)
  const origin: Origin = { teamId: payload.team_id, channelId: payload.channel_id, userId, command: payload.command }
  const command = {
    deliveryKey: deliveryKey('command', userId, triggerId || randomUUID()),
    origin,
    answer: answerTo(app, { origin, responseUrl }),
    responseUrl,
    triggerId,
    reason,
    start,
    late,
  }
  const at = `command ${name}`
  const handler = refused ? refuseWith('wrong-usage', refused) : handlerFor(app, commands, words, { bare, late })
  return { ...answeredByMessage<SlashCommand>(app, command, handler, { at, ack }), typed: `${payload.command} ${asTyped(text)}`.trim() }
}

/** A change can end with its start, and then with its reason. In other commands, these are ordinary words. */
function readWords(commands: Command[], text: string): Pick<SlashCommand, 'start' | 'reason' | 'late'> & { words: string[]; name: string } {
  const words = parseWords(text)
  const { name, takesReason } = commandNamed(commands, words)
  if (!takesReason) return { words, name }
  const whole = splitReason(text)?.command ?? text
  const given = findCommand(commands, parseWords(whole))
  const { command: rest = text, late } = (given && splitLateTime(given, text)) ?? {}
  const withStart = splitStart(whole)
  const withoutStart = { words: parseWords(whole), name, reason: splitReason(rest)?.reason, late }
  if (late !== undefined || !withStart) return withoutStart
  const split = { ...withoutStart, words: parseWords(withStart.command), start: withStart.start }
  const found = findCommand(commands, split.words)
  // No form asks for a start that can't be: the time is one of its words, such as an end, and none is dropped.
  return found?.command.takesNoStart && !isComplete(found) ? withoutStart : split
}

const tooLongCommand = mrkdwn`Nothing was done. A command can have up to ${longestCommand} characters. Use fewer words, or the form.`

function refuseWith(code: RefusalCode, words: Mrkdwn): () => Promise<never> {
  return async () => {
    throw new Refusal(code, words)
  }
}

function readClick(app: App, { clicks }: Handlers, payload: Payloads['block_actions'], ack: Acknowledge<unknown>): Interaction<Click> {
  const { user, container, view, trigger_id: triggerId } = payload
  const [{ action_id: actionId, block_id: blockId, action_ts: actionTs, ...action }] = payload.actions
  const responseUrl = payload.response_url ?? readMetadata(view?.private_metadata ?? '')?.responseUrl
  const origin = readOrigin(payload, commandOf(blockId) || app.config.slack.command)
  const click = {
    deliveryKey: deliveryKey('click', user.id, actionId, blockId, actionTs || triggerId || randomUUID()),
    origin,
    answer: answerTo(app, { origin, responseUrl, triggerId, isClick: true, isShared: container?.is_ephemeral === false }),
    actionId,
    responseUrl,
    value: action.selected_option?.value ?? action.value ?? '',
    triggerId,
    messageTs: container?.message_ts ?? payload.message?.ts,
    onHome: view?.type === 'home',
    isPrivate: container?.is_ephemeral,
    inList: container?.is_ephemeral && blockId.startsWith(listedBlock),
    view: view && clickedView(app, view),
  }
  const handler = handlerOf(clicks, actionId) ?? refuseWith('out-of-date', outdatedButton)
  return { ...answeredByMessage<Click>(app, click, handler, { at: `click ${actionId}`, ack, slow: slowClickWords }), pressed: click }
}

function clickedView(app: App, { id, private_metadata: metadata, state }: Payloads['view_submission']['view']): ClickedView {
  return {
    id,
    metadata,
    ...enteredIn(state),
    async update(view) {
      // If it fails, the person has closed the form, or continues with the old one: every submission is checked anyway.
      await app.slack.messenger.updateView(id, view)
    },
  }
}

function readShortcut(app: App, { shortcuts }: Handlers, payload: Payloads['shortcut'], ack: Acknowledge<unknown>): Interaction<Shortcut> {
  const { callback_id: callbackId, trigger_id: triggerId, response_url: responseUrl, user, channel, message } = payload
  const origin = readOrigin({ ...payload, view: undefined }, app.config.slack.command)
  const shortcut = {
    deliveryKey: deliveryKey('shortcut', user.id, callbackId, payload.action_ts || triggerId || randomUUID()),
    origin,
    answer: answerTo(app, { origin, responseUrl, triggerId }),
    callbackId,
    responseUrl,
    triggerId,
    message: channel && message && messageOf(channel.id, message),
  }
  const handler = handlerOf(shortcuts, callbackId) ?? refuseWith('out-of-date', outdatedShortcut)
  return answeredByMessage<Shortcut>(app, shortcut, handler, { at: `shortcut ${callbackId}`, ack })
}

const outdatedShortcut = mrkdwn`This shortcut is out of date. Reload Slack, or use Lockkeeper's command instead.`

function messageOf(channelId: string, sent: NonNullable<Payloads['shortcut']['message']>): Shortcut['message'] {
  const { ts, thread_ts: threadTs, text, blocks, attachments } = sent
  const ref = MessageRef.safeParse({ channelId, ts, threadTs: threadTs === ts ? undefined : threadTs })
  return { ref: ref.data, text, blocks, attachments }
}

/** `broken`: an error, which replaces the form. `kept`: the form stays open with what was entered. */
type Outcome = SubmissionAnswer | { is: 'broken' | 'kept'; problem: Mrkdwn }

const interimWords = mrkdwn`Still working. The result will appear here.`

const outOfDate = mrkdwn`This form is out of date, so nothing was sent. Copy what you need, close it and run the command again.`

/** A result within 2 s goes out with the acknowledgement. Otherwise an interim answer replaces the form, and the result replaces that. */
function readSubmission(
  app: App,
  { submissions }: Handlers,
  payload: Payloads['view_submission'],
  ack: Acknowledge<ViewResponseAction>,
): Interaction<Submission, Outcome> {
  const { view, user, trigger_id: triggerId } = payload
  const metadata = readMetadata(view.private_metadata)
  const origin: Origin = { channelId: '', command: app.config.slack.command, ...metadata?.origin, userId: user.id }
  const answer = answerTo(app, { origin, responseUrl: metadata?.responseUrl })
  const submission = {
    deliveryKey: deliveryKey('submission', user.id, view.id, view.hash),
    origin,
    answer,
    callbackId: view.callback_id,
    metadata: view.private_metadata,
    blocks: view.blocks,
    ...enteredIn(view.state),
  }
  let isAcknowledged = false

  async function acknowledge(response: ViewResponseAction | undefined): Promise<void> {
    isAcknowledged = true
    await ack(response)
  }

  /** What replaces the form says what it is about, as that did. */
  function shown(outcome: Outcome): Outcome {
    if (outcome.is === 'broken') return { ...outcome, problem: answer.named(outcome.problem) }
    return outcome.is === 'accepted' ? { ...outcome, words: answer.named(outcome.words) } : outcome
  }

  async function reply(outcome: Outcome): Promise<void> {
    if (!isAcknowledged) return acknowledge(responseTo(app, shown(outcome), { view, seesChannel: metadata?.responseUrl !== undefined }))
    const updated = await app.slack.messenger.updateView(view.id, lateView(shown(outcome)))
    // If the person closed the modal, or Slack refused the update, the result must still reach them. The next form is none.
    if (updated.is === 'sent' || outcome.is === 'next') return
    await submission.answer.ephemeral(notice(outcome.is === 'accepted' ? outcome.words : problemOf(outcome)))
  }

  async function refuseUnknown(): Promise<Outcome> {
    app.errors.unhandled({ kind: 'view_submission', why: metadata ? 'no-listener' : 'unreadable' })
    return { is: 'kept', problem: outOfDate }
  }

  const known = metadata && handlerOf(submissions, view.callback_id)
  const withToken = Object.keys(submission.values).find((blockId) => hasToken(submission.values[blockId] ?? ''))
  const refuseToken = async (): Promise<Outcome> => ({ is: 'refused', problems: { [withToken ?? '']: tokenAdvice }, again: noticeView })

  return {
    at: `submission ${view.callback_id}`,
    origin,
    given: submission,
    handler: !known ? refuseUnknown : withToken !== undefined ? refuseToken : known,
    reply,
    // A refused form can be sent again with the same id and hash, so only the trigger distinguishes the two. One without a trigger counts as new.
    isFirst: isFirstDelivery(app, deliveryKey('submission', user.id, view.id, view.hash, triggerId || randomUUID())),
    interim: async () => {
      if (!isAcknowledged) await acknowledge({ response_action: 'update', view: noticeView(interimWords) })
    },
    fail: (problem) => reply({ is: 'broken', problem }),
    refuseRepeat: () => reply({ is: 'broken', problem: mrkdwn`This form was already sent, so it wasn't sent again.` }),
  }
}

/** An empty acknowledgement closes the form. `seesChannel`: the person sees what follows in the channel where the form was opened. */
function responseTo(
  { config }: App,
  outcome: Outcome,
  { view, seesChannel }: { view: unknown; seesChannel: boolean },
): ViewResponseAction | undefined {
  if (outcome.is === 'kept') return keepForm(view, outcome.problem)
  if (outcome.is === 'accepted' && (seesChannel || outcome.title === undefined)) return undefined
  const errors =
    outcome.is === 'refused' ? Object.entries(outcome.problems).map(([id, words]) => [id, nameInWords(config, words)] as const) : []
  // Slack renders no mentions and links in the error at a field.
  if (errors.length > 0 && !errors.some(([, { text }]) => /<[^>]*>/.test(text))) {
    return { response_action: 'errors', errors: Object.fromEntries(errors.map(([id, words]) => [id, toPlainText(words)])) }
  }
  return { response_action: 'update', view: nameInAll(config, lateView(outcome)) }
}

function lateView(outcome: Outcome): ModalView {
  if (outcome.is === 'next') return outcome.view
  if (outcome.is === 'refused') return outcome.again(problemOf(outcome))
  return outcome.is === 'accepted' ? noticeView(outcome.words, outcome.title) : noticeView(outcome.problem)
}

function problemOf(outcome: Exclude<Outcome, { is: 'accepted' | 'next' }>): Mrkdwn {
  return outcome.is === 'refused' ? joinMrkdwn(Object.values(outcome.problems), ' ') : outcome.problem
}

type OptionsAnswer = { options: PlainTextOption[] } | { option_groups: { label: PlainTextElement; options: PlainTextOption[] }[] }

/** Reads the load of a picker. It gets options, or a sentence in their place if they are late, refused or could not be read. */
function readOptions(
  app: App,
  { options }: Handlers,
  payload: Payloads['block_suggestion'],
  ack: Acknowledge<OptionsAnswer>,
): Interaction<OptionsQuery, Choices> {
  const origin = readOrigin(payload, app.config.slack.command)
  let isAcknowledged = false

  /** Slack takes no options after the first answer. */
  async function reply(choices: Choices): Promise<void> {
    if (isAcknowledged) return
    isAcknowledged = true
    await ack(optionsAnswer(choices))
  }

  const load = handlerOf(options, payload.action_id) ?? refuseWith('out-of-date', outdatedPicker)
  return {
    at: `options ${payload.action_id}`,
    origin,
    given: {
      actionId: payload.action_id,
      origin,
      typed: payload.value,
      metadata: payload.view?.private_metadata ?? '',
      values: enteredIn(payload.view?.state).values,
    },
    handler: hasToken(payload.value) ? refuseWith('token-typed', tokenAdvice) : load,
    reply,
    isFirst: Promise.resolve(true),
    interim: () => reply(noticeOptions('The account API is slow. Type again in a moment.')),
    fail: (words) => reply(noticeOptions(toPlainText(nameInWords(app.config, words)))),
  }
}

const outdatedPicker = mrkdwn`This form is out of date. Close it and run the command again.`

/** Shows the note as the label of a group, because people can choose every option of a picker, but no label. */
export function optionsAnswer({ options, note }: Choices): OptionsAnswer {
  return fit(note === undefined ? { options } : { option_groups: [{ label: plain(note), options }] })
}

function readHome(
  app: App,
  { home }: Handlers,
  { team_id: teamId, event, event_id: id }: Payloads['app_home_opened'],
): Interaction<Origin, void> {
  const origin: Origin = { teamId, channelId: '', userId: event.user, command: app.config.slack.command }
  return {
    at: 'home',
    origin,
    given: origin,
    handler: (viewer) => home(viewer),
    isFirst: isFirstDelivery(app, deliveryKey('event', id || randomUUID())),
    interim: async () => {},
    fail: (words) => home(origin, words),
  }
}

/** A token of the account has 36 hexadecimal characters, ids of requests 32, and hashes of commits 40 or 64. A server may be called `xapp-1`. */
export function hasToken(text: string): boolean {
  return /(?<![0-9a-f])[0-9a-f]{36}(?![0-9a-f])|\bx(?:ox[a-z]|app)-[\w-]{10,}/i.test(text)
}

export const tokenAdvice: Mrkdwn = mrkdwn`Nothing was done, because what you typed looks like a token. Revoke that token now: Slack may keep what you typed. Name a key by its name or id.`
