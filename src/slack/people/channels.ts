import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { ChannelStanding } from '../../domain/people.ts'
import { classifySlackFailure } from '../web-api/failure.ts'
import { createLookup } from './lookup.ts'

const ChannelResponse = z.object({
  channel: z.object({
    is_im: z.boolean().optional(),
    is_mpim: z.boolean().optional(),
    is_ext_shared: z.boolean().optional(),
    is_pending_ext_shared: z.boolean().optional(),
  }),
})

const channelCacheMs = 60_000

/** Reads channels from Slack (`conversations.info`). */
export function createChannels(client: WebClient, now: () => number) {
  const channels = createLookup(async (channelId): Promise<ChannelStanding> => {
    const { channel } = ChannelResponse.parse(await client.conversations.info({ channel: channelId }))
    return standingOf(channel)
  }, now)

  return async function channel(channelId: string): Promise<ChannelStanding> {
    if (channelId.startsWith('D')) return 'direct'
    try {
      return await channels.find(channelId, channelCacheMs)
    } catch (error) {
      const failure = classifySlackFailure(error)
      // Slack refuses if a scope is missing, or the bot is not in a private channel. Another attempt would not help.
      return failure.is === 'refused' ? 'unreadable' : 'unknown'
    }
  }
}

function standingOf(channel: z.infer<typeof ChannelResponse>['channel']): ChannelStanding {
  if (channel.is_ext_shared || channel.is_pending_ext_shared) return 'shared'
  if (channel.is_im) return 'direct'
  return channel.is_mpim ? 'group-direct' : 'usual'
}
