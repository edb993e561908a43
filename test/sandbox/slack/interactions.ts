import type { StateValues } from './elements.ts'
import { isObject, type Json, objectOf, objectsOf, textOf } from './json.ts'
import type { StoredMessage } from './message-store.ts'
import type { Delivery, DeliveryKind, Option, Suggestions } from './slack.ts'
import type { Parts } from './start-slack.ts'
import { newBlocks, problemsWithOptions } from './validate-blocks.ts'
import { answerSubmission, inputProblems, type StoredView } from './view-store.ts'
import { contentOf, refuseOtherThanEphemeral } from './web-api-messages.ts'
import { commandText } from './workspace.ts'

/** Shown by Slack's client if a modal cannot be sent, or its answer cannot be used. */
const trouble = 'We had some trouble connecting. Try again?'

/** Returns the notice beside the button. Undefined if there was no problem. */
function clickNotice({ outcome, status }: Delivery): string | undefined {
  if (outcome === 'timeout') return '⚠️ Operation timed out. Apps need to respond within 3 seconds.'
  if (outcome === 'refused') return `⚠️ This app responded with Status Code ${status}.`
  if (outcome === 'unreachable') return '⚠️ This app did not respond.'
  return undefined
}

/** What Slack does when a person acts: delivers it to the bot, waits for the acknowledgement, and applies it. */
export function createInteractions(parts: Omit<Parts, 'interactions'>) {
  const { state, directory, messages, views, triggers, responseUrls, payloads, transport } = parts

  function notify(userId: string, text: string): void {
    state.changed({ visible: false, notice: { userId, text } })
  }

  async function deliver(kind: DeliveryKind, payload: Json, request = transport.requestFor(kind, payload)): Promise<Delivery> {
    const delivery: Delivery = { kind, payload, ...(await transport.send(request)) }
    parts.delivered(delivery)
    return delivery
  }

  function fail(delivery: Delivery, userId: string, notice: string): Delivery {
    notify(userId, notice)
    delivery.notice = notice
    return delivery
  }

  function notSent(kind: DeliveryKind, more: Partial<Delivery> = {}): Delivery {
    return { kind, outcome: 'not-sent', ms: 0, payload: {}, request: { transport: 'http', headers: {}, body: '' }, ...more }
  }

  /** Shows the text of a command's acknowledgement to the person who typed the command. */
  function showAcknowledgement(userId: string, channel: string, body: unknown): void {
    const { response_type: kind, ...answer }: Json = isObject(body) ? body : { text: String(body) }
    refuseOtherThanEphemeral(kind)
    messages.post({ channel, user: directory.bot.userId, ...contentOf(answer, newBlocks[state.newBlocks].inResponses), visibleTo: userId })
  }

  function afterClick(delivery: Delivery, userId: string): Delivery {
    const notice = clickNotice(delivery)
    return notice === undefined ? delivery : fail(delivery, userId, notice)
  }

  return {
    notify,
    notSent,

    async command(userId: string, channelRef: string, typed: string): Promise<Delivery> {
      const channel = directory.channel(channelRef)
      const [, name = '', text = ''] = /^(\/\S+)\s*([\s\S]*)$/.exec(typed.trim()) ?? []
      // Slack does not offer commands to people of other workspaces. They can press buttons.
      if (directory.person(userId).isStranger) return fail(notSent('command'), userId, `${name} is not a valid command.`)
      const responseUrl = responseUrls.issue({ channel: channel.id, userId })
      const triggerId = triggers.issue({ userId })
      const given = commandText(text, directory)
      const delivery = await deliver('command', payloads.command({ userId, channel, name, text: given, responseUrl, triggerId }))
      if (delivery.outcome === 'timeout') return fail(delivery, userId, `${name} failed with the error "operation_timeout"`)
      if (delivery.outcome !== 'acknowledged') return fail(delivery, userId, `${name} failed with the error "dispatch_failed"`)
      if (delivery.body !== undefined) showAcknowledgement(userId, channel.id, delivery.body)
      return delivery
    },

    /** `message` may be an old copy. `values`: the earlier choices in it. */
    async actInMessage(userId: string, message: StoredMessage, action: Json, values: StateValues = {}): Promise<Delivery> {
      const responseUrl = responseUrls.issue({ channel: message.channel, userId, original: { ts: message.ts } })
      const triggerId = triggers.issue({ userId })
      const delivery = await deliver(
        'block_actions',
        payloads.blockActions({ userId, place: { message }, action, triggerId, responseUrl, values }),
      )
      return afterClick(delivery, userId)
    },

    async actInView(userId: string, view: StoredView, action: Json): Promise<Delivery> {
      const triggerId = triggers.issue({ userId })
      const place = { view: views.toSlack(view) }
      const delivery = await deliver('block_actions', payloads.blockActions({ userId, place, action, triggerId }))
      return afterClick(delivery, userId)
    },

    /** `channel`: the one that the person is looking at. The payload does not name it. */
    async globalShortcut(userId: string, callbackId: string, channel?: string): Promise<Delivery> {
      const triggerId = triggers.issue({ userId, ...(channel ? { channel } : {}) })
      return afterClick(
        await deliver('shortcut', payloads.globalShortcut({ userId, callbackId, triggerId, actionTs: state.stamp() })),
        userId,
      )
    },

    async messageShortcut(userId: string, callbackId: string, message: StoredMessage, more: Json = {}): Promise<Delivery> {
      const responseUrl = responseUrls.issue({ channel: message.channel, userId })
      const triggerId = triggers.issue({ userId, channel: message.channel })
      const shortcut = { userId, callbackId, message, more, responseUrl, triggerId, actionTs: state.stamp() }
      return afterClick(await deliver('message_action', payloads.messageShortcut(shortcut)), userId)
    },

    async submit(userId: string, view: StoredView): Promise<Delivery> {
      const problems = inputProblems(view)
      if (Object.keys(problems).length > 0) return notSent('view_submission', { errors: problems })
      const triggerId = triggers.issue({ userId })
      const delivery = await deliver('view_submission', payloads.viewSubmission(userId, views.toSlack(view), triggerId))
      if (delivery.outcome !== 'acknowledged') return fail(delivery, userId, trouble)
      const result = answerSubmission(views, view, delivery.body)
      if (!result.taken) return fail(delivery, userId, trouble)
      if (result.errors) delivery.errors = result.errors
      return delivery
    },

    async suggest(
      userId: string,
      place: { message: StoredMessage } | { view: StoredView },
      element: { blockId: string; actionId: string; minQueryLength: number },
      query: string,
    ): Promise<Suggestions> {
      if (query.length < element.minQueryLength) return { ...notSent('block_suggestion'), options: [] }
      const where = 'view' in place ? { view: views.toSlack(place.view) } : place
      const delivery = await deliver('block_suggestion', payloads.blockSuggestion(userId, where, element, query))
      const answer = objectOf(delivery.body)
      if (delivery.outcome !== 'acknowledged' || problemsWithOptions(answer).length > 0) {
        return { ...fail(delivery, userId, trouble), options: [] }
      }
      const [group] = objectsOf(answer.option_groups)
      if (!group) return { ...delivery, options: objectsOf(answer.options) as unknown as Option[] }
      return { ...delivery, options: objectsOf(group.options) as unknown as Option[], label: textOf(group.label) }
    },

    /** Sends the same bytes again. The answer is returned and not applied, because the first answer counted. */
    redeliver: ({ kind, payload, request }: Delivery): Promise<Delivery> => deliver(kind, payload, request),

    /** A person opens the app. Slack repeats an event without an acknowledgement. No test needs that, so each event is sent once. */
    async openHome(userId: string, tab: 'home' | 'messages' = 'home'): Promise<Delivery> {
      const person = directory.person(userId)
      if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
      const home = views.homeOf(userId)
      const view = home && views.toSlack(home)
      return deliver('event', payloads.appHomeOpened({ userId, tab, eventId: state.id('Ev'), eventTs: state.stamp(), view }))
    },
  }
}
export type Interactions = ReturnType<typeof createInteractions>
