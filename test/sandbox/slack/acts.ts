import { actionOf, choiceMember, choiceOf, findElement, type Placed, type StateValues, type Which } from './elements.ts'
import type { Interactions } from './interactions.ts'
import { type Json, objectsOf } from './json.ts'
import type { MessageStore, StoredMessage } from './message-store.ts'
import type { ClickOptions, Delivery, Message, OpenView, Suggestions } from './slack.ts'
import type { State } from './state.ts'
import { conversationOptions, type StoredView, type ViewStore } from './view-store.ts'
import type { Channel, Directory } from './workspace.ts'

export type Place = { message: StoredMessage } | { view: StoredView }

export interface ActsOptions {
  state: State
  directory: Directory
  messages: MessageStore
  views: ViewStore
  interactions: Interactions
}

/** What people do in messages, modals and Home tabs: find the element, choose in it, keep the choice, and deliver it to the bot. */
export function createActs(options: ActsOptions) {
  const { state, directory, messages, views, interactions } = options
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

  /** Delivers `choice` in an element to the bot, after it was kept. */
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

  return {
    element,
    suggest,

    /** Returns a message of the channel as it is now, or as in an old copy. Throws if this person cannot see it. */
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
  }
}
export type Acts = ReturnType<typeof createActs>

export interface Composer {
  /** Sends the text: a message, `/invite`, or a command for the bot. Throws a sentence if Slack does not let this person write here. */
  send(userId: string, channelRef: string, text: string, threadTs?: string): Promise<{ message?: StoredMessage; delivery?: Delivery }>
}

/** What Enter does in the composer. */
export function createComposer(directory: Directory, messages: MessageStore, interactions: Interactions): Composer {
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
    async send(userId, channelRef, text, threadTs) {
      const channel = writable(userId, channelRef)
      const invitation = /^\/invite\s+(@?\S.*)$/.exec(text.trim())
      if (invitation) return invite(userId, channel, (invitation[1] ?? '').trim())
      if (!text.startsWith('/'))
        return { message: messages.post({ channel: channel.id, user: userId, text, ...(threadTs ? { threadTs } : {}) }) }
      // Slack refuses commands of apps in threads.
      if (threadTs) throw new Error('Slash commands cannot be used in threads.')
      return { delivery: await interactions.command(userId, channel.id, text) }
    },
  }
}
