import { elementsOf } from './elements.ts'
import { copyOf, isObject, type Json, stringOf } from './json.ts'
import type { Message } from './slack.ts'
import type { State } from './state.ts'
import type { Directory } from './workspace.ts'

/** The notification of a new message, as the phones of these people show it. */
export interface Notification {
  people: string[]
  channel: string
  ts: string
  threadTs?: string | undefined
  user: string
  /** Phones show the top-level text, never the blocks. */
  text: string
}

/**
 * Finds the people and groups whom a message mentions, where a person sees that: if it has blocks, its text is only shown in notifications.
 * Plain text mentions nobody.
 */
function mentionsIn({ text, blocks }: Pick<Draft, 'text' | 'blocks'>): { people: string[]; groups: string[] } {
  const marks = (blocks ? markupIn(blocks) : [text]).flatMap((one) => [...one.matchAll(/<(@|!subteam\^)(\w+)/g)])
  const named = (mark: string) => marks.flatMap(([, found, id]) => (found === mark && id ? [id] : []))
  return { people: named('@'), groups: named('!subteam^') }
}

/** Returns the mrkdwn texts anywhere in blocks, and the mentions of rich text as mrkdwn. */
function markupIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(markupIn)
  // The text of a confirmation is shown only to the person who presses the button.
  if (!isObject(value) || value.type === 'button') return []
  if (value.type === 'mrkdwn') return [stringOf(value.text)]
  if (value.type === 'user') return [`<@${stringOf(value.user_id)}>`]
  if (value.type === 'usergroup') return [`<!subteam^${stringOf(value.usergroup_id)}>`]
  return Object.values(value).flatMap(markupIn)
}

export interface Content {
  text: string
  blocks?: Json[]
  metadata?: Json
}

export interface Draft extends Content {
  channel: string
  user: string
  threadTs?: string
  visibleTo?: string
  subtype?: string
}

export const broadcastSubtype = 'thread_broadcast'

export interface StoredMessage extends Draft {
  ts: string
  editedTs?: string
  /** Its replies keep a place at its position. */
  deleted?: boolean
}

/** Gives every block and interactive element without an id one, as Slack does. */
export function withIds(blocks: Json[], state: State): Json[] {
  const filled = copyOf(blocks)
  for (const block of filled) if (stringOf(block.block_id) === '') block.block_id = state.id('b')
  for (const { element } of elementsOf(filled)) if (stringOf(element.action_id) === '') element.action_id = state.id('a')
  return filled
}

export function createMessageStore(directory: Directory, state: State) {
  let messages: StoredMessage[] = []
  // An index beside the list: long runs have thousands of messages, and each read of a message needs both.
  const byPlace = new Map<string, StoredMessage>()
  const threads = new Map<string, StoredMessage[]>()
  /** The people whom each message made followers of its thread, when it was posted. */
  const followers = new WeakMap<StoredMessage, string[]>()

  function find(channel: string, ts: string): StoredMessage | undefined {
    return byPlace.get(`${channel} ${ts}`)
  }

  function repliesTo(parent: StoredMessage): StoredMessage[] {
    return [...(threads.get(`${parent.channel} ${parent.ts}`) ?? [])]
  }

  /**
   * Returns whose phones show a new message, with Slack's default settings: direct messages, mentions, mentions of their groups, and replies
   * in threads that they follow. People follow a thread if they wrote in it, or were named in one of its messages when that was posted. An
   * ephemeral message and those of Slack itself notify nobody, and an edit is no new message. Source: Slack's help, "Guide to Slack
   * notifications".
   */
  function notificationOf(message: StoredMessage): Notification | undefined {
    const { channel: id, ts, user, text, threadTs, visibleTo, subtype } = message
    if (visibleTo !== undefined || subtype === 'channel_join') return undefined
    const channel = directory.channel(id)
    const { people, groups } = mentionsIn(message)
    const parent = threadTs === undefined ? undefined : find(id, threadTs)
    const wanted = new Set([
      ...people,
      ...groups.flatMap((group) => directory.userGroup(group)?.members ?? []),
      ...(parent ? [parent, ...repliesTo(parent)] : []).flatMap((earlier) => followers.get(earlier) ?? []),
      ...(channel.isDirect || channel.isGroupDirect ? channel.members : []),
    ])
    const notified = channel.members.filter((member) => wanted.has(member) && member !== user && member !== directory.bot.userId)
    return notified.length > 0 ? { people: notified, channel: id, ts, user, text, threadTs } : undefined
  }

  function keep(message: StoredMessage): void {
    messages.push(message)
    followers.set(message, [message.user, ...mentionsIn(message).people])
    byPlace.set(`${message.channel} ${message.ts}`, message)
    if (message.threadTs === undefined || message.visibleTo !== undefined) return
    const thread = `${message.channel} ${message.threadTs}`
    threads.set(thread, [...(threads.get(thread) ?? []), message])
  }

  function drop(message: StoredMessage): void {
    const others = (one: StoredMessage) => one !== message
    messages = messages.filter(others)
    byPlace.delete(`${message.channel} ${message.ts}`)
    const thread = `${message.channel} ${message.threadTs}`
    const replies = threads.get(thread)
    if (replies) threads.set(thread, replies.filter(others))
  }

  function inChannel(channel: string): StoredMessage[] {
    return messages.filter((message) => message.channel === channel)
  }

  function toSlack(message: StoredMessage, options: { metadata?: boolean } = {}): Json {
    const { bot, team } = directory
    const replies = repliesTo(message)
    const isOfBot = message.user === bot.userId
    return copyOf({
      user: message.user,
      type: 'message',
      subtype: message.deleted ? 'tombstone' : message.subtype,
      ts: message.ts,
      bot_id: isOfBot ? bot.botId : undefined,
      app_id: isOfBot ? bot.appId : undefined,
      bot_profile: isOfBot ? { id: bot.botId, app_id: bot.appId, name: bot.name, deleted: false, team_id: team.id } : undefined,
      text: message.text,
      team: team.id,
      thread_ts: message.threadTs ?? (replies.length > 0 ? message.ts : undefined),
      reply_count: replies.length || undefined,
      edited: message.editedTs && { user: message.user, ts: message.editedTs },
      blocks: message.blocks,
      metadata: options.metadata ? message.metadata : undefined,
    })
  }

  return {
    find,
    repliesTo,
    inChannel,

    /** Returns the messages at channel level that everybody sees, with broadcast replies. */
    levelOf: (channel: string): StoredMessage[] =>
      inChannel(channel).filter(
        (message) => message.visibleTo === undefined && (message.threadTs === undefined || message.subtype === broadcastSubtype),
      ),

    /** Returns the stamp of the thread for a `thread_ts`. The stamp of a reply means its parent. Undefined if there is none. */
    threadOf(channel: string, ts: string): string | undefined {
      const found = find(channel, ts)
      if (found === undefined || found.visibleTo !== undefined) return undefined
      return found.threadTs ?? found.ts
    },

    post(draft: Draft): StoredMessage {
      const { blocks, ...rest } = draft
      const message: StoredMessage = { ...copyOf(rest), ...(blocks?.length ? { blocks: withIds(blocks, state) } : {}), ts: state.stamp() }
      const notification = notificationOf(message)
      keep(message)
      state.changed({ visible: true, ...(notification ? { notification } : {}) })
      return message
    },

    /** Text without blocks removes the blocks. Metadata that is not given stays. */
    replace(message: StoredMessage, content: Content): void {
      message.text = content.text
      if (content.metadata) message.metadata = copyOf(content.metadata)
      if (content.blocks?.length) message.blocks = withIds(content.blocks, state)
      else {
        delete message.blocks
        // Slack marks only changed texts as edited, never blocks.
        message.editedTs = state.stamp()
      }
      state.changed({ visible: true })
    },

    remove(message: StoredMessage): void {
      if (repliesTo(message).length > 0) {
        message.deleted = true
        message.text = 'This message was deleted.'
        delete message.blocks
        delete message.metadata
      } else {
        drop(message)
      }
      state.changed({ visible: true })
    },

    /** Returns what `userId` sees of a channel. Without `userId`, with everybody's ephemeral messages. */
    seen(channel: string, userId?: string): StoredMessage[] {
      return inChannel(channel).filter((message) => message.visibleTo === undefined || userId === undefined || message.visibleTo === userId)
    },

    ephemeralsOf: (userId: string): StoredMessage[] => messages.filter((message) => message.visibleTo === userId),

    toMessage(message: StoredMessage): Message {
      const { channel, ts, threadTs, user, text, blocks, visibleTo, deleted, metadata } = message
      const author = directory.person(user)
      return copyOf({
        channel,
        ts,
        threadTs,
        broadcast: message.subtype === broadcastSubtype || undefined,
        user,
        userName: author.name,
        isBot: author.isBot === true,
        text,
        blocks,
        ephemeral: visibleTo !== undefined,
        visibleTo,
        edited: message.editedTs !== undefined || undefined,
        deleted,
        metadata,
      })
    },

    toSlack,
  }
}
export type MessageStore = ReturnType<typeof createMessageStore>
