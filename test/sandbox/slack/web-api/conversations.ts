import { isYes, type Json, stringOf } from '../json.ts'
import type { StoredMessage } from '../message-store.ts'
import type { Channel } from '../workspace.ts'
import { type Method, required, type Stores } from './method.ts'
import { Refusal } from './refusal.ts'

const pageArguments = ['channel', 'oldest', 'latest', 'limit', 'cursor', 'include_all_metadata']
const kinds = ['channels', 'groups', 'im', 'mpim'] as const

function kindOf(channel: Channel): (typeof kinds)[number] {
  if (channel.isDirect) return 'im'
  if (channel.isGroupDirect) return 'mpim'
  return channel.isPrivate ? 'groups' : 'channels'
}

export function conversationMethods({ directory, messages }: Stores): Record<string, Method> {
  const botId = directory.bot.userId

  function channelOf(args: Json): Channel {
    required(args, 'channel')
    const found = directory.findChannel(stringOf(args.channel))
    if (found === undefined || (found.isPrivate && !found.members.includes(botId))) throw new Refusal('channel_not_found')
    return found
  }

  /** Each kind of conversation has its own scopes. */
  function scopesTo(what: 'read' | 'history'): Pick<Method, 'scopes' | 'scopeFor'> {
    return {
      scopes: kinds.map((kind) => `${kind}:${what}`),
      scopeFor(args) {
        const channel = directory.findChannel(stringOf(args.channel))
        return channel && `${kindOf(channel)}:${what}`
      },
    }
  }

  function readable(args: Json): Channel {
    const channel = channelOf(args)
    if (!channel.members.includes(botId)) throw new Refusal('not_in_channel')
    return channel
  }

  /** `messages` are oldest first. `newestFirst` is the order of the pages and within them. */
  function page(all: StoredMessage[], args: Json, newestFirst: boolean): Json {
    const [oldest, latest] = [Number(args.oldest || 0), Number(args.latest || Number.POSITIVE_INFINITY)]
    const inRange = all.filter(({ ts }) => Number(ts) > oldest && Number(ts) < latest)
    const ordered = newestFirst ? inRange.reverse() : inRange
    const start = args.cursor ? Number(Buffer.from(stringOf(args.cursor), 'base64').toString()) : 0
    if (!Number.isInteger(start)) throw new Refusal('invalid_cursor')
    const end = start + Math.min(Number(args.limit || 100), 999)
    const hasMore = end < ordered.length
    return {
      messages: ordered.slice(start, end).map((message) => messages.toSlack(message, { metadata: isYes(args.include_all_metadata) })),
      has_more: hasMore,
      response_metadata: { next_cursor: hasMore ? Buffer.from(String(end)).toString('base64') : '' },
    }
  }

  return {
    'conversations.info': {
      args: ['channel'],
      ...scopesTo('read'),
      run(args) {
        const channel = channelOf(args)
        const kind = kindOf(channel)
        return {
          channel: {
            id: channel.id,
            name: channel.name,
            // Also true for private channels, since 2021, and false for direct messages only.
            is_channel: kind === 'channels' || kind === 'groups',
            is_group: kind === 'mpim',
            is_im: kind === 'im',
            is_mpim: kind === 'mpim',
            is_private: kind !== 'channels',
            is_archived: channel.isArchived ?? false,
            is_member: channel.members.includes(botId),
            is_ext_shared: channel.isShared ?? false,
            is_shared: channel.isShared ?? false,
            is_pending_ext_shared: false,
            is_general: channel.name === 'general',
            context_team_id: directory.team.id,
            topic: { value: channel.topic, creator: '', last_set: 0 },
            purpose: { value: '', creator: '', last_set: 0 },
          },
        }
      },
    },

    'conversations.members': {
      args: ['channel', 'cursor', 'limit'],
      ...scopesTo('read'),
      run(args) {
        const { members } = channelOf(args)
        const start = args.cursor ? Number(Buffer.from(stringOf(args.cursor), 'base64').toString()) : 0
        if (!Number.isInteger(start)) throw new Refusal('invalid_cursor')
        const limit = Number(args.limit || 100)
        if (limit > 999) throw new Refusal('invalid_limit')
        const end = start + limit
        const next = end < members.length ? Buffer.from(String(end)).toString('base64') : ''
        return { members: members.slice(start, end), response_metadata: { next_cursor: next } }
      },
    },

    'conversations.history': {
      args: pageArguments,
      ...scopesTo('history'),
      run(args) {
        const channel = readable(args)
        return page(messages.levelOf(channel.id), args, true)
      },
    },

    'conversations.replies': {
      args: [...pageArguments, 'ts'],
      ...scopesTo('history'),
      run(args) {
        const channel = readable(args)
        required(args, 'ts')
        const threadTs = messages.threadOf(channel.id, stringOf(args.ts))
        const parent = threadTs === undefined ? undefined : messages.find(channel.id, threadTs)
        if (parent === undefined) throw new Refusal('thread_not_found')
        return page([parent, ...messages.repliesTo(parent)], args, false)
      },
    },
  }
}
