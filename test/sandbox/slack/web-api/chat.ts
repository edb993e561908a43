import { charactersIn } from '../characters-in.ts'
import { isTable } from '../data-table-schema.ts'
import { isObject, isYes, type Json, objectsOf, stringOf } from '../json.ts'
import { broadcastSubtype, type Content, type StoredMessage } from '../message-store.ts'
import { problemsWithBlocks } from '../validate-blocks.ts'
import type { Channel } from '../workspace.ts'
import { type Method, required, type Stores } from './method.ts'
import { invalidBlocks, Refusal } from './refusal.ts'

const longestText = 4000

/** Slack's limit. It asks to stay below 4,000 characters, but a screen reader reads a table as text. */
const longestTextOfTable = 40_000

/** Slack does not document this limit. Messages were refused from 11,000 characters on (bolt-js, issues 2509 and 2867). */
const mostCharacters = 10_000

function metadataOf(value: unknown): Json | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (!isObject(value)) throw new Refusal('invalid_metadata_format')
  if (Object.keys(value).length > 0 && (typeof value.event_type !== 'string' || !isObject(value.event_payload))) {
    throw new Refusal('invalid_metadata_format')
  }
  return value
}

export const contentArguments = ['text', 'blocks', 'metadata', 'parse', 'link_names']

/** Returns the content of a message, checked as Slack checks it. Response URLs use it, too. `takesTables`: whether tables are rolled out. */
export function contentOf(args: Json, takesTables: boolean): Content {
  const text = stringOf(args.text)
  if (args.blocks !== undefined && args.blocks !== null && !Array.isArray(args.blocks)) throw new Refusal('invalid_blocks_format')
  const blocks = objectsOf(args.blocks)
  const hasTable = blocks.some(isTable)
  if (hasTable && !takesTables) throw invalidBlocks(['unsupported type: data_table [json-pointer:/blocks]'])
  const problems = args.blocks ? problemsWithBlocks(args.blocks) : []
  if (problems.length > 0) throw invalidBlocks(problems)
  if (text.trim() === '' && blocks.length === 0) throw new Refusal('no_text')
  if (text.length > (hasTable ? longestTextOfTable : longestText)) throw new Refusal('msg_too_long')
  if (charactersIn(blocks) > mostCharacters) throw new Refusal('msg_blocks_too_long')
  const metadata = metadataOf(args.metadata)
  return { text, ...(blocks.length > 0 ? { blocks } : {}), ...(metadata ? { metadata } : {}) }
}

export function chatMethods({ directory, messages, state }: Stores): Record<string, Method> {
  const botId = directory.bot.userId

  /** Finds a channel by id or `#name`, or the direct messages with a person. */
  function target(args: Json): Channel {
    required(args, 'channel')
    const ref = stringOf(args.channel)
    const person = directory.findPerson(ref)
    const found = person && !person.isBot ? directory.directChannel(person.id) : directory.findChannel(ref)
    if (found === undefined) throw new Refusal('channel_not_found')
    return found
  }

  function mustBeMember(channel: Channel): void {
    if (channel.members.includes(botId)) return
    throw new Refusal(channel.isPrivate ? 'channel_not_found' : 'not_in_channel')
  }

  function thread(channel: Channel, args: Json): { threadTs?: string } {
    const ts = stringOf(args.thread_ts)
    if (ts === '') return {}
    const threadTs = messages.threadOf(channel.id, ts)
    if (threadTs === undefined) throw new Refusal('thread_not_found')
    return { threadTs }
  }

  function ownMessage(channel: Channel, args: Json): StoredMessage {
    required(args, 'ts')
    const found = messages.find(channel.id, stringOf(args.ts))
    // The Web API does not know the ts of ephemeral messages.
    if (found === undefined || found.visibleTo !== undefined || found.deleted) throw new Refusal('message_not_found')
    if (found.user !== botId) throw new Refusal('cant_update_message')
    return found
  }

  return {
    'chat.postMessage': {
      args: [...contentArguments, 'channel', 'thread_ts', 'reply_broadcast', 'unfurl_links', 'unfurl_media'],
      scopes: ['chat:write'],
      run(args) {
        const channel = target(args)
        mustBeMember(channel)
        if (channel.isArchived) throw new Refusal('is_archived')
        const content = contentOf(args, state.tables !== 'refused')
        const inThread = thread(channel, args)
        const broadcast = inThread.threadTs && isYes(args.reply_broadcast) ? { subtype: broadcastSubtype } : {}
        const message = messages.post({ channel: channel.id, user: botId, ...content, ...inThread, ...broadcast })
        return { channel: channel.id, ts: message.ts, message: messages.toSlack(message, { metadata: true }) }
      },
    },

    'chat.update': {
      args: [...contentArguments, 'channel', 'ts'],
      scopes: ['chat:write'],
      run(args) {
        const channel = target(args)
        mustBeMember(channel)
        if (channel.isArchived) throw new Refusal('is_inactive')
        const message = ownMessage(channel, args)
        const content = contentOf(args, state.tables !== 'refused')
        messages.replace(message, content)
        return { channel: channel.id, ts: message.ts, text: message.text, message: messages.toSlack(message, { metadata: true }) }
      },
    },

    'chat.postEphemeral': {
      args: [...contentArguments, 'channel', 'user'],
      scopes: ['chat:write'],
      run(args) {
        const channel = target(args)
        required(args, 'user')
        mustBeMember(channel)
        if (channel.isArchived) throw new Refusal('is_archived')
        const userId = stringOf(args.user)
        if (!channel.members.includes(userId)) throw new Refusal('user_not_in_channel')
        const content = contentOf(args, state.tables !== 'refused')
        const message = messages.post({ channel: channel.id, user: botId, visibleTo: userId, ...content })
        return { message_ts: message.ts }
      },
    },
  }
}
