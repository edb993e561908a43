import { randomUUID } from 'node:crypto'
import type { AckFn, App, ViewResponseAction, ViewSubmitAction } from '@slack/bolt'
import type { z } from 'zod'
import type { Origin } from '../domain/origin.ts'
import { createAnswering, type TrackedAnswer } from './answering.ts'
import { interimWords, Refusal, toUserWords } from './errors.ts'
import type { OpenForm } from './form.ts'
import type { Click, ClickedView, FormHandler, Handler, Interactions, SlashCommand } from './interaction.ts'
import { keepForm } from './keep-form.ts'
import type { Messenger } from './messenger.ts'
import { notice, noticeView } from './notice.ts'
import {
  ClickPayload,
  CommandPayload,
  chosenOf,
  deliveryKey,
  HomeOpenedPayload,
  OptionsPayload,
  readMetadata,
  SubmissionPayload,
  type View,
  valuesOf,
} from './payloads.ts'
import { sentence } from './picker.ts'
import { inTime, interimAfterMs } from './prompt-answer.ts'
import type { Untaken } from './read-payload.ts'
import type { Respond } from './response-url.ts'
import { code, type Mrkdwn, mrkdwn, toPlainText } from './text.ts'

export interface ListenOptions {
  interactions: Interactions
  /** Asked before anything that a person does reaches a handler: throws a Refusal where they may not use the bot, or not there. */
  authorize: (origin: Origin, at: string) => Promise<void>
  messenger: Messenger
  openForm: OpenForm
  respond: Respond
  /** Whether this act of a person is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  /** Hears of everything that arrives from Slack, by what it is. */
  onHeard?: (what: 'click' | 'options') => void
  /** Hears of forms that cannot be taken, because what they carry along cannot be read or their id is not known. */
  onUntaken?: (untaken: Untaken) => void
  /** Hears of everything that goes wrong, with the reference that the person was told. */
  onError: (error: unknown, context: { reference?: string; at: string }) => void
}

/**
 * The acknowledgement waits so long for the word on whether something comes for the first time, and no longer. It would not need it; but
 * answers that wait for Redis go out together, many in one turn of the event loop, which costs a fifth less.
 */
const acknowledgeWithinMs = 100

/** A form waits so long for the word on whether its user may use the bot; then it opens, while its trigger lives, and may turn into a refusal. */
const authorizeFirstMs = 1_500

const outOfDate = mrkdwn`This form is out of date, so nothing was sent. Copy what you need, close it and run the command again.`

const unreadableForm: Untaken = { kind: 'view_submission', why: 'unreadable', members: ['view.private_metadata'] }
const unknownForm: Untaken = { kind: 'view_submission', why: 'unheard', members: ['view.callback_id'] }

const otherVersion = mrkdwn`This button is from another version of me, and I no longer know it. Ask again with the command.`

/**
 * Takes everything that a person can do in Slack: acknowledges at once, lets nothing through that is not authorized, sees to it that
 * an answer in words comes within 3 s, and turns every error into a sentence. One listener for each kind of payload, so that no id
 * goes unanswered and none goes round the gate. Nothing throws while it is read here: the screen lets through only what can be read.
 */
export function listen(
  app: App,
  {
    interactions,
    authorize,
    messenger,
    openForm,
    respond,
    isFirstDelivery,
    onHeard = () => {},
    onUntaken = () => {},
    onError,
  }: ListenOptions,
) {
  const underway = new Set<Promise<void>>()
  const answerTo = createAnswering({ messenger, respond, onError })

  function track(work: Promise<void>): Promise<void> {
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }

  function wordsFor(error: unknown, at: string): Mrkdwn {
    const words = toUserWords(error)
    if (words !== undefined) {
      onError(error, { at })
      return words
    }
    const reference = randomUUID().slice(0, 8)
    onError(error, { at, reference })
    return mrkdwn`Something went wrong on my side, and I do not know what. Tell the people who run this bot, with the reference ${code(reference)}.`
  }

  type Act = { deliveryKey: string; origin: Origin; triggerId: string; answer: TrackedAnswer }

  /** Acknowledges, and runs what a person asked for. */
  async function serve<A extends Act>(
    act: A,
    at: string,
    ack: () => Promise<void>,
    handler: NoInfer<Handler<A> | FormHandler<A>>,
  ): Promise<void> {
    const isFirst = isFirstDelivery(act.deliveryKey)
    await inTime(isFirst, acknowledgeWithinMs)
    await ack()
    const interim = setTimeout(() => {
      if (!act.answer.given()) void act.answer.whisper(notice(interimWords))
    }, interimAfterMs)
    try {
      if (!(await isFirst)) return
      const authorized = authorize(act.origin, at)
      authorized.catch(() => {})
      if (typeof handler === 'function') {
        await authorized
        await handler(act)
        return
      }
      if (handler.reads) await authorized
      else await inTime(authorized, authorizeFirstMs)
      const opened = openForm(act.triggerId, await handler.form(act), async () => {
        await authorized
        await handler.allow(act)
      })
      await opened.catch(async (error: unknown) => {
        // Whoever may not is told that, and not that the form came too late.
        await authorized
        throw error
      })
    } catch (error) {
      await act.answer.whisper(notice(wordsFor(error, at)))
    } finally {
      clearTimeout(interim)
    }
  }

  function clickedView({ id, private_metadata: metadata, state }: z.infer<typeof View>): ClickedView {
    return {
      id,
      metadata,
      values: valuesOf(state),
      chosen: chosenOf(state),
      async update(view) {
        const updated = await messenger.updateView(id, view)
        // The person has closed it meanwhile, or goes on with the form as it is: whatever it leads to is checked.
        if (updated.is !== 'sent') onError(new Error(`a form could not be updated: ${JSON.stringify(updated)}`), { at: 'update of a form' })
      },
    }
  }

  app.command(/^\//, async ({ body, ack }) => {
    const payload = CommandPayload.parse(body)
    const { trigger_id: triggerId, response_url: responseUrl, text } = payload
    const origin: Origin = { teamId: payload.team_id, channelId: payload.channel_id, userId: payload.user_id, command: payload.command }
    const command: SlashCommand & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('command', payload.user_id, triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl }),
      responseUrl,
      text,
      triggerId,
    }
    const handler = interactions.command.formFor(command) ?? interactions.command.run
    await track(serve(command, `command ${text.split(/\s+/, 2).join(' ')}`, ack, handler))
  })

  app.action(/^/, async ({ body, ack }) => {
    onHeard('click')
    const payload = ClickPayload.parse(body)
    const [action] = payload.actions
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const { trigger_id: triggerId } = payload
    const responseUrl = payload.response_url ?? metadata?.responseUrl
    const origin = originOf(payload)
    const click: Click & { answer: TrackedAnswer } = {
      deliveryKey: deliveryKey('click', payload.user.id, action.action_id, action.block_id, action.action_ts || triggerId || randomUUID()),
      origin,
      answer: answerTo({ origin, responseUrl, triggerId }),
      actionId: action.action_id,
      responseUrl,
      value: action.selected_option?.value ?? action.value ?? '',
      triggerId,
      messageTs: payload.container?.message_ts ?? payload.message?.ts,
      onHome: payload.view?.type === 'home',
      view: payload.view ? clickedView(payload.view) : undefined,
    }
    const handler = named(interactions.clicks, action.action_id) ?? refuseUnknown
    await track(serve(click, `click ${action.action_id}`, ack, handler))
  })

  async function refuseUnknown(): Promise<void> {
    throw new Refusal(otherVersion)
  }

  app.view<ViewSubmitAction>({ type: 'view_submission', callback_id: /^/ }, ({ body, ack }) => track(takeForm(body, ack)))

  async function takeForm(body: unknown, ack: AckFn<ViewResponseAction>): Promise<void> {
    const payload = SubmissionPayload.parse(body)
    const { view } = payload
    const metadata = readMetadata(view.private_metadata)
    const handle = named(interactions.submissions, view.callback_id)
    if (!handle || !metadata) {
      await ack(keepForm(view, outOfDate))
      onUntaken(handle ? unreadableForm : unknownForm)
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
      values: valuesOf(view.state),
      chosen: chosenOf(view.state),
    }
    const work = authorize(origin, `submission ${view.callback_id}`).then(() => handle(submission))
    const first = await inTime(
      work.catch((error) => ({ is: 'broken' as const, problem: wordsFor(error, `submission ${view.callback_id}`) })),
    )
    if (first.is === 'late') {
      await ack({ response_action: 'update', view: noticeView(interimWords) })
      const late = await first.work
      const after =
        late.is === 'accepted' ? noticeView(late.words) : late.is === 'refused' ? late.again(late.problem) : noticeView(late.problem)
      const updated = await messenger.updateView(view.id, after)
      // The person has closed the modal meanwhile, or Slack did not take it: they are told all the same.
      if (updated.is !== 'sent') await submission.answer.whisper(notice(late.is === 'accepted' ? late.words : late.problem))
      return
    }
    const outcome = first.value
    if (outcome.is === 'accepted') await ack()
    else if (outcome.is === 'refused' && hasMarkup(outcome.problem))
      await ack({ response_action: 'update', view: outcome.again(outcome.problem) })
    else if (outcome.is === 'refused') await ack({ response_action: 'errors', errors: { [outcome.blockId]: toPlainText(outcome.problem) } })
    else await ack({ response_action: 'update', view: noticeView(outcome.problem) })
  }

  app.options(/^/, async ({ body, ack }) => {
    onHeard('options')
    const payload = OptionsPayload.parse(body)
    const load = named(interactions.options, payload.action_id)
    const origin = originOf(payload)
    try {
      if (!load) throw new Refusal(mrkdwn`This form is out of date. Close it and run the command again.`)
      const query = {
        actionId: payload.action_id,
        origin,
        typed: payload.value,
        metadata: payload.view?.private_metadata ?? '',
        values: valuesOf(payload.view?.state),
      }
      const found = await inTime(authorize(origin, `options ${payload.action_id}`).then(() => load(query)))
      if (found.is === 'late') found.work.catch((error) => onError(error, { at: `options ${payload.action_id}` }))
      await ack(found.is === 'ready' ? found.value : sentence('The account API is slow just now. Type again in a moment.'))
    } catch (error) {
      await ack(sentence(toPlainText(wordsFor(error, `options ${payload.action_id}`))))
    }
  })

  app.event('app_home_opened', async ({ body }) => {
    const payload = HomeOpenedPayload.parse(body)
    if (payload.event.tab !== 'home') return
    await track(showHome({ teamId: payload.team_id, channelId: '', userId: payload.event.user, command: '' }, payload.event_id))
  })

  async function showHome(viewer: Origin, eventId: string): Promise<void> {
    try {
      if (!(await isFirstDelivery(deliveryKey('event', eventId || randomUUID())))) return
      const refused = await authorize(viewer, 'home').then(
        () => undefined,
        (error: unknown) => wordsFor(error, 'home'),
      )
      await interactions.home(viewer, refused)
    } catch (error) {
      onError(error, { at: 'home' })
    }
  }

  /** Waits for everything that somebody asked for and is still being worked on. */
  async function settle(): Promise<void> {
    await Promise.allSettled(underway)
  }

  return { settle }
}

/** Ids come from outside, and `constructor` is the name of something that every object has. */
function named<T>(handlers: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(handlers, id) ? handlers[id] : undefined
}

/** Where a click or an option load came from: a modal carries along where it was opened. */
function originOf(payload: Pick<z.infer<typeof OptionsPayload>, 'team' | 'user' | 'channel' | 'view'>): Origin {
  const metadata = readMetadata(payload.view?.private_metadata ?? '')
  return {
    teamId: payload.team?.id ?? payload.user.team_id,
    channelId: payload.channel?.id ?? metadata?.origin.channelId ?? '',
    userId: payload.user.id,
    command: metadata?.origin.command ?? '',
  }
}

/** Mentions and other markup do not work in the text of a field. */
function hasMarkup(words: Mrkdwn): boolean {
  return /<[^>]*>/.test(words.text)
}
