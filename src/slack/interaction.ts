import type { ModalView, PlainTextOption } from '@slack/web-api'
import type { Origin } from '../domain/origin.ts'
import type { Message } from './messenger.ts'
import type { Mrkdwn } from './text.ts'

/** Answers the person who typed or clicked; the answer is theirs alone. Never throws: what Slack did not take is logged. */
export interface Answer {
  /** Adds a message that only they see. */
  whisper(message: Message): Promise<void>
  /** Replaces the message that they clicked (a page of a list). */
  replace(message: Message): Promise<void>
}

interface Delivery {
  /** The same for every delivery of one act of a person, so that what it creates is created once. */
  deliveryKey: string
  origin: Origin
  answer: Answer
}

export interface SlashCommand extends Delivery {
  text: string
  /** Answers where the bot is not a member, five times within 30 minutes. */
  responseUrl: string | undefined
  triggerId: string
}

export interface Click extends Delivery {
  actionId: string
  responseUrl: string | undefined
  /** The button's value, or the value of the option that was chosen. */
  value: string
  triggerId: string
  /** The message that was clicked; undefined in a modal or on the Home tab. */
  messageTs: string | undefined
  /** Whether it was clicked on the Home tab, which has neither channel nor response address. */
  onHome: boolean
  view: ClickedView | undefined
}

/** The modal that was clicked in, as it was filled in then. */
export interface ClickedView {
  id: string
  metadata: string
  values: Values
  chosen: Chosen
  /** Shows another form in its place. What was entered stays where block and element keep their ids. */
  update(view: ModalView): Promise<void>
}

/** What was entered, by block id: text, or the value of the chosen option. */
export type Values = Record<string, string | undefined>

/** The chosen options by block id, with the text that the person saw. */
export type Chosen = Record<string, PlainTextOption | undefined>

export interface Submission extends Delivery {
  callbackId: string
  viewId: string
  metadata: string
  values: Values
  chosen: Chosen
}

/** What becomes of a submitted modal. */
export type SubmissionAnswer =
  /** It closes; `words` are said only when the answer came too late to close it. */
  | { is: 'accepted'; words: Mrkdwn }
  /** It stays, with what was entered: `problem` stands at the field, or on top of `again` when the answer came late. */
  | { is: 'refused'; blockId: string; problem: Mrkdwn; again: (problem: Mrkdwn) => ModalView }

export interface OptionsQuery {
  actionId: string
  origin: Origin
  typed: string
  metadata: string
  /** Not to be relied on: what was entered since the view was opened or updated is missing in what Slack sends with an option load. */
  values: Values
}

export interface Choices {
  options: PlainTextOption[]
}

/** The value of an option that is a sentence, not a choice: choosing it is answered with an error at the field. */
export const notAChoice = 'not-a-choice'

/** Asked before anything that a person does reaches a handler: throws a Refusal where they may not use the bot, or not there. */
export type Authorize = (origin: Origin, at: string) => Promise<void>

/** What a person's act leads to, once they may do it. */
export type Handler<A> = (act: A) => Promise<void>

/**
 * A form. A trigger lives 3 s and works once, so the form is opened before it is known whether the person may use it; where `allow`
 * refuses, the refusal takes its place.
 */
export interface FormHandler<A> {
  form(act: A): ModalView | Promise<ModalView>
  /** The form shows something that was read: it waits for the word on whether its user may use the bot. */
  reads?: true
  allow(act: A): Promise<void>
}

/** Everything a person can do in Slack, by the ids that Slack sends back. Ids are unique over the whole bot. */
export interface Interactions {
  command: { formFor(command: SlashCommand): FormHandler<SlashCommand> | undefined; run: Handler<SlashCommand> }
  clicks: Record<string, Handler<Click> | FormHandler<Click>>
  submissions: Record<string, (submission: Submission) => Promise<SubmissionAnswer>>
  options: Record<string, (query: OptionsQuery) => Promise<Choices>>
  /** Somebody looks at the Home tab; `refused` where they may not use the bot. */
  home: (viewer: Origin, refused: Mrkdwn | undefined) => Promise<void>
}

/** Ids come from outside, and `constructor` is the name of something that every object has. */
export function handlerOf<T>(handlers: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(handlers, id) ? handlers[id] : undefined
}
