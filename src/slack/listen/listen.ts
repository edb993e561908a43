import { randomUUID } from 'node:crypto'
import type { App, ViewSubmitAction } from '@slack/bolt'
import { z } from 'zod'
import { inLane } from '../../domain/account/lane.ts'
import type { Origin } from '../../domain/approval/origin.ts'
import type { OpenForm } from '../commands/forms/form.ts'
import type { Authorize, InteractionHandlers } from '../commands/handlers.ts'
import {
  ClickPayload,
  CommandPayload,
  deliveryKey,
  GlobalShortcutPayload,
  HomeOpenedPayload,
  MessageShortcutPayload,
  OptionsPayload,
  SubmissionPayload,
} from '../receive/payloads.ts'
import type { UnhandledPayload } from '../receive/read-payload.ts'
import type { Mrkdwn } from '../text/text.ts'
import type { Messenger } from '../web-api/messenger.ts'
import type { Respond } from '../web-api/response-url.ts'
import { createAnswering } from './answering.ts'
import { createExplain, type OnError } from './explain.ts'
import { createServe } from './serve.ts'
import { createTakeClick } from './take-click.ts'
import { createTakeCommand } from './take-command.ts'
import { createTakeOptions } from './take-options.ts'
import { createTakeShortcut } from './take-shortcut.ts'
import { createTakeSubmission } from './take-submission.ts'

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
