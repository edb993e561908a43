import { actionOf, choiceMember, choiceOf, findElement, type Placed, type Which } from './elements.ts'
import { type Json, objectsOf } from './json.ts'
import type { StoredMessage } from './message-store.ts'
import type { ClickOptions, Delivery, Message, OpenView, Suggestions } from './slack.ts'
import type { Parts } from './start-slack.ts'
import { conversationOptions, type StoredView } from './view-store.ts'
import type { Channel } from './workspace.ts'

export type Place = { message: StoredMessage } | { view: StoredView }

/** What people do in messages, modals and Home tabs: find the element, choose in it, keep the choice, and deliver it to the bot. */
export function createActs({ state, directory, messages, views, interactions }: Omit<Parts, 'acts'>) {
  function element(place: Place, name: string, which: Which = {}): Placed {
    const blocks = 'message' in place ? (place.message.blocks ?? []) : objectsOf(place.view.given.blocks)
    const found = findElement(blocks, name, which)
    if (found) return found
    const where = 'message' in place ? 'message' : place.view.isHome ? 'Home tab' : 'modal'
    throw new Error(`There is nothing called "${name}" to act on in this ${where}. Wanted: ${JSON.stringify(which)}.`)
  }

  function modalFor(userId: string, viewId: string): { view: StoredView } {
    const view = views.find(viewId)
    if (view === undefined || view.userId !== userId) throw new Error('This modal is no longer open.')
    return { view }
  }

  function dispatch(userId: string, place: Place, placed: Placed, choice: Json): Promise<Delivery> {
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

  async function suggest(userId: string, place: Place, placed: Placed, query: string): Promise<Suggestions> {
    // Slack's own client knows the channels. The bot is not asked.
    if (placed.type === 'conversations_select') {
      return { ...interactions.notSent('block_suggestion'), options: conversationOptions(directory, placed.element, userId, query) }
    }
    const { min_query_length: least } = placed.element
    // Slack sends a query from three letters on, unless the element says otherwise.
    const minQueryLength = typeof least === 'number' ? least : 3
    return interactions.suggest(userId, place, { blockId: placed.blockId, actionId: placed.actionId, minQueryLength }, query)
  }

  async function chooseIn(userId: string, place: Place, placed: Placed, input: string | null): Promise<Json> {
    const isSearched = input !== null && ['external_select', 'conversations_select'].includes(placed.type)
    if (!isSearched) return choiceOf(placed, input)
    const query = placed.type === 'external_select' ? input : ''
    return choiceOf(placed, input, (await suggest(userId, place, placed, query)).options)
  }

  /** Returns a channel in which this person can act. */
  function channelFor(userId: string, channelRef: string): Channel {
    const channel = directory.channel(channelRef)
    const person = directory.person(userId)
    if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
    if (!channel.members.includes(userId)) throw new Error(`${person.name} is not in #${channel.name}.`)
    return channel
  }

  function invite(userId: string, channel: Channel, handle: string): { message?: StoredMessage } {
    const invited = directory.findByHandle(handle)
    if (invited === undefined || channel.members.includes(invited.id)) {
      interactions.notify(userId, invited ? `${invited.name} is already in this channel.` : `Nobody here is called ${handle}.`)
      return {}
    }
    directory.join(channel.id, invited.id)
    const text = `was added to #${channel.name} by ${directory.person(userId).name}.`
    return { message: messages.post({ channel: channel.id, user: invited.id, text, subtype: 'channel_join' }) }
  }

  return {
    element,
    suggest,

    /** Returns a message as it is now, or as in a copy, which may be outdated: that is what this person sees. */
    messageFor(userId: string, channelRef: string, ts: string, copy?: Message): { message: StoredMessage } {
      const channel = channelFor(userId, channelRef).id
      const stored = messages.find(channel, ts)
      const shown = copy ?? stored
      if (shown === undefined) throw new Error('This message is no longer there.')
      const { user, text, blocks, visibleTo } = shown
      if (visibleTo !== undefined && visibleTo !== userId) throw new Error(`${directory.person(userId).name} cannot see this message.`)
      return { message: { ...stored, channel, ts, user, text, blocks, visibleTo } }
    },

    modalFor,

    /** Returns an open modal, or the Home tab as it is now. */
    viewFor(userId: string, viewId: string): { view: StoredView } {
      const home = views.homeOf(userId)
      return home?.id === viewId ? { view: home } : modalFor(userId, viewId)
    },

    /** Returns the Home tab as in a copy, which may be outdated: that is what this person sees. */
    homeFor(userId: string, { id, hash, view }: OpenView): { view: StoredView } {
      const home = views.homeOf(userId)
      if (home?.id !== id) throw new Error(`This is not the Home tab of ${directory.person(userId).name}.`)
      return { view: { ...home, hash, given: view } }
    },

    async click(userId: string, place: Place, name: string, how: ClickOptions = {}): Promise<Delivery> {
      const placed = element(place, name, how)
      if (placed.element.confirm && how.confirm === 'deny') return interactions.notSent('block_actions')
      const choice = how.choose === undefined ? {} : await chooseIn(userId, place, placed, how.choose)
      return dispatch(userId, place, placed, { ...choice, ...how.action })
    },

    /** Fills one input of a modal. Returns the delivery if the element dispatches at once. */
    async fill(userId: string, place: { view: StoredView }, name: string, input: string | null): Promise<Delivery | undefined> {
      const placed = element(place, name)
      const choice = await chooseIn(userId, place, placed, input)
      if (placed.block.type !== 'input' || placed.block.dispatch_action === true) return dispatch(userId, place, placed, choice)
      views.setValue(place.view, placed.blockId, placed.actionId, { type: placed.type, ...choice })
      return undefined
    },

    /** What Enter does in the composer: a message, `/invite`, or a command for the bot. Throws if Slack does not let this person write here. */
    async send(
      userId: string,
      channelRef: string,
      text: string,
      threadTs?: string,
    ): Promise<{ message?: StoredMessage; delivery?: Delivery }> {
      const channel = channelFor(userId, channelRef)
      if (channel.isArchived) throw new Error(`#${channel.name} is archived.`)
      const invitation = /^\/invite\s+(@?\S.*)$/.exec(text.trim())
      if (invitation) return invite(userId, channel, (invitation[1] ?? '').trim())
      if (!text.startsWith('/')) return { message: messages.post({ channel: channel.id, user: userId, text, threadTs }) }
      // Slack refuses commands of apps in threads.
      if (threadTs) throw new Error('Slash commands cannot be used in threads.')
      return { delivery: await interactions.command(userId, channel.id, text) }
    },
  }
}
export type Acts = ReturnType<typeof createActs>

/** A copy of a view. Undefined: the view on top. */
type ViewRef = Pick<OpenView, 'id'> | undefined

/** A message as it is now is named by its channel and stamp. */
type Target = Message | Pick<Message, 'channel' | 'ts'> | OpenView

/** What one person can do in Slack. A channel is named by id, `#name` or `name`. */
export function createHands(userId: string, { directory, messages, views, interactions, acts, notifications }: Parts) {
  const person = directory.person(userId)

  function top(): StoredView {
    const view = views.stackOf(userId).at(-1)
    if (view === undefined) throw new Error(`${person.name} has no modal open.`)
    return view
  }

  const viewOf = (ref: ViewRef) => (ref ? acts.viewFor(userId, ref.id) : { view: top() })
  const modalOf = (ref: ViewRef) => (ref ? acts.modalFor(userId, ref.id).view : top())

  function placeOf(target: Target | undefined): Place {
    if (target && 'ts' in target) return acts.messageFor(userId, target.channel, target.ts, 'text' in target ? target : undefined)
    return target?.view.type === 'home' ? acts.homeFor(userId, target) : viewOf(target)
  }

  return {
    person,

    async command(text: string, at: { channel: string }): Promise<Delivery> {
      const { delivery } = await acts.send(userId, at.channel, text)
      if (delivery === undefined) throw new Error(`"${text}" is not a command for the bot.`)
      return delivery
    },

    async say(text: string, at: { channel: string; threadTs?: string }): Promise<Message | undefined> {
      const { message } = await acts.send(userId, at.channel, text, at.threadTs)
      return message && messages.toMessage(message)
    },

    /**
     * Presses or chooses an element, named by its action id or visible text: of a modal, or of a message or Home tab as it is in the copy,
     * which may be old.
     */
    click: async (target: Target, element: string, how?: ClickOptions) => acts.click(userId, placeOf(target), element, how),

    /** Uses a shortcut of a message, named by its callback id. `message`: members that replace those of the message in the payload. */
    messageShortcut: async (target: Message, callbackId: string, how: { message?: Json } = {}) => {
      const { message } = acts.messageFor(userId, target.channel, target.ts, target)
      return interactions.messageShortcut(userId, callbackId, message, how.message)
    },
    /** Uses a global shortcut, named by its callback id. `channel`: the one that the person is looking at. */
    globalShortcut: (callbackId: string, how: { channel?: string } = {}) => interactions.globalShortcut(userId, callbackId, how.channel),

    /** Opens the app. The bot receives `app_home_opened`. What it publishes then is not awaited. */
    openHome: (how: { tab?: 'home' | 'messages' } = {}) => interactions.openHome(userId, how.tab),
    home(): OpenView | undefined {
      const home = views.homeOf(userId)
      return home && views.toOpenView(home)
    },

    openViews: () => views.stackOf(userId).map((view) => views.toOpenView(view)),
    topView: () => views.toOpenView(top()),

    /**
     * Fills inputs, named by label or block id: with text, with the text or value of an option, or with null to empty them. Pickers are
     * searched first. Elements with `dispatch_action` are delivered to the bot, and the deliveries returned.
     */
    async fill(view: ViewRef, values: Record<string, string | null>): Promise<Delivery[]> {
      const deliveries: Delivery[] = []
      const { view: stored } = viewOf(view)
      for (const [name, input] of Object.entries(values)) {
        const delivery = await acts.fill(userId, { view: stored }, name, input)
        if (delivery) deliveries.push(delivery)
      }
      return deliveries
    },

    submit: async (view?: ViewRef) => interactions.submit(userId, modalOf(view)),
    /** Closes the modal on top, or another one with everything above it. */
    close: async (view?: ViewRef) => views.close(modalOf(view)),

    /** Types into an external select, named by label, block id or action id. Returns the options of the bot. */
    async search(target: Target | undefined, element: string, query: string): Promise<Suggestions> {
      const place = placeOf(target)
      return acts.suggest(userId, place, acts.element(place, element), query)
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
