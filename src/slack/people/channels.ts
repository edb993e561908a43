import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import type { ChannelStanding } from '../../domain/approval/people.ts'
import { classifySlackFailure } from '../web-api/failure.ts'
import { createLookup } from './lookup.ts'

const ChannelResponse = z.object({
  channel: z.object({
    is_im: z.boolean().optional(),
    is_mpim: z.boolean().optional(),
    is_ext_shared: z.boolean().optional(),
    is_pending_ext_shared: z.boolean().optional(),
    is_private: z.boolean().optional(),
    is_member: z.boolean().optional(),
  }),
})

const MembersResponse = z.object({
  members: z.array(z.string()),
  response_metadata: z.object({ next_cursor: z.string().optional() }).optional(),
})

const channelCacheMs = 60_000

/** Slack's largest page: its limit must be below 1,000 (docs.slack.dev, "conversations.members method"). */
const membersPerPage = 999

/** The most pages that are read while a person waits. */
const mostPages = 5

interface Channel {
  standing: ChannelStanding
  isPrivate: boolean
  /** Whether Lockkeeper is a member. Undefined if Slack does not say. */
  hasBot: boolean | undefined
}

/** Reads channels from Slack (`conversations.info`, `conversations.members`). */
export function createChannels(client: WebClient, now: () => number) {
  const channels = createLookup(async (channelId): Promise<Channel> => {
    const { channel } = ChannelResponse.parse(await client.conversations.info({ channel: channelId }))
    return { standing: standingOf(channel), isPrivate: channel.is_private ?? false, hasBot: channel.is_member }
  }, now)

  async function standing(channelId: string): Promise<ChannelStanding> {
    if (channelId.startsWith('D')) return 'direct'
    try {
      return (await channels.find(channelId, channelCacheMs)).standing
    } catch (error) {
      const failure = classifySlackFailure(error)
      // Slack refuses if a scope is missing, or the bot is not in a private channel. Another attempt would not help.
      return failure.is === 'refused' ? 'unreadable' : 'unknown'
    }
  }

  /**
   * Returns whether Lockkeeper is a member of the channel. *Not a member* is never cached, because people invite Lockkeeper and try again
   * at once. Slack hides a private channel from apps that are not in it.
   */
  async function hasBot(channelId: string): Promise<boolean | 'unknown'> {
    try {
      const known = channels.known(channelId, channelCacheMs)
      const { hasBot: is } = known?.hasBot ? known : await channels.find(channelId, 0)
      return is ?? 'unknown'
    } catch (error) {
      const failure = classifySlackFailure(error)
      return failure.is === 'refused' && failure.error === 'channel_not_found' ? false : 'unknown'
    }
  }

  /**
   * Returns whether a person could have typed a command in this channel: everybody can join a public channel, and only members see a private
   * one. Returns `unknown` if Slack gave no answer, or the channel has more members than are read.
   */
  async function isOpenTo(channelId: string, userId: string): Promise<boolean | 'unknown'> {
    try {
      const { isPrivate } = await channels.find(channelId, channelCacheMs)
      return isPrivate ? await hasMember(channelId, userId) : true
    } catch {
      return 'unknown'
    }
  }

  async function hasMember(channelId: string, userId: string): Promise<boolean | 'unknown'> {
    let cursor: string | undefined
    for (let page = 0; page < mostPages; page += 1) {
      const answer = await client.conversations.members({ channel: channelId, limit: membersPerPage, ...(cursor ? { cursor } : {}) })
      const { members, response_metadata: more } = MembersResponse.parse(answer)
      if (members.includes(userId)) return true
      cursor = more?.next_cursor
      if (!cursor) return false
    }
    return 'unknown'
  }

  return { standing, hasBot, isOpenTo }
}

function standingOf(channel: z.infer<typeof ChannelResponse>['channel']): ChannelStanding {
  if (channel.is_ext_shared || channel.is_pending_ext_shared) return 'shared'
  if (channel.is_im) return 'direct'
  return channel.is_mpim ? 'group-direct' : 'usual'
}
