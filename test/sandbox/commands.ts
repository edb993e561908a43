import { unconnectedFeatures } from './features.ts'
import type { CommandSuggestion } from './slack/slack.ts'

/** What the page's composer suggests: the bot's own commands, in their own words. */
export function commandSuggestions(name = '/infra'): CommandSuggestion[] {
  const commands = unconnectedFeatures().flatMap((feature) => feature.commands)
  return [
    ...commands.map(({ words, usage, summary }) => ({ command: `${name} ${words}`, usage, description: summary })),
    { command: `${name} help`, usage: '', description: 'What can be asked, with examples.' },
    { command: '/invite', usage: '@lockkeeper', description: 'Invites Lockkeeper into this channel, as in Slack.' },
  ]
}
