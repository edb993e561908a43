import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AppsManifestCreateArguments } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

type Manifest = AppsManifestCreateArguments['manifest']

const root = resolve(import.meta.dirname, '..')
const text = readFileSync(resolve(root, 'manifest.yml'), 'utf8')
const manifest: Manifest = parse(text)
const address = 'https://lockkeeper.example.com/slack/events'

describe('manifest.yml', () => {
  it('describes the app within Slack’s limits', () => {
    const { name, description = '', long_description = '', background_color } = manifest.display_information

    expect(manifest._metadata).toEqual({ major_version: 2 })
    expect(name).toBe('Lockkeeper')
    expect(description.length).toBeLessThanOrEqual(140)
    expect(long_description.length).toBeGreaterThanOrEqual(175)
    expect(long_description.length).toBeLessThanOrEqual(4_000)
    expect(`${description}${long_description}`).not.toMatch(/\n/)
    expect(background_color).toMatch(/^#[0-9a-f]{6}$/)
  })

  it('requests the fewest scopes that work, and the histories as optional scopes', () => {
    const scopes = {
      bot: [
        'commands',
        'chat:write',
        'users:read',
        'usergroups:read',
        'channels:read',
        'groups:read',
        'channels:history',
        'groups:history',
      ],
      bot_optional: ['channels:history', 'groups:history'],
    } satisfies NonNullable<Manifest['oauth_config']>['scopes']

    expect(manifest.oauth_config).toEqual({ scopes })
  })

  it('has one command, which gets mentions as ids', () => {
    const [command, ...others] = manifest.features?.slash_commands ?? []

    expect(others).toEqual([])
    expect(command).toMatchObject({ command: '/infra', should_escape: true, url: address })
    expect(command?.description.length).toBeLessThanOrEqual(2_000)
    expect(command?.usage_hint?.length).toBeLessThanOrEqual(1_000)
  })

  it('shows a Home tab and read-only direct messages', () => {
    expect(manifest.features?.bot_user).toEqual({ display_name: 'Lockkeeper', always_online: true })
    expect(manifest.features?.app_home).toEqual({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: true,
    })
  })

  it('uses HTTP in one workspace, with one address for commands, clicks and pickers', () => {
    const settings = {
      event_subscriptions: { request_url: address, bot_events: ['app_home_opened'] },
      interactivity: { is_enabled: true, request_url: address, message_menu_options_url: address },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    } satisfies Manifest['settings']

    expect(manifest.settings).toEqual(settings)
  })

  it('explains how to change to Socket Mode', () => {
    const comments = text.match(/^#.*$/gm)?.join(' ')

    for (const word of ['socket_mode_enabled', 'request_url', 'message_menu_options_url', 'connections:write', 'SLACK_APP_TOKEN']) {
      expect(comments).toContain(word)
    }
  })

  it('is a manifest for Socket Mode without the lines that it names', () => {
    const socketMode = text.replace('socket_mode_enabled: false', 'socket_mode_enabled: true').replace(/^.*\burl: .*\n|^.*_url: .*\n/gm, '')

    const changed: Manifest = parse(socketMode)

    expect(socketMode).not.toContain('https://lockkeeper.example.com/slack')
    expect(changed.settings).toMatchObject({ interactivity: { is_enabled: true }, socket_mode_enabled: true })
    expect(changed.features?.slash_commands?.[0]).toMatchObject({ command: '/infra', should_escape: true })
  })
})

describe('LICENSE', () => {
  it('is the MIT License, as package.json says', () => {
    expect(readFileSync(resolve(root, 'LICENSE'), 'utf8')).toMatch(/^MIT License\n\nCopyright \(c\) 2026 The Lockkeeper authors\n/)
    expect(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).license).toBe('MIT')
  })
})
