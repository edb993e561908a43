import { randomUUID } from 'node:crypto'
import type { App, ViewSubmitAction } from '@slack/bolt'
import type { Origin } from '../domain/origin.ts'
import { createAnswering } from './answering.ts'
import { createExplain, type OnError } from './explain.ts'
import type { OpenForm } from './form.ts'
import type { Authorize, Interactions } from './interaction.ts'
import type { Messenger } from './messenger.ts'
import { ClickPayload, CommandPayload, deliveryKey, HomeOpenedPayload, OptionsPayload, SubmissionPayload } from './payloads.ts'
import type { Untaken } from './read-payload.ts'
import type { Respond } from './response-url.ts'
import { createServe } from './serve.ts'
import { createTakeClick } from './take-click.ts'
import { createTakeCommand } from './take-command.ts'
import { createTakeOptions } from './take-options.ts'
import { createTakeSubmission } from './take-submission.ts'

export interface ListenOptions {
  interactions: Interactions
  authorize: Authorize
  messenger: Messenger
  openForm: OpenForm
  respond: Respond
  /** Whether this act of a person is delivered for the first time. */
  isFirstDelivery: (key: string) => Promise<boolean>
  /** Hears of everything that arrives from Slack, by what it is. */
  onHeard?: (what: 'click' | 'options') => void
  /** Hears of forms whose id is not known, or that carry along nothing that can be read. */
  onUntaken?: (untaken: Untaken) => void
  onError: OnError
}

/**
 * Takes everything that a person can do in Slack: acknowledges at once, lets nothing through that is not authorized, sees to it that
 * an answer in words comes within 3 s, and turns every error into a sentence. One listener for each kind of payload, so that no id
 * goes unanswered and none goes round the gate. Nothing throws while it is read here: the screen lets through only what can be read.
 */
export function listen(app: App, { onHeard = () => {}, onUntaken = () => {}, ...parts }: ListenOptions) {
  const { interactions, authorize, isFirstDelivery, onError } = parts
  const underway = new Set<Promise<void>>()
  const explain = createExplain(onError)
  const shared = { ...parts, explain, answerTo: createAnswering(parts), onUntaken }
  const serve = createServe(shared)
  const takeCommand = createTakeCommand({ ...shared, serve })
  const takeClick = createTakeClick({ ...shared, serve })
  const takeSubmission = createTakeSubmission(shared)
  const takeOptions = createTakeOptions(shared)

  function track(work: Promise<void>): Promise<void> {
    underway.add(work)
    return work.finally(() => underway.delete(work))
  }

  app.command(/^\//, ({ body, ack }) => track(takeCommand(CommandPayload.parse(body), ack)))

  app.action(/^/, ({ body, ack }) => {
    onHeard('click')
    return track(takeClick(ClickPayload.parse(body), ack))
  })

  app.view<ViewSubmitAction>({ type: 'view_submission', callback_id: /^/ }, ({ body, ack }) =>
    track(takeSubmission(SubmissionPayload.parse(body), ack)),
  )

  app.options(/^/, ({ body, ack }) => {
    onHeard('options')
    return takeOptions(OptionsPayload.parse(body), ack)
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
        (error: unknown) => explain(error, 'home'),
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
