import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/config/config.ts'
import { Variables } from '../src/config/variables.ts'
import { bundles, changeKinds, neverExempt } from '../src/features/index.ts'
import { createLog } from '../src/ops/log.ts'
import { schemas } from '../src/slack/payloads.ts'
import { createBot } from '../src/start/bot.ts'
import { slackManifest } from './slack-manifest-schema.ts'
import { scopesOf } from './slack-scopes.ts'

const root = join(import.meta.dirname, '..')

interface Manifest {
  features: {
    shortcuts: { name: string; type: 'message' | 'global'; callback_id: string; description: string }[]
    bot_user: object
    app_home: object
    slash_commands: { command: string; usage_hint: string; url: string; should_escape: boolean }[]
  }
  oauth_config: { scopes: { bot: string[]; bot_optional: string[] } }
  settings: {
    interactivity: { is_enabled: boolean; request_url: string; message_menu_options_url: string }
    event_subscriptions: { request_url: string; bot_events: string[] }
  }
}

const text = readFileSync(join(root, 'manifest.yml'), 'utf8')
const manifest = parse(text) as Manifest

/** Changes the manifest as its first comment says. */
const forSocketMode = (http: string) =>
  http.replace('socket_mode_enabled: false', 'socket_mode_enabled: true').replace(/^.*\burl: .*\n|^.*_url: .*\n/gm, '')

/** Creates the bot without starting it. */
function build() {
  const env = {
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_SIGNING_SECRET: 'a'.repeat(32),
    INFRA_API_URL: 'http://127.0.0.1:9',
    INFRA_API_KEY: 'b'.repeat(36),
    REDIS_URL: inject('redisUrl'),
    APPROVERS: 'U0BEN00001',
  }
  const bot = createBot(readConfig(env, { kinds: changeKinds, bundles, neverExempt }), { log: createLog({ level: 'fatal' }) })
  onTestFinished(() => bot.stop())
  return bot
}

describe('the manifest', () => {
  test('has one command, whose hint is short and names the help and existing sub-commands', () => {
    const [command, ...others] = manifest.features.slash_commands
    expect(command).toMatchObject({ command: '/infra', should_escape: true })
    expect(others).toEqual([])
    expect(Variables.shape.SLACK_COMMAND.parse(undefined)).toBe(command?.command)

    const [first, ...hinted] = (command?.usage_hint ?? '').split(', ')
    expect(first).toBe('help')
    expect(build().commands.map(({ words }) => words)).toEqual(expect.arrayContaining(hinted))
    expect(command?.usage_hint.length).toBeLessThanOrEqual(60)
  })

  test('has exactly the shortcuts that the bot listens to, with names and descriptions that Slack takes', () => {
    const { shortcuts } = manifest.features
    expect(shortcuts.map(({ callback_id }) => callback_id).toSorted()).toEqual(Object.keys(build().interactions.shortcuts).toSorted())
    expect(shortcuts.every(({ name, description }) => name.length <= 24 && description.length <= 150)).toBe(true)
  })

  test('sends commands, clicks, submissions and option loads to the address of the bot', () => {
    const { request_url, message_menu_options_url, is_enabled } = manifest.settings.interactivity
    const addresses = [manifest.features.slash_commands[0]?.url, request_url, message_menu_options_url]
    expect(new Set(addresses)).toEqual(new Set(['https://lockkeeper.example.com/slack/events']))
    expect(is_enabled).toBe(true)
  })

  test('shows a Home tab and read-only direct messages', () => {
    expect(manifest.features.bot_user).toEqual({ display_name: 'Lockkeeper', always_online: true })
    const tabs = { home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: true }
    expect(manifest.features.app_home).toEqual(tabs)
  })

  test.each([
    ['HTTP', text],
    ['Socket Mode', forSocketMode(text)],
  ])('for %s is one that Slack takes', (_, yaml) => {
    expect(slackManifest.safeParse(parse(yaml)).error?.issues ?? []).toEqual([])
  })

  test('requests exactly the scopes of the methods that the bot calls', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const source = files.map((file) => readFileSync(join(root, 'src', file), 'utf8')).join('\n')
    const called = new Set([...source.matchAll(/\bclient\.((?:\w+\.)+\w+)\(/g)].map(([, method = '']) => method))
    // A call by another name would escape the table.
    expect(source).not.toMatch(/\.apiCall\(['"`]/)
    expect([...called].toSorted()).toEqual(Object.keys(scopesOf).toSorted())

    const needed = Object.values(scopesOf).flat()
    const requested = manifest.oauth_config.scopes
    expect(new Set([...needed, 'commands'])).toEqual(new Set(requested.bot))
    expect(requested.bot_optional).toEqual(['channels:history', 'groups:history'])
  })

  test('has a row for each scope in docs/slack-app.md, with a link to its page and the methods that need it', () => {
    const page = readFileSync(join(root, 'docs/slack-app.md'), 'utf8')
    const rows = [...page.matchAll(/^\[`([a-z:]+)`\]\((\S+)\)( \(optional\))? \| .* \| (.*)$/gm)]
    const { bot, bot_optional: optional } = manifest.oauth_config.scopes
    expect(rows.map(([, scope]) => scope)).toEqual(bot)
    for (const [, scope = '', link, mark, methods = ''] of rows) {
      expect(link).toBe(`https://docs.slack.dev/reference/scopes/${scope.replaceAll(':', '.')}`)
      expect(mark !== undefined).toBe(optional.includes(scope))
      for (const [, method = ''] of methods.matchAll(/`([^`]+)`/g)) expect(scopesOf[method]).toContain(scope)
    }
    const explained = rows.map(([row]) => row).join('\n')
    const methodsWithScope = Object.keys(scopesOf).filter((method) => (scopesOf[method] ?? []).length > 0)
    expect(methodsWithScope.filter((method) => !explained.includes(`\`${method}\``))).toEqual([])
  })

  test('subscribes to exactly the events that the bot reads', () => {
    const events = Object.entries(schemas).flatMap(([kind, { shape }]) => ('event' in shape ? [kind] : []))
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(events)
    expect(manifest.settings.event_subscriptions.request_url).toBe('https://lockkeeper.example.com/slack/events')
  })
})

/**
 * Returns how the source names an element. Pickers of details, and buttons below details, are named by the kind of their items, and the elements
 * of a form by its callback id.
 */
function elementOf(id: string): string {
  const [, item] = /^(?:details:|item:|open-)?([a-z-]+)/.exec(id) ?? []
  return item ?? id
}

describe('an element with an action', () => {
  test('has a listener, and every listener has an element', async () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const { interactions } = build()
    const listeners = {
      clicks: Object.keys(interactions.clicks).toSorted(),
      shortcuts: Object.keys(interactions.shortcuts).toSorted(),
      submissions: Object.keys(interactions.submissions).toSorted(),
      options: Object.keys(interactions.options).toSorted(),
    }

    const lines = Object.entries(listeners).flatMap(([kind, ids]) => [`\n## ${kind}\n`, ...ids.map((id) => `- \`${id}\``)])
    await expect(`# Elements and forms that Slack sends back\n${lines.join('\n')}\n`).toMatchFileSnapshot('manifest.elements.md')
    const shown = sources
      .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
      .join('\n')
      .replace(/`\$\{verb\}-api-key`/, "'rotate-api-key' 'revoke-api-key'")
    for (const id of Object.values(listeners).flat()) expect(shown).toMatch(new RegExp(`'(open-)?${elementOf(id)}'`))

    const items = [...shown.matchAll(/\bof: '([a-z-]+)'(?! \|)/g)].map(([, of]) => `details:${of}`)
    expect(listeners.clicks).toEqual(expect.arrayContaining(items))
  })
})

test('the LICENSE is the MIT License, as package.json says', () => {
  expect(readFileSync(join(root, 'LICENSE'), 'utf8')).toMatch(/^MIT License\n\nCopyright \(c\) 2026 The Lockkeeper authors\n/)
  expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).license).toBe('MIT')
})
