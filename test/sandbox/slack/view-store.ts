import { isOffered } from './conversations.ts'
import type { Directory } from './directory.ts'
import { elementsOf, initialState, type StateValues } from './elements.ts'
import { copyOf, isYes, type Json, objectsOf, stringOf, textOf } from './json.ts'
import { withIds } from './message-store.ts'
import type { OpenView } from './slack.ts'
import type { State } from './state.ts'
import type { Channel } from './workspace.ts'

export interface StoredView {
  id: string
  hash: string
  userId: string
  /** True for a Home tab, false for a modal. */
  isHome: boolean
  /** The view of the bot, with ids filled in. */
  given: Json
  values: StateValues
  rootId: string
  previousId: string | null
}

const mostPushed = 3

/** Input is kept if the block, the element and the kind of the element stay the same. */
function keepInput(blocks: Json[], before: StateValues): StateValues {
  const values = initialState(blocks)
  for (const [blockId, elements] of Object.entries(values)) {
    for (const [actionId, value] of Object.entries(elements)) {
      const typed = before[blockId]?.[actionId]
      if (typed && typed.type === value.type) elements[actionId] = typed
    }
  }
  return values
}

/** Chooses the channel that the person is looking at, in pickers of conversations that default to it and offer it. */
function chooseCurrent(blocks: Json[], values: StateValues, channel: Channel, userId: string): void {
  for (const { blockId, actionId, element, type } of elementsOf(blocks)) {
    const isDefault = type === 'conversations_select' && isYes(element.default_to_current_conversation)
    if (isDefault && isOffered(element, channel, userId)) {
      values[blockId] = { ...values[blockId], [actionId]: { type, selected_conversation: channel.id } }
    }
  }
}

/** Keeps the open modals of people, as one stack for each, and the Home tabs. */
export function createViewStore(directory: Directory, state: State) {
  const stacks = new Map<string, StoredView[]>()
  const homes = new Map<string, StoredView>()

  const freshHash = () => `${Math.floor(state.now() / 1000)}.${state.id('h')}`
  const stackOf = (userId: string): StoredView[] => stacks.get(userId) ?? []

  function create(userId: string, view: Json, below?: StoredView, isHome = false, viewing?: string): StoredView {
    const id = state.id('V')
    const given: Json = { ...copyOf(view), blocks: withIds(objectsOf(view.blocks), state) }
    const values = initialState(objectsOf(given.blocks))
    const current = viewing === undefined ? undefined : directory.channel(viewing)
    if (current) chooseCurrent(objectsOf(given.blocks), values, current, userId)
    return { id, hash: freshHash(), userId, isHome, given, values, rootId: below?.rootId ?? id, previousId: below?.id ?? null }
  }

  function setStack(userId: string, stack: StoredView[]): void {
    stacks.set(userId, stack)
    state.changed({ visible: true })
  }

  function update(stored: StoredView, view: Json): void {
    stored.given = { ...copyOf(view), blocks: withIds(objectsOf(view.blocks), state) }
    stored.values = keepInput(objectsOf(stored.given.blocks), stored.values)
    stored.hash = freshHash()
    state.changed({ visible: true })
  }

  return {
    stackOf,
    update,
    /** Finds an open modal. */
    find: (id: string): StoredView | undefined => [...stacks.values()].flat().find((view) => view.id === id),

    /** `viewing`: the channel that the person is looking at. */
    open(userId: string, view: Json, viewing?: string): StoredView {
      const opened = create(userId, view, undefined, false, viewing)
      setStack(userId, [opened])
      return opened
    },

    /** Returns undefined if the stack is full: Slack allows three views. */
    push(userId: string, view: Json): StoredView | undefined {
      const stack = stackOf(userId)
      if (stack.length >= mostPushed) return undefined
      const pushed = create(userId, view, stack.at(-1))
      setStack(userId, [...stack, pushed])
      return pushed
    },

    /** Removes a view and everything above it. */
    close(stored: StoredView): void {
      const stack = stackOf(stored.userId)
      // It may have been closed before the bot answered.
      if (stack.includes(stored)) setStack(stored.userId, stack.slice(0, stack.indexOf(stored)))
    },

    clear(userId: string): void {
      setStack(userId, [])
    },

    setValue(stored: StoredView, blockId: string, actionId: string, value: Json): void {
      stored.values[blockId] = { ...stored.values[blockId], [actionId]: copyOf(value) }
      state.changed({ visible: true })
    },

    /** Puts a view on a person's Home tab. The tab keeps its id, and every publication has its own hash. */
    publish(userId: string, view: Json): StoredView {
      const published = homes.get(userId)
      if (published) {
        update(published, view)
        return published
      }
      const home = create(userId, view, undefined, true)
      homes.set(userId, home)
      state.changed({ visible: true })
      return home
    },

    homeOf: (userId: string): StoredView | undefined => homes.get(userId),

    /** Returns Slack's view object, as in answers of the Web API and in payloads. */
    toSlack(stored: StoredView): Json {
      const { bot, team } = directory
      const { given } = stored
      return copyOf({
        id: stored.id,
        team_id: team.id,
        type: stored.isHome ? 'home' : 'modal',
        blocks: given.blocks,
        private_metadata: stringOf(given.private_metadata),
        callback_id: stringOf(given.callback_id),
        state: { values: stored.values },
        hash: stored.hash,
        // Home tabs have no title. Slack sends this instead.
        title: given.title ?? { type: 'plain_text', text: 'View Title', emoji: true },
        clear_on_close: false,
        notify_on_close: false,
        close: given.close ?? null,
        submit: given.submit ?? null,
        previous_view_id: stored.previousId,
        root_view_id: stored.rootId,
        app_id: bot.appId,
        external_id: '',
        app_installed_team_id: team.id,
        bot_id: bot.botId,
      })
    },

    toOpenView(stored: StoredView): OpenView {
      return {
        id: stored.id,
        hash: stored.hash,
        callbackId: stringOf(stored.given.callback_id),
        title: textOf(stored.given.title),
        view: this.toSlack(stored),
      }
    },
  }
}
export type ViewStore = ReturnType<typeof createViewStore>
