import type { Directory } from './directory.ts'
import { elementsOf } from './elements.ts'
import { copyOf, type Json, objectOf, stringOf } from './json.ts'
import type { Message } from './slack.ts'
import type { State } from './state.ts'

export interface Content {
  text: string
  blocks?: Json[]
  metadata?: Json
}

export interface Draft extends Content {
  channel: string
  user: string
  threadTs?: string
  /** Makes it ephemeral: the one person who sees it. */
  visibleTo?: string
  subtype?: string
}

/** A reply that stands in the channel as well. */
export const broadcastSubtype = 'thread_broadcast'

export interface StoredMessage extends Draft {
  ts: string
  editedTs?: string
  /** Its replies keep a place where it was. */
  deleted?: boolean
}

/** Gives every block and interactive element the id that Slack would make up for it. */
export function withIds(blocks: Json[], state: State): Json[] {
  const filled = copyOf(blocks)
  for (const block of filled) if (stringOf(block.block_id) === '') block.block_id = state.id('b')
  for (const { element } of elementsOf(filled)) if (stringOf(element.action_id) === '') element.action_id = state.id('a')
  return filled
}

export function createMessageStore(directory: Directory, state: State) {
  let messages: StoredMessage[] = []
  // Beside the list, because a long run has thousands, and each that is told of asks for both.
  const byPlace = new Map<string, StoredMessage>()
  const threads = new Map<string, StoredMessage[]>()

  function find(channel: string, ts: string): StoredMessage | undefined {
    return byPlace.get(`${channel} ${ts}`)
  }

  /** What everybody sees below a message, oldest first. */
  function repliesTo(parent: StoredMessage): StoredMessage[] {
    return [...(threads.get(`${parent.channel} ${parent.ts}`) ?? [])]
  }

  function keep(message: StoredMessage): void {
    messages.push(message)
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

  /** As the Web API and interaction payloads tell of it. */
  function toSlack(message: StoredMessage, options: { metadata?: boolean } = {}): Json {
    const { bot, team } = directory
    const replies = repliesTo(message)
    return copyOf({
      user: message.user,
      type: 'message',
      ...(message.subtype || message.deleted ? { subtype: message.deleted ? 'tombstone' : message.subtype } : {}),
      ts: message.ts,
      ...(message.user === bot.userId
        ? {
            bot_id: bot.botId,
            app_id: bot.appId,
            bot_profile: { id: bot.botId, app_id: bot.appId, name: bot.name, deleted: false, team_id: team.id },
          }
        : {}),
      text: message.text,
      team: team.id,
      ...(message.threadTs ? { thread_ts: message.threadTs, parent_user_id: find(message.channel, message.threadTs)?.user } : {}),
      ...(replies.length > 0
        ? {
            thread_ts: message.ts,
            reply_count: replies.length,
            reply_users: [...new Set(replies.map((reply) => reply.user))],
            latest_reply: replies.at(-1)?.ts,
          }
        : {}),
      ...rootOf(message),
      ...(message.editedTs ? { edited: { user: message.user, ts: message.editedTs } } : {}),
      ...(message.blocks ? { blocks: message.blocks } : {}),
      ...(options.metadata && message.metadata ? { metadata: objectOf(message.metadata) } : {}),
    })
  }

  /** A broadcast reply carries the message that it replies to. */
  function rootOf(message: StoredMessage): Json {
    const root = message.subtype === broadcastSubtype && message.threadTs ? find(message.channel, message.threadTs) : undefined
    return root ? { root: toSlack(root) } : {}
  }

  return {
    find,
    repliesTo,
    inChannel,

    /** What everybody sees at channel level, broadcast replies among it. */
    levelOf: (channel: string): StoredMessage[] =>
      inChannel(channel).filter(
        (message) => message.visibleTo === undefined && (message.threadTs === undefined || message.subtype === broadcastSubtype),
      ),

    /** The stamp of the thread that a `thread_ts` means: a reply's own stamp stands for its parent. Undefined when there is none. */
    threadOf(channel: string, ts: string): string | undefined {
      const found = find(channel, ts)
      if (found === undefined || found.visibleTo !== undefined) return undefined
      return found.threadTs ?? found.ts
    },

    post(draft: Draft): StoredMessage {
      const { blocks, ...rest } = draft
      const message: StoredMessage = { ...copyOf(rest), ...(blocks?.length ? { blocks: withIds(blocks, state) } : {}), ts: state.stamp() }
      keep(message)
      state.changed({ visible: true })
      return message
    },

    /** Text without blocks takes the blocks away; metadata that is not given stays. */
    replace(message: StoredMessage, content: Content): void {
      message.text = content.text
      if (content.metadata) message.metadata = copyOf(content.metadata)
      if (content.blocks?.length) message.blocks = withIds(content.blocks, state)
      else {
        delete message.blocks
        // Slack marks only text as edited, never blocks.
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

    /** What `userId` sees of a channel; without one, everybody's ephemerals too. */
    seen(channel: string, userId?: string): StoredMessage[] {
      return inChannel(channel).filter((message) => message.visibleTo === undefined || userId === undefined || message.visibleTo === userId)
    },

    ephemeralsOf: (userId: string): StoredMessage[] => messages.filter((message) => message.visibleTo === userId),

    toMessage(message: StoredMessage): Message {
      const author = directory.person(message.user)
      const replies = repliesTo(message).length
      return copyOf({
        channel: message.channel,
        ts: message.ts,
        ...(message.threadTs ? { threadTs: message.threadTs } : {}),
        ...(message.subtype === broadcastSubtype ? { broadcast: true } : {}),
        user: message.user,
        userName: author.name,
        isBot: author.isBot === true,
        text: message.text,
        ...(message.blocks ? { blocks: message.blocks } : {}),
        ephemeral: message.visibleTo !== undefined,
        ...(message.visibleTo ? { visibleTo: message.visibleTo } : {}),
        ...(message.editedTs ? { edited: true } : {}),
        ...(message.deleted ? { deleted: true } : {}),
        ...(replies > 0 ? { replyCount: replies } : {}),
        ...(message.metadata ? { metadata: message.metadata } : {}),
        time: new Date(Number(message.ts) * 1000).toISOString(),
      })
    },

    toSlack,
  }
}
export type MessageStore = ReturnType<typeof createMessageStore>
