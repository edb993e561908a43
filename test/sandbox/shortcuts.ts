import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import type { ShortcutSuggestion } from './slack/slack.ts'

const Manifest = z.object({
  features: z.object({
    shortcuts: z.array(
      z.object({ name: z.string(), description: z.string(), type: z.enum(['message', 'global']), callback_id: z.string() }),
    ),
  }),
})

/** Returns the shortcuts of the app's manifest, as the page's menus show them. */
export function shortcutSuggestions(): ShortcutSuggestion[] {
  const { features } = Manifest.parse(parse(readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8')))
  return features.shortcuts.map(({ callback_id: callbackId, ...shortcut }) => ({ ...shortcut, callbackId }))
}
