import { z } from 'zod'

const address = z
  .string()
  .regex(/^https:\/\//)
  .max(3_000)
const text = (max: number, min = 1) => z.string().min(min).max(max)

const displayInformation = z.strictObject({
  name: text(35),
  description: text(140).optional(),
  long_description: text(4_000, 175).optional(),
  background_color: z
    .string()
    .regex(/^#([0-9a-f]{3}){1,2}$/i)
    .optional(),
})

const slashCommand = z.strictObject({
  command: z.string().regex(/^\//).min(2).max(32),
  description: text(2_000),
  usage_hint: text(1_000).optional(),
  should_escape: z.boolean().optional(),
  url: address.optional(),
})

const shortcut = z.strictObject({
  name: text(24),
  type: z.enum(['message', 'global']),
  callback_id: text(255),
  description: text(150),
})

const features = z.strictObject({
  app_home: z
    .strictObject({
      home_tab_enabled: z.boolean().optional(),
      messages_tab_enabled: z.boolean().optional(),
      messages_tab_read_only_enabled: z.boolean().optional(),
    })
    .optional(),
  bot_user: z.strictObject({ display_name: text(80), always_online: z.boolean().optional() }).optional(),
  slash_commands: z.array(slashCommand).min(1).max(50).optional(),
  shortcuts: z.array(shortcut).min(1).max(10).optional(),
})

const scopes = z.array(text(50)).max(255)

const settings = z.strictObject({
  event_subscriptions: z.strictObject({ request_url: address.optional(), bot_events: z.array(z.string()).max(100).optional() }).optional(),
  interactivity: z
    .strictObject({ is_enabled: z.boolean(), request_url: address.optional(), message_menu_options_url: address.optional() })
    .optional(),
  org_deploy_enabled: z.boolean().optional(),
  socket_mode_enabled: z.boolean().optional(),
  token_rotation_enabled: z.boolean().optional(),
})

const parts = z.strictObject({
  _metadata: z.strictObject({ major_version: z.literal(2), minor_version: z.number().int().optional() }),
  display_information: displayInformation,
  features,
  oauth_config: z.strictObject({ scopes: z.strictObject({ bot: scopes, bot_optional: scopes.optional() }) }),
  settings,
})

/** Without Socket Mode, Slack needs an address for everything that it delivers. With it, the addresses have no effect. */
function checkAddresses(manifest: z.infer<typeof parts>, addIssue: (issue: string) => void): void {
  const { settings: set, features: has } = manifest
  const addresses = {
    'settings.event_subscriptions.request_url': set.event_subscriptions?.request_url,
    'settings.interactivity.request_url': set.interactivity?.request_url,
    'settings.interactivity.message_menu_options_url': set.interactivity?.message_menu_options_url,
    ...Object.fromEntries((has.slash_commands ?? []).map(({ command, url }) => [`features.slash_commands ${command} url`, url])),
  }
  for (const [name, given] of Object.entries(addresses)) {
    if (set.socket_mode_enabled && given !== undefined) addIssue(`${name} has no effect in Socket Mode`)
    if (!set.socket_mode_enabled && given === undefined) addIssue(`${name} is missing without Socket Mode`)
  }
}

/**
 * The rules of version 2 of Slack's app manifests, for the parts that Lockkeeper uses: which properties exist, and their limits. They restate
 * https://docs.slack.dev/reference/app-manifest and Slack's JSON schema
 * https://github.com/slackapi/manifest-schema/blob/main/schemas/manifest.schema.2.0.0.json, which has no licence under which it could be
 * copied.
 */
export const slackManifest = parts.superRefine((manifest, context) =>
  checkAddresses(manifest, (message) => context.addIssue({ code: 'custom', message })),
)
