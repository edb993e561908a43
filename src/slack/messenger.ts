import type { HomeView, KnownBlock, ModalView, WebClient } from '@slack/web-api'
import { classifySlackFailure, type SlackFailure } from './failure.ts'

/** A message as every builder makes it: `text` carries the whole content in words, for notifications and screen readers. */
export interface Message {
  text: string
  blocks: KnownBlock[]
}

export interface Where {
  channelId: string
  threadTs?: string
  /** Shows a reply in the channel, too. */
  broadcast?: boolean
  key?: string
}

export type Posted = { is: 'sent'; ts: string; channelId: string } | SlackFailure
export type Done = { is: 'sent' } | SlackFailure
/** `cannot-look`: Slack does not let the bot look, or there is too much to look through. A failure may pass. */
export type Found = { is: 'found'; ts: string } | { is: 'absent' } | { is: 'cannot-look' } | Exclude<SlackFailure, { is: 'refused' }>

/** Escaped text stays text: no names or addresses in it turn into links. An update resets `parse`, so it needs both again. */
const verbatim = { parse: 'none', link_names: false } as const

/** Documented for chat.postMessage alone (docs.slack.dev, "chat.update method"). */
const withoutPreviews = { unfurl_links: false, unfurl_media: false } as const

/** How much is looked through for a lost message: five pages of what was said when it may have been sent. */
const pageSize = 200
const mostPages = 5

const metadataType = 'lockkeeper_message'

/** Sends messages to Slack. Nothing is repeated here and nothing throws: each answer says what is known of what happened. */
export function createMessenger({
  client,
  botUserId,
  now = Date.now,
}: {
  client: WebClient
  /** Undefined until Slack has said it. */
  botUserId: () => string | undefined
  now?: () => number
}) {
  const pausedUntil = new Map<string, number>()

  /** While a channel has to wait, no more of the same are even tried there, and others go on. */
  async function paced<T>(method: 'post' | 'update', channelId: string, call: () => Promise<T>): Promise<T | SlackFailure> {
    const what = `${method} ${channelId}`
    const left = (pausedUntil.get(what) ?? 0) - now()
    if (left > 0) return { is: 'rate-limited', retryInMs: left }
    pausedUntil.delete(what)
    const answer = await attempt(call)
    if (isRateLimited(answer)) pausedUntil.set(what, now() + answer.retryInMs)
    return answer
  }

  /** Posts to a channel or, given a user id, to that person's direct messages. `key` finds the message again (see `find`). */
  async function post(where: Where, message: Message): Promise<Posted> {
    return paced('post', where.channelId, async () => {
      const answer = await client.chat.postMessage({
        channel: where.channelId,
        ...message,
        ...verbatim,
        ...withoutPreviews,
        ...threadOf(where),
        ...(where.key ? { metadata: { event_type: metadataType, event_payload: { key: where.key } } } : {}),
      })
      return { is: 'sent' as const, ts: String(answer.ts), channelId: String(answer.channel) }
    })
  }

  async function update(where: { channelId: string; ts: string; key?: string }, message: Message): Promise<Done> {
    return paced('update', where.channelId, async () => {
      const metadata = where.key ? { metadata: { event_type: metadataType, event_payload: { key: where.key } } } : {}
      await client.chat.update({ channel: where.channelId, ts: where.ts, ...message, ...verbatim, ...metadata })
      return { is: 'sent' as const }
    })
  }

  /** A message that one person alone sees. Not kept by Slack across a reload, and only for members of the channel. */
  async function whisper(where: { channelId: string; userId: string }, message: Message): Promise<Done> {
    return attempt(async () => {
      await client.chat.postEphemeral({ channel: where.channelId, user: where.userId, ...message, ...verbatim })
      return { is: 'sent' as const }
    })
  }

  /** Looks whether a message whose answer was lost is there, from `oldestMs` to `latestMs` (by default now). Needs the optional history scopes. */
  async function find(where: { channelId: string; threadTs?: string; key: string; oldestMs: number; latestMs?: number }): Promise<Found> {
    const self = botUserId()
    // Nothing would look like ours, and what is there would be sent again.
    if (self === undefined) return { is: 'unknown', problem: 'Slack has not said yet who the bot is' }
    const range = {
      channel: where.channelId,
      include_all_metadata: true,
      limit: pageSize,
      oldest: String(Math.floor(where.oldestMs / 1000)),
      ...(where.latestMs === undefined ? {} : { latest: String(Math.ceil(where.latestMs / 1000)) }),
    }
    try {
      let cursor: string | undefined
      for (let page = 0; page < mostPages; page += 1) {
        const at = cursor ? { ...range, cursor } : range
        const answer = where.threadTs
          ? await client.conversations.replies({ ...at, ts: where.threadTs })
          : await client.conversations.history(at)
        const own = (answer.messages ?? []) as { ts?: string; user?: string; metadata?: { event_payload?: { key?: unknown } } }[]
        const match = own.find((message) => message.metadata?.event_payload?.key === where.key && message.user === self)
        if (match?.ts) return { is: 'found', ts: match.ts }
        cursor = answer.response_metadata?.next_cursor
        if (!answer.has_more || !cursor) return { is: answer.has_more ? 'cannot-look' : 'absent' }
      }
      // What is on pages that were not read may be ours: better a repeat that says so.
      return { is: 'cannot-look' }
    } catch (error) {
      const failure = classifySlackFailure(error)
      return failure.is === 'refused' ? { is: 'cannot-look' } : failure
    }
  }

  /** Opens a modal. A trigger lives 3 s and works once: this is the first call to Slack and is never repeated. */
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

  /** What one person sees on the bot's Home tab. */
  async function publishHome(userId: string, blocks: KnownBlock[]): Promise<Done> {
    return attempt(async () => {
      const view: HomeView = { type: 'home', blocks }
      await client.views.publish({ user_id: userId, view })
      return { is: 'sent' as const }
    })
  }

  return { post, update, whisper, find, openView, updateView, publishHome }
}
export type Messenger = ReturnType<typeof createMessenger>

function isRateLimited(answer: unknown): answer is { is: 'rate-limited'; retryInMs: number } {
  return typeof answer === 'object' && answer !== null && 'is' in answer && answer.is === 'rate-limited'
}

function threadOf({ threadTs, broadcast }: Where) {
  if (threadTs === undefined) return {}
  return broadcast ? { thread_ts: threadTs, reply_broadcast: true as const } : { thread_ts: threadTs }
}

async function attempt<T>(call: () => Promise<T>): Promise<T | SlackFailure> {
  try {
    return await call()
  } catch (error) {
    return classifySlackFailure(error)
  }
}
