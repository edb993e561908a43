import { AsyncLocalStorage } from 'node:async_hooks'
import { ErrorCode, type KnownBlock, type ModalView, type WebClient } from '@slack/web-api'
import { type Deadline, deadlineIn } from '../domain/deadline.ts'
import { AwayError, StartError } from '../domain/errors.ts'
import { isUserGroup } from '../domain/policy.ts'
import type { LinkTo, MessageRef } from '../domain/request.ts'
import { fetchBefore, NotSentError } from '../http/send-before.ts'
import { fitBlocks } from './fit.ts'

/**
 * `refused`, `rate-limited` and `unsent`: nothing happened. `unknown`: no usable answer, so it may have happened. That includes `internal_error`
 * and `fatal_error`: Slack documents that some aspect of the operation may have succeeded. `timed-out`: it may even happen later.
 */
export type SlackFailure =
  | { is: 'refused'; error: string }
  | { is: 'rate-limited'; retryInMs: number }
  | { is: 'unsent' | 'unknown' | 'timed-out'; problem: string }

const ambiguous = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org'])

/** Classifies an error of the Web API client. Only Slack's short codes are passed on, never other texts such as a proxy's page. */
export function classifySlackFailure(thrown: unknown): SlackFailure {
  const error = (thrown ?? {}) as Partial<Record<'code' | 'retryAfter' | 'statusCode' | 'name' | 'original', unknown>> & {
    data?: { error?: unknown }
  }
  if (error.code === ErrorCode.RateLimitedError) return { is: 'rate-limited', retryInMs: Math.max(1, Number(error.retryAfter) || 1) * 1000 }
  if (error.code === ErrorCode.PlatformError) return classifyRefusal(error.data?.error)
  if (error.code === ErrorCode.HTTPError)
    return { is: error.statusCode === 504 ? 'timed-out' : 'unknown', problem: `HTTP status ${Number(error.statusCode) || 'unknown'}` }
  if (error.code === ErrorCode.RequestError) {
    const { original } = error
    return { is: original instanceof NotSentError ? 'unsent' : isTimeout(original) ? 'timed-out' : 'unknown', problem: 'no answer' }
  }
  // Any other error says nothing about the result. One that is thrown while the body is read is not wrapped.
  return { is: isTimeout(thrown) ? 'timed-out' : 'unknown', problem: typeof error.name === 'string' ? error.name : 'no answer' }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

export function classifyRefusal(error: unknown): SlackFailure {
  if (typeof error !== 'string' || !/^[a-z0-9_]{1,60}$/.test(error)) return { is: 'unknown', problem: 'an answer that is not from Slack' }
  // chat.postMessage uses the code with an underscore.
  if (error === 'ratelimited' || error === 'rate_limited') return { is: 'rate-limited', retryInMs: 1000 }
  return ambiguous.has(error) ? { is: 'unknown', problem: error } : { is: 'refused', error }
}

async function attempt<T>(call: () => Promise<T>): Promise<T | SlackFailure> {
  try {
    return await call()
  } catch (error) {
    return classifySlackFailure(error)
  }
}

const unreachableChannelErrors = new Set(['not_in_channel', 'channel_not_found', 'is_archived', 'user_not_in_channel'])

/** Whether a channel takes no messages from Lockkeeper: it is gone or archived, or the bot is not a member or not allowed (`restricted_action…`). */
export function isChannelUnreachable(error: string): boolean {
  return unreachableChannelErrors.has(error) || error.startsWith('restricted_action')
}

/** Slack's codes for a token that it does not take anymore: a person revoked or replaced it, or removed the app. */
export const rejectedTokenErrors = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'])

/** Slack's codes for a message whose content it does not take. `http_400` is a response URL that gives no code. */
const contentErrors = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_arguments',
  'invalid_payload',
  'invalid_attachments',
  'msg_blocks_too_long',
  'msg_too_long',
  'http_400',
])

export function isContentRefused(result: { is: string; error?: string }): boolean {
  return result.is === 'refused' && contentErrors.has(result.error ?? '')
}

export interface Identity {
  botId: string
  botUserId: string
  /** The workspace of the installation, or the organization if the app is installed for all of its workspaces. */
  teamId: string | undefined
  /** The beginning of links to messages: `https://nimbus.slack.com/`. */
  workspaceUrl: string | undefined
}

/** Fetches the bot's own ids (`auth.test`). Throws a StartError if Slack rejects the token, and an AwayError if it cannot answer now. */
export async function fetchIdentity(client: WebClient, apiUrl: URL): Promise<Identity> {
  try {
    const answer = await client.auth.test()
    return {
      botId: String(answer.bot_id),
      botUserId: String(answer.user_id),
      teamId: answer.is_enterprise_install ? answer.enterprise_id : answer.team_id,
      workspaceUrl: answer.url,
    }
  } catch (thrown) {
    const failure = classifySlackFailure(thrown)
    if (failure.is === 'refused')
      throw new StartError(
        `Slack rejects SLACK_BOT_TOKEN (${failure.error}). Copy the Bot User OAuth Token of the installed app again (OAuth & Permissions).`,
      )
    if (failure.is === 'rate-limited') throw new AwayError(`Slack limits requests at ${apiUrl.origin}.`, failure)
    throw new AwayError(`Slack does not answer at ${apiUrl.origin} (${failure.problem}). Check that this machine may reach it.`)
  }
}

/** The longest time that one call to Slack takes, with its whole answer, in ms. */
export const longestCallMs = 5_000

/** A call to Slack. `status`: `ok`, the kind of a SlackFailure, another HTTP status than 200, or `unreachable` if no whole answer came. */
export interface SlackCall {
  /** `chat.postMessage` and so on; `response_url` for an answer through one; or `other`. */
  method: string
  status: 'ok' | SlackFailure['is'] | number | 'unreachable'
  error?: string
  ms: number
}

export type OnSlackCall = (call: SlackCall) => void

/** Until when the present call may be sent, if that is sooner than its own limit. */
const sendingUntil = new AsyncLocalStorage<Deadline | undefined>()

/** Sends a call within its limit, or not at all. */
export const fetchInTime: typeof globalThis.fetch = (input, init) => {
  const [own, until] = [deadlineIn(longestCallMs), sendingUntil.getStore()]
  const earlier = { leftMs: () => Math.min(own.leftMs(), until?.leftMs() ?? Number.POSITIVE_INFINITY) }
  return fetchBefore(earlier, input instanceof Request ? input.url : input, init)
}

/** Reports every call. The result is in the body; for a `response_url`, which is a secret, in the HTTP status. */
export function measuredFetch(onCall: OnSlackCall, { fetch = fetchInTime, isResponseUrl = false } = {}): typeof globalThis.fetch {
  return async (input, init) => {
    const startedAt = performance.now()
    const call: Omit<SlackCall, 'ms'> = { method: isResponseUrl ? 'response_url' : methodOf(input), status: 'unreachable' }
    try {
      const response = await fetch(input, init)
      if (isResponseUrl || response.status !== 200) {
        call.status = response.ok ? 'ok' : response.status === 429 ? 'rate-limited' : response.status
        return response
      }
      const body = await response.text()
      response.text = async () => body
      const failure = failureIn(body)
      call.status = failure?.is ?? 'ok'
      if (failure?.is === 'refused') call.error = failure.error
      return response
    } finally {
      onCall({ ...call, ms: performance.now() - startedAt })
    }
  }
}

function failureIn(body: string): SlackFailure | undefined {
  try {
    const answer = JSON.parse(body) as { ok?: unknown; error?: unknown } | null
    return answer?.ok === true ? undefined : classifyRefusal(answer?.error)
  } catch {
    return classifyRefusal(undefined)
  }
}

function methodOf(input: string | URL | Request): string {
  const address = input instanceof Request ? input.url : String(input)
  return /\/([a-z]+(?:\.[A-Za-z]+)+)(?:\?|$)/.exec(address)?.[1] ?? 'other'
}

/** A message for Slack. `text` holds the whole content in words: phones show it in notifications, and screen readers read it, instead of the blocks. */
export interface Message {
  text: string
  blocks: KnownBlock[]
}

export interface Where {
  channelId: string
  threadTs?: string
  broadcast?: boolean
  /** Stored in the message's metadata, by which `find` finds the message again. */
  key?: string
}

export type Posted = { is: 'sent'; ts: string; channelId: string } | SlackFailure
export type Done = { is: 'sent' } | SlackFailure

/** Keeps Slack from turning names and addresses into links. `chat.update` resets `parse`, so updates need both, too. */
const withoutLinks = { parse: 'none', link_names: false } as const

const withoutPreviews = { unfurl_links: false, unfurl_media: false } as const

export interface MessengerParts {
  client: WebClient
  named?: <Sent extends object>(sent: Sent) => Sent
  /** Undefined until the identity has been fetched. */
  botUserId: () => string | undefined
  now?: () => number
}

/** Repeats nothing and never throws: each result says what is known. After a rate limit, the same method waits in that channel. */
export function createMessenger({ client, named = (sent) => sent, botUserId, now = Date.now }: MessengerParts) {
  const pausedUntil = new Map<string, number>()

  async function paced<T extends { is: string }>(
    method: 'post' | 'update',
    channelId: string,
    until: Deadline | undefined,
    call: () => Promise<T>,
  ) {
    const limited = `${method} ${channelId}`
    const left = (pausedUntil.get(limited) ?? 0) - now()
    if (left > 0) return { is: 'rate-limited' as const, retryInMs: left }
    pausedUntil.delete(limited)
    const answer: { is: string; retryInMs?: number } & (T | SlackFailure) = await attempt(() => sendingUntil.run(until, call))
    if (answer.is === 'rate-limited') pausedUntil.set(limited, now() + (answer.retryInMs ?? 0))
    return answer
  }

  const done = (call: Promise<unknown>): Promise<Done> => attempt(() => call.then(() => ({ is: 'sent' as const })))

  return {
    /** Posts to a channel or, if `channelId` is a user id, to that person's direct messages. After `until` it posts nothing. */
    post: (where: Where, message: Message, until?: Deadline): Promise<Posted> =>
      paced('post', where.channelId, until, async () => {
        const answer = await client.chat.postMessage({
          channel: where.channelId,
          ...named(message),
          ...withoutLinks,
          ...withoutPreviews,
          ...threadOf(where),
          ...metadataOf(where),
        })
        return { is: 'sent', ts: String(answer.ts), channelId: String(answer.channel) }
      }),

    update: ({ channelId, ts, key }: { channelId: string; ts: string; key?: string }, message: Message, until?: Deadline): Promise<Done> =>
      paced('update', channelId, until, async () => {
        await client.chat.update({ channel: channelId, ts, ...named(message), ...withoutLinks, ...metadataOf({ key }) })
        return { is: 'sent' }
      }),

    /** Posts a message that only one person sees. They must be a member of the channel, and Slack drops the message when they reload. */
    postEphemeral: ({ channelId, userId }: { channelId: string; userId: string }, message: Message) =>
      done(client.chat.postEphemeral({ channel: channelId, user: userId, ...named(message), ...withoutLinks })),

    /** Opens a modal. A trigger expires after 3 s and works once, so this is the first call to Slack and is never repeated. */
    openView: (triggerId: string, view: ModalView) =>
      attempt(async () => {
        const answer = await client.views.open({ trigger_id: triggerId, view: named(view) })
        return { is: 'opened' as const, viewId: String(answer.view?.id) }
      }),

    updateView: (viewId: string, view: ModalView) => done(client.views.update({ view_id: viewId, view: named(view) })),

    publishHome: (userId: string, blocks: KnownBlock[]) =>
      done(client.views.publish({ user_id: userId, view: { type: 'home', blocks: named(fitBlocks(blocks, 'view')) } })),

    /** Deletes a message of the bot. */
    remove: ({ channelId, ts }: { channelId: string; ts: string }) => done(client.chat.delete({ channel: channelId, ts })),

    /** Searches for messages with a key, sent from `oldestMs` to `latestMs` (default: now). Needs the optional history scopes. */
    find: async (where: SearchedMessage): Promise<SearchResult> => {
      const self = botUserId()
      // Without the bot's own id no message would match, and one that is there would be sent again.
      if (self === undefined) return { is: 'unknown', problem: 'Slack has not said yet who the bot is' }
      const found = await attempt(() => findMessage(client, where, self))
      return found.is === 'refused' ? { is: 'cannot-search' } : found
    },
  }
}
export type Messenger = ReturnType<typeof createMessenger>

function threadOf({ threadTs, broadcast }: Where) {
  if (threadTs === undefined) return {}
  return broadcast ? { thread_ts: threadTs, reply_broadcast: true as const } : { thread_ts: threadTs }
}

function metadataOf({ key }: { key?: string }) {
  return key ? { metadata: { event_type: 'lockkeeper_message', event_payload: { key } } } : {}
}

/** `all`: the oldest first. `cannot-search`: Slack refuses the search, or there are too many messages. The other failures may pass. */
export type SearchResult =
  | { is: 'found'; ts: string; all: string[] }
  | { is: 'absent' }
  | { is: 'cannot-search' }
  | Exclude<SlackFailure, { is: 'refused' }>

interface SearchedMessage {
  channelId: string
  threadTs?: string
  key: string
  oldestMs: number
  latestMs?: number
  /** Reads to the end, although one is found. */
  wantsAll?: boolean
}

/** A search for a lost message reads at most five pages of the messages from the time when it may have been sent. */
const pageSize = 200
const mostPages = 5

async function findMessage(client: WebClient, where: SearchedMessage, self: string): Promise<SearchResult> {
  const range = {
    channel: where.channelId,
    include_all_metadata: true as const,
    limit: pageSize,
    oldest: String(Math.floor(where.oldestMs / 1000)),
    ...(where.latestMs === undefined ? {} : { latest: String(Math.ceil(where.latestMs / 1000)) }),
  }
  const all: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const at = cursor ? { ...range, cursor } : range
    const answer = where.threadTs
      ? await client.conversations.replies({ ...at, ts: where.threadTs })
      : await client.conversations.history(at)
    const messages = (answer.messages ?? []) as { ts?: string; user?: string; metadata?: { event_payload?: { key?: unknown } } }[]
    const isOne = ({ ts, metadata, user }: (typeof messages)[number]) => ts && metadata?.event_payload?.key === where.key && user === self
    all.push(...messages.filter(isOne).map(({ ts = '' }) => ts))
    const [ts] = all.sort((one, other) => Number(one) - Number(other))
    cursor = answer.response_metadata?.next_cursor
    const isLast = !answer.has_more
    if (ts !== undefined && (isLast || !where.wantsAll)) return { is: 'found', ts, all }
    if (isLast || !cursor) return { is: isLast ? 'absent' : 'cannot-search' }
  }
  // The message may be on a page that was not read. `cannot-search` makes the caller repeat it with a note.
  return { is: 'cannot-search' }
}

export type SlackReading =
  | { is: 'answers'; afterMs: number; scopes?: string[] }
  | { is: 'refused'; error: string }
  | { is: 'unknown'; problem: string }

/** Whether the bot is a member of a channel. `unreadable`: Slack did not say; `why` is its code or the problem. */
export type ChannelMembership = { is: 'member' } | { is: 'absent' } | { is: 'archived' } | { is: 'unreadable'; why: string }

export type GroupReading = { is: 'read'; members: number } | { is: 'unreadable'; why: string }

/** Reads from Slack how the app is set up. A refusal is part of the result, as Slack's short code. No call is repeated. */
export function createSetupProbe(client: WebClient, apiUrl: URL, fetch: typeof globalThis.fetch) {
  return {
    async reach(): Promise<SlackReading> {
      const startedAt = performance.now()
      const answer = await attempt(async () => ({ is: 'answers' as const, scopes: (await client.auth.test()).response_metadata?.scopes }))
      if (answer.is === 'refused') return answer
      if ('problem' in answer) return { is: 'unknown', problem: answer.problem }
      return { is: 'answers', afterMs: performance.now() - startedAt, scopes: answer.is === 'answers' ? answer.scopes : undefined }
    },

    /** Reads whether the bot is a member of a channel. Slack answers `channel_not_found` for a private channel without the bot. */
    async membership(channelId: string): Promise<ChannelMembership> {
      try {
        const { channel } = await client.conversations.info({ channel: channelId })
        return { is: channel?.is_archived ? 'archived' : channel?.is_member ? 'member' : 'absent' }
      } catch (thrown) {
        const why = reasonOf(thrown)
        return why === 'channel_not_found' ? { is: 'absent' } : { is: 'unreadable', why }
      }
    },

    /** Of a person or a user group: `user_not_found` and `no_such_subteam` mean that Slack has none with this id. */
    whyUnreadable(id: string): Promise<string | undefined> {
      const read = isUserGroup(id)
        ? client.usergroups.users.list({ usergroup: id, include_disabled: true })
        : client.users.info({ user: id })
      return read.then(() => undefined, reasonOf)
    },

    /** Measures how far this machine's clock is ahead of Slack's, in milliseconds, within about a second. `api.test` needs no token. */
    async clockAheadMs(signal?: AbortSignal): Promise<number | undefined> {
      const sentAt = Date.now()
      const address = new URL('api.test', apiUrl.href.endsWith('/') ? apiUrl : `${apiUrl.href}/`)
      const response = await fetch(address, { method: 'POST', redirect: 'error', signal })
      const at = Date.parse(response.headers.get('date') ?? '')
      // The header holds whole seconds only: on average Slack's time is half a second later.
      return Number.isNaN(at) ? undefined : Math.round((sentAt + Date.now()) / 2 - at - 500)
    },
  }
}
export type SetupProbe = ReturnType<typeof createSetupProbe>

function reasonOf(thrown: unknown): string {
  const failure = classifySlackFailure(thrown)
  if (failure.is === 'refused') return failure.error
  return failure.is === 'rate-limited' ? 'it limits requests' : failure.problem
}

/** Holds the bot's identity in Slack, which is unknown until the first call of Slack succeeds. `fetch` throws as `fetchIdentity` does. */
export function createSlackIdentity(fetch: () => Promise<Identity>) {
  let current: Identity | undefined

  const inWorkspace = (path: string) => current?.workspaceUrl && `${current.workspaceUrl}${path}`

  function addressOf({ channelId, ts, threadTs }: MessageRef): string | undefined {
    const thread = threadTs === undefined ? '' : `?thread_ts=${threadTs}&cid=${channelId}`
    return inWorkspace(`archives/${channelId}/p${ts.replace('.', '')}${thread}`)
  }

  const linkTo: LinkTo = ({ origin, cardTs }) => cardTs && addressOf({ channelId: origin.channelId, ts: cardTs })

  return {
    async reach(): Promise<Identity> {
      current = await fetch()
      return current
    },
    fetch,
    current: () => current,
    linkTo,
    addressOf,
    profileOf: (userId: string) => inWorkspace(`team/${userId}`),
  }
}
export type SlackIdentity = ReturnType<typeof createSlackIdentity>
