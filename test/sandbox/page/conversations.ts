import type { Channel } from './api.ts'
import type { ConversationFilter, Option } from './block-shapes.ts'

/** Returns the channels that a conversations select offers, as options whose value is the id. */
export function conversationOptions(channels: Channel[], filter: ConversationFilter = {}): Option[] {
  const { include, exclude_external_shared_channels: excludesShared } = filter
  return channels
    .filter(({ isPrivate }) => include?.includes(isPrivate ? 'private' : 'public') ?? true)
    .filter(({ isShared }) => !(excludesShared && isShared))
    .map(({ id, name }) => ({ text: { type: 'plain_text', text: `#${name}` }, value: id }))
}

/** Returns the options whose texts contain what was typed. */
export function fittingOptions(options: Option[], typed: string): Option[] {
  return options.filter(({ text }) => text.text.toLowerCase().includes(typed.trim().toLowerCase()))
}
