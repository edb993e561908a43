import { isObject, type Json, stringOf } from './json.ts'
import type { Channel, UserGroup } from './workspace.ts'

/** The notification of a new message, as the phones of these people show it. */
export interface Notification {
  people: string[]
  channel: string
  ts: string
  threadTs?: string
  user: string
  /** Slack shows the top-level text in notifications, never the blocks. */
  text: string
}

interface NewMessage {
  user: string
  text: string
  blocks?: Json[]
  visibleTo?: string
  subtype?: string
}

interface Around {
  channel: Channel
  userGroups: UserGroup[]
  /** The bot, which has no phone. */
  bot: string
  /** The people who follow its thread. Empty outside of a thread. */
  followers: string[]
}

/**
 * Returns the people whose phones show a new message, with Slack's default settings: direct messages, mentions, mentions of their groups, and
 * replies in threads that they follow. An ephemeral message notifies nobody, and an edit is no new message. Source: Slack's help, "Guide to
 * Slack notifications".
 */
export function notifiedOf(message: NewMessage, { channel, userGroups, bot, followers }: Around): string[] {
  // Slack's own messages, such as those of people who join, notify nobody.
  if (message.visibleTo !== undefined || message.subtype === 'channel_join') return []
  const { people, groups, isBroadcast } = mentionsIn(message)
  const ofGroups = userGroups.filter(({ id, disabled }) => groups.includes(id) && !disabled).flatMap(({ members }) => members)
  const everybody = channel.isDirect || channel.isGroupDirect || isBroadcast ? channel.members : []
  const notified = new Set([...people, ...ofGroups, ...followers, ...everybody])
  return channel.members.filter((member) => notified.has(member) && member !== message.user && member !== bot)
}

/**
 * Returns the people who follow a thread because of one of its messages: its author, and those who were named in it when it was posted. An
 * edit that names more people makes nobody a follower. Source: Slack's help, "Use threads to organize discussions".
 */
export function followersBy(message: NewMessage): string[] {
  return [message.user, ...mentionsIn(message).people]
}

interface Mentions {
  people: string[]
  groups: string[]
  isBroadcast: boolean
}

/** Finds the mentions that a person sees. Where a message has blocks, its text is only shown in notifications. */
function mentionsIn({ text, blocks = [] }: NewMessage): Mentions {
  const texts = blocks.length > 0 ? markupIn(blocks) : [text]
  const marks = texts.flatMap((one) => [...one.matchAll(/<(@|!subteam\^|!(?=here|channel|everyone))([^>|]+)[^>]*>/g)])
  const named = (mark: string) => marks.flatMap(([, found, id]) => (found === mark && id ? [id] : []))
  return { people: named('@'), groups: named('!subteam^'), isBroadcast: named('!').length > 0 }
}

/** Returns the mrkdwn texts anywhere in blocks, and the mentions of rich text as mrkdwn. Plain text mentions nobody. */
function markupIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(markupIn)
  if (!isObject(value)) return []
  switch (value.type) {
    case 'mrkdwn':
      return [stringOf(value.text)]
    case 'user':
      return [`<@${stringOf(value.user_id)}>`]
    case 'usergroup':
      return [`<!subteam^${stringOf(value.usergroup_id)}>`]
    case 'broadcast':
      return [`<!${stringOf(value.range)}>`]
    case 'button':
      // The text of a confirmation is shown only to the person who presses the button.
      return []
    default:
      return Object.values(value).flatMap(markupIn)
  }
}
