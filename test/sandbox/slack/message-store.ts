import { elementsOf } from './elements.ts'
import { copyOf, isObject, type Json, stringOf } from './json.ts'
import type { Message } from './slack.ts'
import type { State } from './state.ts'
import type { Channel, Directory, UserGroup } from './workspace.ts'

/** The notification of a new message, as the phones of these people show it. */
export interface Notification {
  people: string[]
  channel: string
  ts: string
  threadTs?: string
  user: string
  /** Slack shows the top-level text in notifications, never the blocks. */
  text: string
}

interface NewMessage {
  user: string
  text: string
  blocks?: Json[]
  visibleTo?: string
  subtype?: string
}

interface Around {
  channel: Channel
  userGroups: UserGroup[]
  /** The bot, which has no phone. */
  bot: string
  /** The people who follow its thread. Empty outside of a thread. */
  followers: string[]
}

/**
 * Returns the people whose phones show a new message, with Slack's default settings: direct messages, mentions, mentions of their groups, and
 * replies in threads that they follow. An ephemeral message notifies nobody, and an edit is no new message. Source: Slack's help, "Guide to
 * Slack notifications".
 */
export function notifiedOf(message: NewMessage, { channel, userGroups, bot, followers }: Around): string[] {
  // Slack's own messages, such as those of people who join, notify nobody.
  if (message.visibleTo !== undefined || message.subtype === 'channel_join') return []
  const { people, groups, isBroadcast } = mentionsIn(message)
  const ofGroups = userGroups.filter(({ id, disabled }) => groups.includes(id) && !disabled).flatMap(({ members }) => members)
  const everybody = channel.isDirect || channel.isGroupDirect || isBroadcast ? channel.members : []
  const notified = new Set([...people, ...ofGroups, ...followers, ...everybody])
  return channel.members.filter((member) => notified.has(member) && member !== message.user && member !== bot)
}

/**
 * Returns the people who follow a thread because of one of its messages: its author, and those who were named in it when it was posted. An
 * edit that names more people makes nobody a follower. Source: Slack's help, "Use threads to organize discussions".
 */
export function followersBy(message: NewMessage): string[] {
  return [message.user, ...mentionsIn(message).people]
}

interface Mentions {
  people: string[]
  groups: string[]
  isBroadcast: boolean
}

/** Finds the mentions that a person sees. Where a message has blocks, its text is only shown in notifications. */
function mentionsIn({ text, blocks = [] }: NewMessage): Mentions {
  const texts = blocks.length > 0 ? markupIn(blocks) : [text]
  const marks = texts.flatMap((one) => [...one.matchAll(/<(@|!subteam\^|!(?=here|channel|everyone))([^>|]+)[^>]*>/g)])
  const named = (mark: string) => marks.flatMap(([, found, id]) => (found === mark && id ? [id] : []))
  return { people: named('@'), groups: named('!subteam^'), isBroadcast: named('!').length > 0 }
}

/** Returns the mrkdwn texts anywhere in blocks, and the mentions of rich text as mrkdwn. Plain text mentions nobody. */
function markupIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(markupIn)
  if (!isObject(value)) return []
  switch (value.type) {
    case 'mrkdwn':
      return [stringOf(value.text)]
    case 'user':
      return [`<@${stringOf(value.user_id)}>`]
    case 'usergroup':
      return [`<!subteam^${stringOf(value.usergroup_id)}>`]
    case 'broadcast':
      return [`<!${stringOf(value.range)}>`]
    case 'button':
      // The text of a confirmation is shown only to the person who presses the button.
      return []
    default:
      return Object.values(value).flatMap(markupIn)
  }
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

  function notificationOf(message: StoredMessage): Notification | undefined {
    const { channel, ts, user, text, threadTs } = message
    const parent = threadTs === undefined ? undefined : find(channel, threadTs)
    const people = notifiedOf(message, {
      channel: directory.channel(channel),
      userGroups: directory.workspace.userGroups,
      bot: directory.bot.userId,
      followers: parent ? [parent, ...repliesTo(parent)].flatMap((earlier) => followers.get(earlier) ?? []) : [],
    })
    return people.length > 0 ? { people, channel, ts, user, text, ...(threadTs ? { threadTs } : {}) } : undefined
  }

  function keep(message: StoredMessage): void {
    messages.push(message)
    followers.set(message, followersBy(message))
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
