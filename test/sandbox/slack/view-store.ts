import { choiceMember, elementsOf, initialState, type Placed, type StateValues } from './elements.ts'
import { copyOf, isYes, type Json, NotDescribed, objectOf, objectsOf, stringOf, textOf } from './json.ts'
import { withIds } from './message-store.ts'
import type { OpenView, Option } from './slack.ts'
import type { State } from './state.ts'
import { problemsWithView } from './validate-blocks.ts'
import type { Channel, Directory } from './workspace.ts'

/** Whether a picker of conversations offers this channel to this person (docs.slack.dev, "Conversation filter object"). */
export function isOffered(element: Json, channel: Channel, userId: string): boolean {
  const filter = objectOf(element.filter)
  const kind = channel.isDirect ? 'im' : channel.isGroupDirect ? 'mpim' : channel.isPrivate ? 'private' : 'public'
  const included = Array.isArray(filter.include) ? filter.include.includes(kind) : true
  const isVisible = kind === 'public' || channel.members.includes(userId)
  return included && isVisible && !channel.isArchived && !(isYes(filter.exclude_external_shared_channels) && channel.isShared)
}

/** Returns the channels that a picker of conversations offers, as the options of a picker. */
export function conversationOptions(directory: Directory, element: Json, userId: string, query = ''): Option[] {
  return directory.workspace.channels
    .filter((channel) => isOffered(element, channel, userId) && channel.name.includes(query.replace(/^#/, '').toLowerCase()))
    .map(({ id, name }) => ({ text: { type: 'plain_text', text: `#${name}` }, value: id }))
}

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
        close: given.close ?? null,
        submit: given.submit ?? null,
        previous_view_id: stored.previousId,
        root_view_id: stored.rootId,
        app_id: bot.appId,
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

const longestText = 3000

function problemWith({ block, element, type }: Placed, value: unknown): string | undefined {
  const isEmpty = value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
  if (isEmpty) return isYes(block.optional) ? undefined : 'Please complete this required field.'
  const longest = Number(element.max_length ?? longestText)
  if (type === 'plain_text_input' && stringOf(value).length > longest) return `Please enter no more than ${longest} characters.`
  return undefined
}

/** Returns what Slack's own client reports by block id, before it sends a submission to the bot. */
export function inputProblems(view: StoredView): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const placed of elementsOf(objectsOf(view.given.blocks))) {
    const member = choiceMember(placed.type)
    if (placed.block.type !== 'input' || member === undefined) continue
    const problem = problemWith(placed, view.values[placed.blockId]?.[placed.actionId]?.[member])
    if (problem !== undefined) problems[placed.blockId] = problem
  }
  return problems
}

export type SubmissionResult = { taken: false } | { taken: true; errors?: Record<string, string> }

/** Every error must belong to an existing input block. Otherwise Slack accepts none of them. */
function errorsFor(view: StoredView, given: unknown): SubmissionResult {
  const inputs = objectsOf(view.given.blocks).filter((block) => block.type === 'input')
  const known = new Set(inputs.map((block) => stringOf(block.block_id)))
  const errors = Object.entries(objectOf(given)).map(([blockId, message]) => [blockId, String(message)] as const)
  if (errors.length === 0 || errors.some(([blockId]) => !known.has(blockId))) return { taken: false }
  return { taken: true, errors: Object.fromEntries(errors) }
}

/** Applies the acknowledgement of a submission (docs.slack.dev/surfaces/modals#handling_submissions). Without a body the view closes. */
export function answerSubmission(views: ViewStore, view: StoredView, body: unknown): SubmissionResult {
  const answer = objectOf(body)
  if (body === undefined) {
    views.close(view)
    return { taken: true }
  }
  const action = answer.response_action
  if (action === 'errors') return errorsFor(view, answer.errors)
  if (action !== 'push' && action !== 'update') throw new NotDescribed(`the answer "${String(action)}" to a submission`)

  const isOpen = views.find(view.id) !== undefined
  if (!isOpen || problemsWithView(answer.view, 'modal').length > 0) return { taken: false }
  if (action === 'push') return { taken: views.push(view.userId, objectOf(answer.view)) !== undefined }
  views.update(view, objectOf(answer.view))
  return { taken: true }
}
