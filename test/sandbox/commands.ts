import { unconnectedFeatures } from './features.ts'
import type { CommandSuggestion } from './slack/slack.ts'

/** Returns the bot's commands with their texts, as the page's composer suggests them. */
export function commandSuggestions(name = '/infra'): CommandSuggestion[] {
  const commands = unconnectedFeatures().flatMap((feature) => feature.commands)
  return [
    ...commands.map(({ words, usage, summary }) => ({ command: `${name} ${words}`, usage, description: summary })),
    { command: `${name} help`, usage: '', description: 'All commands' },
    { command: '/invite', usage: '@lockkeeper', description: 'Invite Lockkeeper into this channel, as in Slack' },
  ]
}
