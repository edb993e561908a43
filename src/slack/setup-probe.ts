import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import { classifySlackFailure } from './failure.ts'

const InfoResponse = z.object({ channel: z.object({ is_member: z.boolean().optional() }) })

/** `untold`: Slack does not say, and why. */
export type Membership = { is: 'member' } | { is: 'absent' } | { is: 'untold'; why: string }

/** Asks Slack how the app is set up. Each throws where Slack does not answer. */
export function createSetupProbe({
  client,
  apiUrl,
  fetch = globalThis.fetch,
}: {
  client: WebClient
  apiUrl: URL
  fetch?: typeof globalThis.fetch
}) {
  /** What the installed app may do, by the header that comes with every answer. Undefined where there is none. */
  async function scopes(): Promise<string[] | undefined> {
    const answer = await client.auth.test()
    return answer.response_metadata?.scopes
  }

  async function membership(channelId: string): Promise<Membership> {
    try {
      const { channel } = InfoResponse.parse(await client.conversations.info({ channel: channelId }))
      return { is: channel.is_member ? 'member' : 'absent' }
    } catch (error) {
      const failure = classifySlackFailure(error)
      if (failure.is === 'refused' && failure.error === 'channel_not_found') return { is: 'absent' }
      return { is: 'untold', why: failure.is === 'refused' ? failure.error : 'no answer' }
    }
  }

  /** By how much this machine's clock is ahead of Slack's, in ms, give or take a second. `api.test` asks for no token. */
  async function clockAheadMs(): Promise<number | undefined> {
    const askedAt = Date.now()
    const response = await fetch(new URL('api.test', apiUrl.href.endsWith('/') ? apiUrl : `${apiUrl.href}/`), { method: 'POST' })
    await response.arrayBuffer()
    const at = Date.parse(response.headers.get('date') ?? '')
    // The header counts whole seconds: half of one in between.
    return Number.isNaN(at) ? undefined : (askedAt + Date.now()) / 2 - at - 500
  }

  return { scopes, membership, clockAheadMs }
}
export type SetupProbe = ReturnType<typeof createSetupProbe>
