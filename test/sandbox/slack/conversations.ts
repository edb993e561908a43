import type { Directory } from './directory.ts'
import { isYes, type Json, objectOf } from './json.ts'
import type { Option } from './slack.ts'
import type { Channel } from './workspace.ts'

/** Whether a picker of conversations offers this channel to this person (docs.slack.dev, "Conversation filter object"). */
export function isOffered(element: Json, channel: Channel, userId: string): boolean {
  const filter = objectOf(element.filter)
  const kind = channel.isDirect ? 'im' : channel.isGroupDirect ? 'mpim' : channel.isPrivate ? 'private' : 'public'
  const included = Array.isArray(filter.include) ? filter.include.includes(kind) : true
  const isVisible = kind === 'public' || channel.members.includes(userId)
  return included && isVisible && !channel.isArchived && !(isYes(filter.exclude_external_shared_channels) && channel.isShared)
}

/** Returns the channels that a picker of conversations offers, as the options of a picker. */
export function conversationOptions(directory: Directory, element: Json, userId: string, query = ''): Option[] {
  return directory.workspace.channels
    .filter((channel) => isOffered(element, channel, userId) && channel.name.includes(query.replace(/^#/, '').toLowerCase()))
    .map(({ id, name }) => ({ text: { type: 'plain_text', text: `#${name}` }, value: id }))
}
