import { randomUUID } from 'node:crypto'
import type { App } from '@slack/bolt'
import type { z } from 'zod'
import type { Origin } from '../domain/origin.ts'
import { interimWords, toUserWords } from './errors.ts'
import type { Answer, Click, ClickedView, Interactions, SlashCommand } from './interaction.ts'
import type { Message, Messenger } from './messenger.ts'
import { notice, noticeView } from './notice.ts'
import {
  ClickPayload,
  CommandPayload,
  chosenOf,
  deliveryKey,
  OptionsPayload,
  readMetadata,
  SubmissionPayload,
  type View,
  valuesOf,
} from './payloads.ts'
import { sentence } from './picker.ts'
import { inTime, interimAfterMs } from './prompt-answer.ts'
import type { Respond } from './response-url.ts'
import { code, type Mrkdwn, mrkdwn, toPlainText } from './text.ts'

export interface ListenOptions {
  interactions: Interactions
  messenger: Messenger
  respond: Respond
  /** Whether this act of a person is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  /** Hears of everything that goes wrong, with the reference that the person was told. */
  onError: (error: unknown, context: { reference?: string; at: string }) => void
}

/**
 * Takes everything that a person can do in Slack: acknowledges at once, sees to it that an answer in words comes within 3 s, and
 * turns every error into a sentence. One listener for each kind of payload, so that no id goes unanswered.
 */
export function listen(app: App, { interactions, messenger, respond, isFirstDelivery, onError }: ListenOptions) {
  const underway = new Set<Promise<void>>()

  function track(work: Promise<void>): Promise<void> {
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }

  function answerTo(origin: Origin, responseUrl: string | undefined): Answer & { given: () => boolean } {
    let answers = 0
    async function say(message: Message, replaceOriginal: boolean): Promise<void> {
      answers += 1
      const answered = responseUrl ? await respond(responseUrl, message, { replaceOriginal }) : undefined
      if (answered?.is === 'sent') return
      const whispered = origin.channelId ? await messenger.whisper(origin, message) : undefined
      if (whispered?.is === 'sent') return
      const sent = await messenger.post({ channelId: origin.userId }, message)
      if (sent.is !== 'sent')
        onError(new Error(`an answer could not be delivered: ${JSON.stringify(answered ?? whispered ?? sent)}`), { at: 'answer' })
    }
    return { whisper: (message) => say(message, false), replace: (message) => say(message, true), given: () => answers > 0 }
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

  /** Runs what a person asked for, after the acknowledgement. */
  async function serve(
    act: { deliveryKey: string; answer: Answer & { given: () => boolean } },
    at: string,
    work: () => Promise<void>,
  ): Promise<void> {
    const interim = setTimeout(() => {
      if (!act.answer.given()) void act.answer.whisper(notice(interimWords))
    }, interimAfterMs)
    try {
      if (await isFirstDelivery(act.deliveryKey)) await work()
    } catch (error) {
      await act.answer.whisper(notice(wordsFor(error, at)))
    } finally {
      clearTimeout(interim)
    }
  }

  app.command(/^\//, async ({ body, ack }) => {
    await ack()
    const payload = CommandPayload.parse(body)
    const origin: Origin = { teamId: payload.team_id, channelId: payload.channel_id, userId: payload.user_id, command: payload.command }
    const command: SlashCommand & { answer: ReturnType<typeof answerTo> } = {
      deliveryKey: deliveryKey('command', payload.user_id, payload.trigger_id),
      origin,
      answer: answerTo(origin, payload.response_url),
      responseUrl: payload.response_url,
      text: payload.text,
      triggerId: payload.trigger_id,
    }
    await track(serve(command, `command ${payload.text.split(/\s+/, 2).join(' ')}`, () => interactions.command(command)))
  })

  app.action(/^/, async ({ body, ack }) => {
    await ack()
    const payload = ClickPayload.parse(body)
    const [action] = payload.actions
    if (!action) return
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const origin: Origin = {
      teamId: payload.team?.id ?? payload.user.team_id,
      channelId: payload.channel?.id ?? metadata?.origin.channelId ?? '',
      userId: payload.user.id,
      command: metadata?.origin.command ?? '',
    }
    const click: Click & { answer: ReturnType<typeof answerTo> } = {
      deliveryKey: deliveryKey('click', payload.user.id, action.action_id, action.block_id, action.action_ts),
      origin,
      answer: answerTo(origin, payload.response_url ?? metadata?.responseUrl),
      actionId: action.action_id,
      responseUrl: payload.response_url ?? metadata?.responseUrl,
      value: action.selected_option?.value ?? action.value ?? '',
      triggerId: payload.trigger_id,
      messageTs: payload.container?.message_ts ?? payload.message?.ts,
      view: payload.view ? clickedView(payload.view) : undefined,
    }
    const handle = interactions.clicks[action.action_id]
    const work = handle
      ? () => handle(click)
      : () =>
          click.answer.whisper(
            notice(mrkdwn`This button is from another version of me, and I no longer know it. Ask again with the command.`),
          )
    await track(serve(click, `click ${action.action_id}`, work))
  })

  app.view({ type: 'view_submission', callback_id: /^/ }, async ({ body, ack }) => {
    const payload = SubmissionPayload.parse(body)
    const { view } = payload
    const metadata = readMetadata(view.private_metadata)
    const handle = interactions.submissions[view.callback_id]
    if (!handle || !metadata) {
      await ack({
        response_action: 'update',
        view: noticeView(mrkdwn`This form is from another version of me. Close it and ask again with the command.`),
      })
      return
    }
    const origin: Origin = { ...metadata.origin, userId: payload.user.id }
    const submission = {
      deliveryKey: deliveryKey('submission', payload.user.id, view.id, view.hash),
      origin,
      answer: answerTo(origin, metadata.responseUrl),
      callbackId: view.callback_id,
      viewId: view.id,
      metadata: view.private_metadata,
      values: valuesOf(view.state),
      chosen: chosenOf(view.state),
    }
    const first = await inTime(
      handle(submission).catch((error) => ({ is: 'broken' as const, problem: wordsFor(error, `submission ${view.callback_id}`) })),
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
  })

  app.options(/^/, async ({ body, ack }) => {
    const payload = OptionsPayload.parse(body)
    const load = interactions.options[payload.action_id]
    const metadata = readMetadata(payload.view?.private_metadata ?? '')
    const origin: Origin = {
      teamId: payload.team?.id ?? payload.user.team_id,
      channelId: payload.channel?.id ?? metadata?.origin.channelId ?? '',
      userId: payload.user.id,
      command: metadata?.origin.command ?? '',
    }
    try {
      if (!load) throw new Error(`no options for ${payload.action_id}`)
      const query = {
        actionId: payload.action_id,
        origin,
        typed: payload.value,
        metadata: payload.view?.private_metadata ?? '',
        values: valuesOf(payload.view?.state),
      }
      const found = await inTime(load(query))
      if (found.is === 'late') found.work.catch((error) => onError(error, { at: `options ${payload.action_id}` }))
      await ack(found.is === 'ready' ? found.value : sentence('The account API is slow just now. Type again in a moment.'))
    } catch (error) {
      await ack(sentence(toPlainText(wordsFor(error, `options ${payload.action_id}`))))
    }
  })

  /** Waits for everything that was acknowledged and is still being worked on. */
  async function settle(): Promise<void> {
    await Promise.allSettled(underway)
  }

  return { settle }
}

/** Mentions and other markup do not work in the text of a field. */
function hasMarkup(words: Mrkdwn): boolean {
  return /<[^>]*>/.test(words.text)
}
