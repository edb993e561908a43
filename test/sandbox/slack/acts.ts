import { actionOf, choiceMember, choiceOf, findElement, type Placed, type StateValues, type Which } from './elements.ts'
import { type Json, objectsOf } from './json.ts'
import type { StoredMessage } from './message-store.ts'
import type { ClickOptions, Delivery, Message, OpenView, Suggestions } from './slack.ts'
import type { Parts } from './start-slack.ts'
import { conversationOptions, type StoredView } from './view-store.ts'
import type { Channel } from './workspace.ts'

export type Place = { message: StoredMessage } | { view: StoredView }

/** What people do in messages, modals and Home tabs: find the element, choose in it, keep the choice, and deliver it to the bot. */
export function createActs({ state, directory, messages, views, interactions }: Omit<Parts, 'acts'>) {
  /** The choices of each person in each message. */
  const chosen = new Map<string, StateValues>()

  const blocksOf = (place: Place): Json[] => ('message' in place ? (place.message.blocks ?? []) : objectsOf(place.view.given.blocks))

  function inWords(place: Place): string {
    if ('message' in place) return 'in this message'
    return place.view.isHome ? 'in this Home tab' : 'in this modal'
  }

  function element(place: Place, name: string, which: Which = {}): Placed {
    const found = findElement(blocksOf(place), name, which)
    if (found) return found
    const value = which.value === undefined ? '' : ` with the value "${which.value}"`
    const block = which.blockId === undefined ? '' : ` in the block "${which.blockId}"`
    throw new Error(`There is nothing called "${name}"${value}${block} to act on ${inWords(place)}.`)
  }

  function modalFor(userId: string, viewId: string): { view: StoredView } {
    const view = views.find(viewId)
    if (view === undefined || view.userId !== userId) throw new Error('This modal is no longer open.')
    return { view }
  }

  function keepInMessage(userId: string, message: StoredMessage, placed: Placed, choice: Json): StateValues {
    const key = `${userId} ${message.channel} ${message.ts}`
    const values = chosen.get(key) ?? {}
    const member = choiceMember(placed.type)
    if (member !== undefined && member in choice) {
      values[placed.blockId] = { ...values[placed.blockId], [placed.actionId]: { type: placed.type, [member]: choice[member] } }
      chosen.set(key, values)
    }
    return values
  }

  function dispatch(userId: string, place: Place, placed: Placed, choice: Json): Promise<Delivery> {
    const action = actionOf(placed, choice, state.stamp())
    if ('message' in place) {
      const values = keepInMessage(userId, place.message, placed, choice)
      return interactions.actInMessage(userId, place.message, action, values)
    }
    const member = choiceMember(placed.type)
    if (member !== undefined && member in choice) {
      views.setValue(place.view, placed.blockId, placed.actionId, { type: placed.type, [member]: choice[member] })
    }
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
    if (placed.type === 'conversations_select') {
      return choiceOf(
        placed,
        input,
        conversationOptions(directory, placed.element, userId).map((option) => ({ ...option })),
      )
    }
    if (placed.type !== 'external_select' || input === null) return choiceOf(placed, input)
    const found = await suggest(userId, place, placed, input)
    return choiceOf(
      placed,
      input,
      found.options.map((option) => ({ ...option })),
    )
  }

  function writable(userId: string, channelRef: string): Channel {
    const channel = directory.channel(channelRef)
    const person = directory.person(userId)
    if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
    if (!channel.members.includes(userId)) throw new Error(`${person.name} is not in #${channel.name}.`)
    if (channel.isArchived) throw new Error(`#${channel.name} is archived.`)
    return channel
  }

  function invite(userId: string, channel: Channel, handle: string): { message?: StoredMessage } {
    const invited = directory.findByHandle(handle)
    if (invited === undefined) {
      interactions.notify(userId, `Nobody here is called ${handle}.`)
      return {}
    }
    if (channel.members.includes(invited.id)) {
      interactions.notify(userId, `${invited.name} is already in this channel.`)
      return {}
    }
    directory.join(channel.id, invited.id)
    const text = `was added to #${channel.name} by ${directory.person(userId).name}.`
    return { message: messages.post({ channel: channel.id, user: invited.id, text, subtype: 'channel_join' }) }
  }

  return {
    element,
    suggest,

    messageFor(userId: string, channelRef: string, ts: string, copy?: Message): { message: StoredMessage } {
      const channel = directory.channel(channelRef)
      const person = directory.person(userId)
      const stored = messages.find(channel.id, ts)
      const visibleTo = copy ? copy.visibleTo : stored?.visibleTo
      if (person.deleted) throw new Error(`${person.name} is deactivated and cannot do anything.`)
      if (!channel.members.includes(userId)) throw new Error(`${person.name} is not in #${channel.name}.`)
      if (visibleTo !== undefined && visibleTo !== userId) throw new Error(`${person.name} cannot see this message.`)
      if (copy === undefined) {
        if (stored === undefined) throw new Error('This message is no longer there.')
        return { message: stored }
      }
      const base: StoredMessage = stored ?? { channel: channel.id, ts, user: copy.user, text: '', ...(visibleTo ? { visibleTo } : {}) }
      const { blocks: _now, ...rest } = base
      return { message: { ...rest, text: copy.text, ...(copy.blocks ? { blocks: copy.blocks } : {}) } }
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
      const channel = writable(userId, channelRef)
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

/** A view: its id, a copy of it, or undefined for the view on top. */
type ViewRef = string | Pick<OpenView, 'id'>

/** What one person can do in Slack. A channel is named by id, `#name` or `name`. */
export function createHands(userId: string, { directory, messages, views, interactions, acts, shown }: Parts) {
  const person = directory.person(userId)

  function top(): StoredView {
    const view = views.stackOf(userId).at(-1)
    if (view === undefined) throw new Error(`${person.name} has no modal open.`)
    return view
  }

  function viewOf(ref: ViewRef | undefined): { view: StoredView } {
    if (ref === undefined) return { view: top() }
    return acts.viewFor(userId, typeof ref === 'string' ? ref : ref.id)
  }

  function modalOf(ref: ViewRef | undefined): StoredView {
    return ref === undefined ? top() : acts.modalFor(userId, typeof ref === 'string' ? ref : ref.id).view
  }

  function placeOf(target: Message | OpenView | string, channel?: string): Place {
    if (typeof target === 'string') return channel ? acts.messageFor(userId, channel, target) : viewOf(target)
    if ('ts' in target) return acts.messageFor(userId, target.channel, target.ts, target)
    return target.view.type === 'home' ? acts.homeFor(userId, target) : viewOf(target)
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
    click: async (target: Message | OpenView | string, element: string, how?: ClickOptions) =>
      acts.click(userId, placeOf(target, how?.channel), element, how),

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
    async fill(view: ViewRef | undefined, values: Record<string, string | null>): Promise<Delivery[]> {
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
    async search(target: ViewRef | Message | undefined, element: string, query: string): Promise<Suggestions> {
      const place = target !== undefined && typeof target !== 'string' && 'ts' in target ? placeOf(target) : viewOf(target)
      return acts.suggest(userId, place, acts.element(place, element), query)
    },

    /** Returns the messages at channel level and in threads by ts, with the ephemeral messages of this person. */
    sees: (channel: string) => messages.seen(directory.channel(channel).id, userId).map((message) => messages.toMessage(message)),
    /** Returns what Slack's own client showed this person (`operation_timeout` and the like), oldest first. */
    notices: () => shown.notices.filter((notice) => notice.userId === userId).map(({ text }) => text),
    /** Returns what this person's phone showed, oldest first. */
    notifications: () => shown.notifications.filter(({ people }) => people.includes(userId)),
    /** Sends the same bytes again, with the signature: a repeated or replayed delivery. */
    redeliver: (delivery: Delivery) => interactions.redeliver(delivery),
  }
}
export type Hands = ReturnType<typeof createHands>
