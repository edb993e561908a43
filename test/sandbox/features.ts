import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { createAccountApi } from '../../src/account/client.ts'
import type { App } from '../../src/app.ts'
import { Secret } from '../../src/domain/signing.ts'
import { abilities } from '../../src/features/index.ts'
import type { Feature, Setup } from '../../src/kit/ability.ts'
import type { CommandSuggestion, ShortcutSuggestion } from './slack/slack.ts'

/**
 * Returns the bot's features without a connection to an account, to Slack or to Redis. Only their names and texts can be used. `confirmBy`: of
 * a rule.
 */
export function unconnectedFeatures(confirmBy?: 'passkey'): Feature[] {
  // Features need a real client, which is never used here.
  const account = createAccountApi({ baseUrl: new URL('http://127.0.0.1:9'), key: new Secret('unused') })
  const app = { account, ownLastSlice: '', config: { policy: { rules: [{ confirmBy }] } }, timings: {} }
  return abilities.map(({ create }) => create(app as unknown as App, {} as Setup))
}

/** Returns the bot's commands with their texts, as the page's composer suggests them. */
export function commandSuggestions(confirmBy?: 'passkey'): CommandSuggestion[] {
  const commands = unconnectedFeatures(confirmBy).flatMap((feature) => feature.commands)
  return [
    ...commands.map(({ words, usage, summary }) => ({ command: `/infra ${words}`, usage, description: summary })),
    { command: '/infra help', usage: '', description: 'All commands' },
    { command: '/invite', usage: '@lockkeeper', description: 'Invite Lockkeeper into this channel, as in Slack' },
  ]
}

interface Manifest {
  features: { shortcuts: (Omit<ShortcutSuggestion, 'callbackId'> & { callback_id: string })[] }
}

export function shortcutSuggestions(): ShortcutSuggestion[] {
  const { features }: Manifest = parse(readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8'))
  return features.shortcuts.map(({ callback_id: callbackId, ...shortcut }) => ({ ...shortcut, callbackId }))
}
