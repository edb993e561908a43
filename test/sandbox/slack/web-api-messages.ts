import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressOf, parseArguments, readBody } from './http.ts'
import { isObject, isYes, type Json, NotDescribed, objectsOf, refuseOthers, stringOf } from './json.ts'
import { broadcastSubtype, type Content, type StoredMessage } from './message-store.ts'
import type { Parts } from './start-slack.ts'
import { charactersIn, isTable, newBlocks, problemsWithBlocks } from './validate-blocks.ts'
import { type Answer, answerOf, invalidBlocks, type Method, Refusal, required, type Stores, serveCall } from './web-api.ts'
import type { Channel } from './workspace.ts'

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

/** Returns the content of a message, checked as Slack checks it. Response URLs use it, too. `refused`: the types of blocks that are not rolled out. */
export function contentOf(args: Json, refused: readonly string[]): Content {
  const text = stringOf(args.text)
  if (args.blocks !== undefined && args.blocks !== null && !Array.isArray(args.blocks)) throw new Refusal('invalid_blocks_format')
  const blocks = objectsOf(args.blocks)
  const hasTable = blocks.some(isTable)
  const unsupported = blocks.find(({ type }) => refused.includes(stringOf(type)))
  if (unsupported) throw invalidBlocks([`unsupported type: ${unsupported.type} [json-pointer:/blocks]`])
  const problems = args.blocks ? problemsWithBlocks(args.blocks) : []
  if (problems.length > 0) throw invalidBlocks(problems)
  if (text.trim() === '' && blocks.length === 0) throw new Refusal('no_text')
  if (text.length > (hasTable ? longestTextOfTable : longestText)) throw new Refusal('msg_too_long')
  if (charactersIn(blocks) > mostCharacters) throw new Refusal('msg_blocks_too_long')
  const metadata = metadataOf(args.metadata)
  return { text, blocks: blocks.length > 0 ? blocks : undefined, metadata }
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

  function thread(channel: Channel, args: Json): string | undefined {
    const ts = stringOf(args.thread_ts)
    const threadTs = messages.threadOf(channel.id, ts)
    if (ts !== '' && threadTs === undefined) throw new Refusal('thread_not_found')
    return threadTs
  }

  function ownMessage(channel: Channel, args: Json, refusal = 'cant_update_message'): StoredMessage {
    required(args, 'ts')
    const found = messages.find(channel.id, stringOf(args.ts))
    // The Web API does not know the ts of ephemeral messages.
    if (found === undefined || found.visibleTo !== undefined || found.deleted) throw new Refusal('message_not_found')
    if (found.user !== botId) throw new Refusal(refusal)
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
        const content = contentOf(args, newBlocks[state.newBlocks].inMessages)
        const threadTs = thread(channel, args)
        const subtype = threadTs && isYes(args.reply_broadcast) ? broadcastSubtype : undefined
        const message = messages.post({ channel: channel.id, user: botId, ...content, threadTs, subtype })
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
        const content = contentOf(args, newBlocks[state.newBlocks].inMessages)
        messages.replace(message, content)
        const { ts, thread_ts: _, ...updated } = messages.toSlack(message, { metadata: true })
        return { channel: channel.id, ts, text: message.text, message: updated }
      },
    },

    'chat.delete': {
      args: ['channel', 'ts'],
      scopes: ['chat:write'],
      run(args) {
        const channel = target(args)
        mustBeMember(channel)
        const message = ownMessage(channel, args, 'cant_delete_message')
        messages.remove(message)
        return { channel: channel.id, ts: message.ts }
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
        const content = contentOf(args, newBlocks[state.newBlocks].inMessages)
        const message = messages.post({ channel: channel.id, user: botId, visibleTo: userId, ...content })
        return { message_ts: message.ts }
      },
    },
  }
}

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

  function pageOf(count: number, { cursor, limit }: Json): { start: number; end: number; next: string } {
    const start = cursor ? Number(Buffer.from(stringOf(cursor), 'base64').toString()) : 0
    if (!Number.isInteger(start)) throw new Refusal('invalid_cursor')
    const end = start + Math.min(Number(limit || 100), 999)
    return { start, end, next: end < count ? Buffer.from(String(end)).toString('base64') : '' }
  }

  /** `messages` are oldest first. `newestFirst` is the order of the pages and within them. */
  function page(all: StoredMessage[], args: Json, newestFirst: boolean): Json {
    const [oldest, latest] = [Number(args.oldest || 0), Number(args.latest || Number.POSITIVE_INFINITY)]
    const inRange = all.filter(({ ts }) => Number(ts) > oldest && Number(ts) < latest)
    const ordered = newestFirst ? inRange.reverse() : inRange
    const { start, end, next } = pageOf(ordered.length, args)
    return {
      messages: ordered.slice(start, end).map((message) => messages.toSlack(message, { metadata: isYes(args.include_all_metadata) })),
      has_more: next !== '',
      response_metadata: { next_cursor: next },
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
            topic: { value: channel.topic },
          },
        }
      },
    },

    'conversations.members': {
      args: ['channel', 'cursor', 'limit'],
      ...scopesTo('read'),
      run(args) {
        const { members } = channelOf(args)
        if (Number(args.limit) > 999) throw new Refusal('invalid_limit')
        const { start, end, next } = pageOf(members.length, args)
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

const lifeMs = 30 * 60_000
const mostUses = 5

export interface Address {
  channel: string
  userId: string
  /** The message that `replace_original` means: the clicked one, or the first one that the URL of a command made. */
  original?: { ts: string }
}

interface StoredAddress extends Address {
  madeAt: number
  uses: number
}

export function refuseOtherThanEphemeral(responseType: unknown): void {
  if (responseType !== undefined && responseType !== 'ephemeral') throw new NotDescribed(`the response type "${String(responseType)}"`)
}

/**
 * Response URLs: five uses within thirty minutes, ephemeral, also where the bot is not a member
 * (docs.slack.dev/interactivity/handling-user-interaction#message_responses).
 */
export function createResponseUrls(parts: Pick<Parts, 'state' | 'directory' | 'messages' | 'faults' | 'record' | 'notDescribed' | 'app'>) {
  const { state, directory, messages } = parts
  const addresses = new Map<string, StoredAddress>()

  function original(address: StoredAddress): StoredMessage {
    const found = address.original && messages.find(address.channel, address.original.ts)
    if (found === undefined) throw new Refusal('message_not_found')
    return found
  }

  function post(address: StoredAddress, args: Json): void {
    const message = messages.post({
      channel: address.channel,
      user: directory.bot.userId,
      ...contentOf(args, newBlocks[state.newBlocks].inResponses),
      visibleTo: address.userId,
    })
    if (address.original === undefined) address.original = { ts: message.ts }
  }

  function use(address: StoredAddress, args: Json): void {
    const { response_type: kind, replace_original: replaces, ...content } = args
    refuseOtherThanEphemeral(kind)
    refuseOthers(content, contentArguments, 'as an argument of a response address')
    // The URL of a command has no original before its first message.
    if (isYes(replaces) && address.original) messages.replace(original(address), contentOf(content, newBlocks[state.newBlocks].inResponses))
    else post(address, content)
  }

  function answer(address: StoredAddress | undefined, args: Json | undefined): Answer {
    if (address === undefined || state.now() - address.madeAt > lifeMs) return { status: 404, body: { ok: false, error: 'expired_url' } }
    if (address.uses >= mostUses) return { status: 404, body: { ok: false, error: 'used_url' } }
    if (args === undefined) return { status: 400, body: { ok: false, error: 'invalid_payload' } }
    const body = answerOf(parts, () => {
      use(address, args)
      address.uses += 1
      return {}
    })
    return { status: body.ok ? 200 : body.error === 'message_not_found' ? 404 : 400, body }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = addresses.get(addressOf(request).pathname.replace(/^\/response\//, ''))
    const args = parseArguments(request.headers['content-type'] ?? '', await readBody(request))
    const method = 'response_url'
    await serveCall(parts, { method, names: [method], args: args ?? {}, answer: () => answer(address, args) }, request, response)
  }

  return {
    serve,
    issue(address: Address): string {
      const id = randomBytes(18).toString('base64url')
      addresses.set(id, { ...address, madeAt: state.now(), uses: 0 })
      return `${parts.app.baseUrl()}/response/${id}`
    },
  }
}
export type ResponseUrls = ReturnType<typeof createResponseUrls>
