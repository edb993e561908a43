import type { ModalView, PlainTextOption } from '@slack/web-api'
import type { Origin } from '../domain/approval.ts'
import type { MessageRef } from '../domain/request.ts'
import type { Mrkdwn } from './text.ts'
import { isContentRefused, type Message } from './web-api.ts'

/** A message with a data table, and the same content without it for where Slack does not take it. */
interface TableMessage {
  table: Message
  instead: Message
}

export type Answerable = Message | TableMessage

export function hasTable(answer: Answerable): answer is TableMessage {
  return 'table' in answer
}

export async function sendWithTable<Result extends { is: string; error?: string }>(
  answer: Answerable,
  send: (message: Message) => Promise<Result>,
): Promise<Result> {
  if (!hasTable(answer)) return send(answer)
  const sent = await send(answer.table)
  return isContentRefused(sent) ? send(answer.instead) : sent
}

export function withoutTable(answer: Answerable): Message {
  return hasTable(answer) ? answer.instead : answer
}

export function inEachLayout(answer: Answerable, change: (message: Message) => Message): Answerable {
  return hasTable(answer) ? { table: change(answer.table), instead: change(answer.instead) } : change(answer)
}

/** Answers the person who typed or clicked. Only they see the answer. It never throws. An answer that Slack does not take is logged. */
export interface Answer {
  /** Posts a new message. `isWhole`: the message itself names what it is about. */
  ephemeral(message: Answerable, options?: { isWhole?: boolean }): Promise<void>
  replace(message: Answerable): Promise<void>
  /** Names what the click is about. Every new message from now on begins with it, because it appears far from the message that was clicked. */
  about(subject: Mrkdwn): void
  /** Says that a message in the channel shows the result. No interim answer is posted from now on. */
  elsewhere(): void
}

interface Delivery {
  /** The same for every delivery of one interaction, so that what it creates is created once. */
  deliveryKey: string
  origin: Origin
  answer: Answer
}

export interface SlashCommand extends Delivery {
  /** Takes five answers within 30 minutes, also in channels where the bot is not a member. */
  responseUrl: string | undefined
  triggerId: string
  reason?: string | undefined
  /** When the change starts, as it was typed: `at 22:00`. */
  start?: string | undefined
  /** A time that was typed after *because*, and is no part of `reason`. */
  late?: string | undefined
}

/** A shortcut, of a message or from anywhere in Slack. A global one has no channel: its origin's is empty. */
export interface Shortcut extends Delivery {
  responseUrl: string | undefined
  triggerId: string
  message: ShortcutMessage | undefined
}

/** The message that a shortcut was used on. Everything in it is from outside. */
export interface ShortcutMessage {
  /** Undefined if the payload does not say which message it is. */
  ref: MessageRef | undefined
  text: string
  blocks: unknown[]
  attachments: unknown[]
}

/** What can open a form. */
export type Opening = SlashCommand | Shortcut | Click

export interface Click extends Delivery {
  actionId: string
  responseUrl: string | undefined
  value: string
  triggerId: string
  /** The message with the button. Undefined in a modal and on the Home tab. */
  messageTs: string | undefined
  /** Whether the button is on the Home tab, which has neither a channel nor a response URL. */
  onHome: boolean
  /** Whether only this person sees the message with the button. */
  isPrivate?: boolean | undefined
  /** Whether that message is a list of requests. */
  inList?: boolean | undefined
  view: ClickedView | undefined
}

export interface ClickedView extends Entered {
  id: string
  metadata: string
  /** Replaces the form by another one. Slack keeps what was entered in elements whose block id and action id stay the same. */
  update(view: ModalView): Promise<void>
}

export interface Entered {
  values: Record<string, string | undefined>
  /** The chosen options, with the text that the person saw. */
  chosen: Record<string, PlainTextOption | undefined>
  /** The values of the ticked checkboxes. Without a block that has none. */
  ticked: Record<string, string[]>
}

export interface Submission extends Delivery, Entered {
  callbackId: string
  metadata: string
  blocks: unknown[]
}

export type SubmissionAnswer =
  /** It closes. `words` are shown if the answer is late, or if they have a title and the person sees no channel, as on the Home tab. */
  | { is: 'accepted'; words: Mrkdwn; title?: string }
  /** It stays open. Problems are by the id of an input block. If they come late, they are at the top of the form that `again` renders. */
  | { is: 'refused'; problems: Record<string, Mrkdwn>; again: (problem: Mrkdwn) => ModalView }
  | { is: 'next'; view: ModalView }

export interface OptionsQuery {
  actionId: string
  origin: Origin
  typed: string
  metadata: string
  /** Incomplete: with an option load Slack does not send what was entered since the view was opened or updated. */
  values: Entered['values']
}

export interface Choices {
  options: PlainTextOption[]
  /** Shown above the options, where nobody can choose it. Up to 75 characters. */
  note?: string
}

/** The value of an option that is only text. Choosing it is answered with an error at the field. */
export const notAChoice = 'not-a-choice'

export type Handler<Interaction> = (interaction: Interaction) => Promise<void>

/** A trigger expires after 3 s and works once, so the form opens before `allow` has an answer. A refusal then replaces the form. */
export interface FormHandler<Interaction> {
  form(interaction: Interaction): ModalView | Promise<ModalView>
  allow(interaction: Interaction): Promise<void>
  /** Makes the view that replaces the form after `allow`, for reads that take longer than a trigger lasts. Undefined: the form stays. */
  fill?(interaction: Interaction): Promise<ModalView | undefined>
}

/** The handlers of what people do apart from commands, by the names that Slack sends back. A name is unique in the whole bot. */
export interface InteractionHandlers {
  clicks: Record<string, Handler<Click> | FormHandler<Click>>
  submissions: Record<string, (submission: Submission) => Promise<SubmissionAnswer>>
  shortcuts: Record<string, Handler<Shortcut> | FormHandler<Shortcut>>
  options: Record<string, (query: OptionsQuery) => Promise<Choices>>
  home: (viewer: Origin, refused?: Mrkdwn) => Promise<void>
}

/** Finds a handler by its id. Ids come from outside, and every object has a member that is called `constructor`. */
export function handlerOf<T>(handlers: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(handlers, id) ? handlers[id] : undefined
}
