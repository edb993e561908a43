import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import { classifySlackFailure, type SlackFailure } from './failure.ts'

const InfoResponse = z.object({ channel: z.object({ is_member: z.boolean().optional(), is_archived: z.boolean().optional() }) })

/** `scopes`: what the installed app may do; undefined where Slack does not tell. */
export type SlackReading =
  | { is: 'answers'; afterMs: number; scopes: string[] | undefined }
  | { is: 'rejects'; error: string }
  | { is: 'silent'; problem: string }

/** `untold`: Slack does not say, and why. */
export type Membership = { is: 'member' } | { is: 'absent' } | { is: 'archived' } | { is: 'untold'; why: string }

export type GroupReading = { is: 'read'; members: number } | { is: 'unreadable'; why: string }

interface SetupProbeParts {
  client: WebClient
  apiUrl: URL
  fetch?: typeof globalThis.fetch
}

/** Asks Slack how the app is set up. What Slack refuses is part of the answer, in its own short codes; nothing is repeated. */
export function createSetupProbe({ client, apiUrl, fetch = globalThis.fetch }: SetupProbeParts) {
  /** Whether Slack answers, and what the installed app may do: the scopes come as a header with every answer. */
  async function reach(): Promise<SlackReading> {
    const askedAt = performance.now()
    try {
      const answer = await client.auth.test()
      return { is: 'answers', afterMs: performance.now() - askedAt, scopes: answer.response_metadata?.scopes }
    } catch (error) {
      const failure = classifySlackFailure(error)
      if (failure.is === 'refused') return { is: 'rejects', error: failure.error }
      return failure.is === 'unknown'
        ? { is: 'silent', problem: failure.problem }
        : { is: 'answers', afterMs: performance.now() - askedAt, scopes: undefined }
    }
  }

  /** A private channel that the bot is not in is not to be found, for the bot. */
  async function membership(channelId: string): Promise<Membership> {
    try {
      const { channel } = InfoResponse.parse(await client.conversations.info({ channel: channelId }))
      if (channel.is_archived) return { is: 'archived' }
      return { is: channel.is_member ? 'member' : 'absent' }
    } catch (error) {
      const failure = classifySlackFailure(error)
      if (failure.is === 'refused' && failure.error === 'channel_not_found') return { is: 'absent' }
      return { is: 'untold', why: wordsFor(failure) }
    }
  }

  /** Why a user group cannot be read, in Slack's words; undefined where it can be. */
  async function whyUnreadable(groupId: string): Promise<string | undefined> {
    try {
      await client.usergroups.users.list({ usergroup: groupId })
      return undefined
    } catch (error) {
      return wordsFor(classifySlackFailure(error))
    }
  }

  /** By how much this machine's clock is ahead of Slack's, in ms, give or take a second. `api.test` asks for no token. */
  async function clockAheadMs(signal?: AbortSignal): Promise<number | undefined> {
    const askedAt = Date.now()
    const address = new URL('api.test', apiUrl.href.endsWith('/') ? apiUrl : `${apiUrl.href}/`)
    const response = await fetch(address, { method: 'POST', redirect: 'error', ...(signal ? { signal } : {}) })
    await response.text()
    const at = Date.parse(response.headers.get('date') ?? '')
    // The header counts whole seconds: half of one in between.
    return Number.isNaN(at) ? undefined : Math.round((askedAt + Date.now()) / 2 - at - 500)
  }

  return { reach, membership, whyUnreadable, clockAheadMs }
}
export type SetupProbe = ReturnType<typeof createSetupProbe>

function wordsFor(failure: SlackFailure): string {
  if (failure.is === 'refused') return failure.error
  return failure.is === 'rate-limited' ? 'it asks to slow down' : failure.problem
}
