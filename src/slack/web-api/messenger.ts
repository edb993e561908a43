import type { HomeView, KnownBlock, ModalView, WebClient } from '@slack/web-api'
import { attempt, type SlackFailure } from './failure.ts'
import { createFindMessage } from './find-message.ts'

/** A message for Slack. `text` holds the whole content in words: notifications and screen readers use it instead of the blocks. */
export interface Message {
  text: string
  blocks: KnownBlock[]
}

export interface Where {
  channelId: string
  threadTs?: string
  /** Shows a reply in the channel, too. */
  broadcast?: boolean
  /** Stored in the message's metadata, by which `find` finds the message again. */
  key?: string
}

export type Posted = { is: 'sent'; ts: string; channelId: string } | SlackFailure
export type Done = { is: 'sent' } | SlackFailure

/** Keeps Slack from turning names and addresses into links. `chat.update` resets `parse`, so updates need both, too. */
const withoutLinks = { parse: 'none', link_names: false } as const

/** Documented for chat.postMessage alone (docs.slack.dev, "chat.update method"). */
const withoutPreviews = { unfurl_links: false, unfurl_media: false } as const

interface MessengerParts {
  client: WebClient
  /** Undefined until the identity has been fetched. */
  botUserId: () => string | undefined
  now?: () => number
}

/** Sends messages and views to Slack. It repeats nothing and never throws: each result says what is known about the call. */
export function createMessenger({ client, botUserId, now = Date.now }: MessengerParts) {
  const pausedUntil = new Map<string, number>()

  /** Makes no more calls of a rate-limited method in that channel until the wait is over. Other channels and methods continue. */
  async function paced<T>(method: 'post' | 'update', channelId: string, call: () => Promise<T>): Promise<T | SlackFailure> {
    const limited = `${method} ${channelId}`
    const left = (pausedUntil.get(limited) ?? 0) - now()
    if (left > 0) return { is: 'rate-limited', retryInMs: left }
    pausedUntil.delete(limited)
    const answer = await attempt(call)
    if (isRateLimited(answer)) pausedUntil.set(limited, now() + answer.retryInMs)
    return answer
  }

  /** Posts to a channel or, if `channelId` is a user id, to that person's direct messages. */
  async function post(where: Where, message: Message): Promise<Posted> {
    return paced('post', where.channelId, async () => {
      const answer = await client.chat.postMessage({
        channel: where.channelId,
        ...message,
        ...withoutLinks,
        ...withoutPreviews,
        ...threadOf(where),
        ...metadataOf(where),
      })
      return { is: 'sent' as const, ts: String(answer.ts), channelId: String(answer.channel) }
    })
  }

  async function update(where: { channelId: string; ts: string; key?: string }, message: Message): Promise<Done> {
    return paced('update', where.channelId, async () => {
      await client.chat.update({ channel: where.channelId, ts: where.ts, ...message, ...withoutLinks, ...metadataOf(where) })
      return { is: 'sent' as const }
    })
  }

  /** Posts a message that only one person sees. They must be a member of the channel, and Slack drops the message when they reload. */
  async function postEphemeral(where: { channelId: string; userId: string }, message: Message): Promise<Done> {
    return attempt(async () => {
      await client.chat.postEphemeral({ channel: where.channelId, user: where.userId, ...message, ...withoutLinks })
      return { is: 'sent' as const }
    })
  }

  return { post, update, postEphemeral, find: createFindMessage({ client, botUserId }), ...createViews(client) }
}
export type Messenger = ReturnType<typeof createMessenger>

/** Opens and updates modals, and publishes Home tabs. */
function createViews(client: WebClient) {
  /** Opens a modal. A trigger expires after 3 s and works once, so this is the first call to Slack and is never repeated. */
  async function openView(triggerId: string, view: ModalView): Promise<{ is: 'opened'; viewId: string } | SlackFailure> {
    return attempt(async () => {
      const answer = await client.views.open({ trigger_id: triggerId, view })
      return { is: 'opened' as const, viewId: String(answer.view?.id) }
    })
  }

  async function updateView(viewId: string, view: ModalView): Promise<Done> {
    return attempt(async () => {
      await client.views.update({ view_id: viewId, view })
      return { is: 'sent' as const }
    })
  }

  /** Sets what one person sees on the Home tab. */
  async function publishHome(userId: string, blocks: KnownBlock[]): Promise<Done> {
    return attempt(async () => {
      const view: HomeView = { type: 'home', blocks }
      await client.views.publish({ user_id: userId, view })
      return { is: 'sent' as const }
    })
  }

  return { openView, updateView, publishHome }
}

function isRateLimited(answer: unknown): answer is { is: 'rate-limited'; retryInMs: number } {
  return typeof answer === 'object' && answer !== null && 'is' in answer && answer.is === 'rate-limited'
}

function threadOf({ threadTs, broadcast }: Where) {
  if (threadTs === undefined) return {}
  return broadcast ? { thread_ts: threadTs, reply_broadcast: true as const } : { thread_ts: threadTs }
}

function metadataOf({ key }: { key?: string }) {
  return key ? { metadata: { event_type: 'lockkeeper_message', event_payload: { key } } } : {}
}
