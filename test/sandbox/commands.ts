import { createAccountApi } from '../../src/account-api/client.ts'
import { Secret } from '../../src/domain/secret.ts'
import type { FeatureParts } from '../../src/features/feature.ts'
import { createFeatures } from '../../src/features/index.ts'
import type { CommandSuggestion } from './slack/slack.ts'

/** What the page's composer suggests: the bot's own commands, in their own words. */
export function commandSuggestions(name = '/infra'): CommandSuggestion[] {
  // Only the words of the features are read: the client is a real one, because features build on it, and is never used.
  const accountApi = createAccountApi({ baseUrl: new URL('http://127.0.0.1:9'), key: new Secret('unused') })
  const parts = { accountApi, ownLastSlice: '', access: { policy: { rules: [] } } }
  const commands = createFeatures(parts as unknown as FeatureParts).flatMap((feature) => feature.commands)
  return [
    ...commands.map(({ words, usage, summary }) => ({ command: `${name} ${words}`, usage, description: summary })),
    { command: `${name} help`, usage: '', description: 'What can be asked, with examples.' },
    { command: '/invite', usage: '@lockkeeper', description: 'Invites Lockkeeper into this channel, as in Slack.' },
  ]
}
