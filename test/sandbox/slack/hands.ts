import { actionOf, choiceMember, choiceOf, findElement, type Placed, type Which } from './elements.ts'
import { type Json, objectsOf } from './json.ts'
import type { StoredMessage } from './message-store.ts'
import type { ClickOptions, Delivery, Message, OpenView, Suggestions } from './slack.ts'
import type { Parts } from './start-slack.ts'
import { conversationOptions, type StoredView } from './view-store.ts'
import type { Channel } from './workspace.ts'

export type Place = { message: StoredMessage } | { view: StoredView }

/** A copy of a view, or its id. Undefined: the view on top. */
type ViewRef = Pick<OpenView, 'id'> | undefined

/** A message or Home tab as it is in a copy, which may be old. A message as it is now is named by its channel and stamp. */
export type Target = Message | Pick<Message, 'channel' | 'ts'> | OpenView | ViewRef

/** What one person can do in Slack. A channel is named by id, `#name` or `name`. */
export function createHands(userId: string, { state, directory, messages, views, interactions, notifications }: Parts) {
  const person = directory.person(userId)

  function channelFor(channelRef: string): Channel {
    const channel = directory.channel(channelRef)
    if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
    if (!channel.members.includes(userId)) throw new Error(`${person.name} is not in #${channel.name}.`)
    return channel
  }

  function messageFor(target: Message | Pick<Message, 'channel' | 'ts'>): StoredMessage {
    const { ts } = target
    const channel = channelFor(target.channel).id
    const stored = messages.find(channel, ts)
    const shown = 'text' in target ? target : stored
    if (shown === undefined) throw new Error('This message is no longer there.')
    const { user, text, blocks, visibleTo } = shown
    if (visibleTo !== undefined && visibleTo !== userId) throw new Error(`${person.name} cannot see this message.`)
    return { ...stored, channel, ts, user, text, blocks, visibleTo }
  }

  function viewOf(ref: ViewRef): StoredView {
    const [stack, home] = [views.stackOf(userId), views.homeOf(userId)]
    const view = ref === undefined ? stack.at(-1) : [...stack, ...(home ? [home] : [])].find(({ id }) => id === ref.id)
    if (view === undefined) throw new Error(ref ? 'This modal is no longer open.' : `${person.name} has no modal open.`)
    return view
  }

  function placeOf(target: Target): Place {
    if (target && 'ts' in target) return { message: messageFor(target) }
    const view = viewOf(target)
    return view.isHome && target && 'view' in target ? { view: { ...view, hash: target.hash, given: target.view } } : { view }
  }

  function element(place: Place, name: string, which: Which = {}): Placed {
    const blocks = 'message' in place ? (place.message.blocks ?? []) : objectsOf(place.view.given.blocks)
    const found = findElement(blocks, name, which)
    if (found) return found
    const where = 'message' in place ? 'message' : place.view.isHome ? 'Home tab' : 'modal'
    throw new Error(`There is nothing called "${name}" to act on in this ${where}. Wanted: ${JSON.stringify(which)}.`)
  }

  function dispatch(place: Place, placed: Placed, choice: Json): Promise<Delivery> {
    const { blockId, actionId, type } = placed
    const action = actionOf(placed, choice, state.stamp())
    const member = choiceMember(type)
    const value = member !== undefined && member in choice ? { type, [member]: choice[member] } : undefined
    if ('message' in place) {
      return interactions.actInMessage(userId, place.message, action, value && { [blockId]: { [actionId]: value } })
    }
    if (value) views.setValue(place.view, blockId, actionId, value)
    return interactions.actInView(userId, place.view, action)
  }

  async function suggest(place: Place, placed: Placed, query: string): Promise<Suggestions> {
    // Slack's own client knows the channels. The bot is not asked.
    if (placed.type === 'conversations_select') {
      return { ...interactions.notSent('block_suggestion'), options: conversationOptions(directory, placed.element, userId, query) }
    }
    const { min_query_length: least } = placed.element
    // Slack sends a query from three letters on, unless the element says otherwise.
    const minQueryLength = typeof least === 'number' ? least : 3
    return interactions.suggest(userId, place, { blockId: placed.blockId, actionId: placed.actionId, minQueryLength }, query)
  }

  async function chooseIn(place: Place, placed: Placed, input: string | null): Promise<Json> {
    const isSearched = input !== null && ['external_select', 'conversations_select'].includes(placed.type)
    if (!isSearched) return choiceOf(placed, input)
    const query = placed.type === 'external_select' ? input : ''
    return choiceOf(placed, input, (await suggest(place, placed, query)).options)
  }

  function invite(channel: Channel, handle: string): { message?: StoredMessage } {
    const invited = directory.findByHandle(handle)
    if (invited === undefined || channel.members.includes(invited.id)) {
      interactions.notify(userId, invited ? `${invited.name} is already in this channel.` : `Nobody here is called ${handle}.`)
      return {}
    }
    directory.join(channel.id, invited.id)
    const text = `was added to #${channel.name} by ${person.name}.`
    return { message: messages.post({ channel: channel.id, user: invited.id, text, subtype: 'channel_join' }) }
  }

  /** What Enter does in the composer: a message, `/invite`, or a command for the bot. Throws if Slack does not let this person write here. */
  async function send(channelRef: string, text: string, threadTs?: string): Promise<{ message?: StoredMessage; delivery?: Delivery }> {
    const channel = channelFor(channelRef)
    if (channel.isArchived) throw new Error(`#${channel.name} is archived.`)
    const invitation = /^\/invite\s+(@?\S.*)$/.exec(text.trim())
    if (invitation) return invite(channel, (invitation[1] ?? '').trim())
    if (!text.startsWith('/')) return { message: messages.post({ channel: channel.id, user: userId, text, threadTs }) }
    // Slack refuses commands of apps in threads.
    if (threadTs) throw new Error('Slash commands cannot be used in threads.')
    return { delivery: await interactions.command(userId, channel.id, text) }
  }

  return {
    person,

    send,

    async command(text: string, at: { channel: string }): Promise<Delivery> {
      const { delivery } = await send(at.channel, text)
      if (delivery === undefined) throw new Error(`"${text}" is not a command for the bot.`)
      return delivery
    },

    async say(text: string, at: { channel: string; threadTs?: string }): Promise<Message | undefined> {
      const { message } = await send(at.channel, text, at.threadTs)
      return message && messages.toMessage(message)
    },

    /** Presses or chooses an element, named by its action id or visible text. */
    async click(target: Target, name: string, how: ClickOptions = {}): Promise<Delivery> {
      const place = placeOf(target)
      const placed = element(place, name, how)
      if (placed.element.confirm && how.confirm === 'deny') return interactions.notSent('block_actions')
      const choice = how.choose === undefined ? {} : await chooseIn(place, placed, how.choose)
      return dispatch(place, placed, { ...choice, ...how.action })
    },

    /** Uses a shortcut of a message, named by its callback id. `message`: members that replace those of the message in the payload. */
    messageShortcut: async (target: Message | Pick<Message, 'channel' | 'ts'>, callbackId: string, how: { message?: Json } = {}) =>
      interactions.messageShortcut(userId, callbackId, messageFor(target), how.message),
    /** Uses a global shortcut, named by its callback id. `channel`: the one that the person is looking at. */
    globalShortcut: (callbackId: string, how: { channel?: string } = {}) => interactions.globalShortcut(userId, callbackId, how.channel),

    /** Opens the app. The bot receives `app_home_opened`. What it publishes then is not awaited. */
    openHome: (how: { tab?: 'home' | 'messages' } = {}) => interactions.openHome(userId, how.tab),
    home(): OpenView | undefined {
      const home = views.homeOf(userId)
      return home && views.toOpenView(home)
    },

    openViews: () => views.stackOf(userId).map((view) => views.toOpenView(view)),
    topView: () => views.toOpenView(viewOf(undefined)),

    /**
     * Fills inputs, named by label or block id: with text, with the text or value of an option, or with null to empty them. Pickers are
     * searched first. Elements with `dispatch_action` are delivered to the bot, and the deliveries returned.
     */
    async fill(ref: ViewRef, values: Record<string, string | null>): Promise<Delivery[]> {
      const deliveries: Delivery[] = []
      const place = { view: viewOf(ref) }
      for (const [name, input] of Object.entries(values)) {
        const placed = element(place, name)
        const choice = await chooseIn(place, placed, input)
        const isTold = placed.block.type !== 'input' || placed.block.dispatch_action === true
        if (isTold) deliveries.push(await dispatch(place, placed, choice))
        else views.setValue(place.view, placed.blockId, placed.actionId, { type: placed.type, ...choice })
      }
      return deliveries
    },

    submit: async (ref?: ViewRef) => interactions.submit(userId, viewOf(ref)),
    /** Closes the modal on top, or another one with everything above it. */
    close: async (ref?: ViewRef) => views.close(viewOf(ref)),

    /** Types into an external select, named by label, block id or action id. Returns the options of the bot. */
    async search(target: Target, name: string, query: string, which?: Which): Promise<Suggestions> {
      const place = placeOf(target)
      return suggest(place, element(place, name, which), query)
    },

    /** Returns the messages at channel level and in threads by ts, with the ephemeral messages of this person. */
    sees: (channel: string) => messages.seen(directory.channel(channel).id, userId).map((message) => messages.toMessage(message)),
    /** Returns what this person's phone showed, oldest first. */
    notifications: () => notifications.filter(({ people }) => people.includes(userId)),
    /** Sends the same bytes again, with the signature: a repeated or replayed delivery. */
    redeliver: (delivery: Delivery) => interactions.redeliver(delivery),
  }
}
export type Hands = ReturnType<typeof createHands>
