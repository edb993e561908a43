import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import { classifySlackFailure, type SlackFailure } from './failure.ts'

const InfoResponse = z.object({ channel: z.object({ is_member: z.boolean().optional(), is_archived: z.boolean().optional() }) })

/** `scopes`: the granted scopes of the installed app. Undefined if Slack's answer does not list them. */
export type SlackReading =
  | { is: 'answers'; afterMs: number; scopes: string[] | undefined }
  | { is: 'rejects'; error: string }
  | { is: 'silent'; problem: string }

/** Whether the bot is a member of a channel. `unreadable`: Slack did not say; `why` is its code or the problem. */
export type ChannelMembership = { is: 'member' } | { is: 'absent' } | { is: 'archived' } | { is: 'unreadable'; why: string }

export type GroupReading = { is: 'read'; members: number } | { is: 'unreadable'; why: string }

interface SetupProbeParts {
  client: WebClient
  apiUrl: URL
  fetch?: typeof globalThis.fetch
}

/** Reads from Slack how the app is set up. A refusal is part of the result, as Slack's short code. No call is repeated. */
export function createSetupProbe({ client, apiUrl, fetch = globalThis.fetch }: SetupProbeParts) {
  /** Checks that Slack answers, and reads the granted scopes, which Slack sends in a header of every answer. */
  async function reach(): Promise<SlackReading> {
    const startedAt = performance.now()
    try {
      const answer = await client.auth.test()
      return { is: 'answers', afterMs: performance.now() - startedAt, scopes: answer.response_metadata?.scopes }
    } catch (error) {
      const failure = classifySlackFailure(error)
      if (failure.is === 'refused') return { is: 'rejects', error: failure.error }
      return failure.is === 'unknown'
        ? { is: 'silent', problem: failure.problem }
        : { is: 'answers', afterMs: performance.now() - startedAt, scopes: undefined }
    }
  }

  /** Reads whether the bot is a member of a channel. Slack answers `channel_not_found` for a private channel without the bot. */
  async function membership(channelId: string): Promise<ChannelMembership> {
    try {
      const { channel } = InfoResponse.parse(await client.conversations.info({ channel: channelId }))
      if (channel.is_archived) return { is: 'archived' }
      return { is: channel.is_member ? 'member' : 'absent' }
    } catch (error) {
      const failure = classifySlackFailure(error)
      if (failure.is === 'refused' && failure.error === 'channel_not_found') return { is: 'absent' }
      return { is: 'unreadable', why: reasonOf(failure) }
    }
  }

  /** Returns Slack's code for the reason why a user group cannot be read. Returns undefined if it can be read. */
  async function whyUnreadable(groupId: string): Promise<string | undefined> {
    try {
      await client.usergroups.users.list({ usergroup: groupId })
      return undefined
    } catch (error) {
      return reasonOf(classifySlackFailure(error))
    }
  }

  /** Measures how far this machine's clock is ahead of Slack's, in milliseconds, within about a second. `api.test` needs no token. */
  async function clockAheadMs(signal?: AbortSignal): Promise<number | undefined> {
    const sentAt = Date.now()
    const address = new URL('api.test', apiUrl.href.endsWith('/') ? apiUrl : `${apiUrl.href}/`)
    const response = await fetch(address, { method: 'POST', redirect: 'error', ...(signal ? { signal } : {}) })
    await response.text()
    const at = Date.parse(response.headers.get('date') ?? '')
    // The header holds whole seconds only: on average Slack's time is half a second later.
    return Number.isNaN(at) ? undefined : Math.round((sentAt + Date.now()) / 2 - at - 500)
  }

  return { reach, membership, whyUnreadable, clockAheadMs }
}
export type SetupProbe = ReturnType<typeof createSetupProbe>

function reasonOf(failure: SlackFailure): string {
  if (failure.is === 'refused') return failure.error
  return failure.is === 'rate-limited' ? 'it limits requests' : failure.problem
}
