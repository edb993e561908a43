import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const manifestPath = join(import.meta.dirname, '../../manifest.yml')
const exampleAddress = 'https://lockkeeper.example.com'

export interface SlackAppOptions {
  /** Where Slack reaches Lockkeeper, `https://lockkeeper.your-company.com`. Undefined: Socket Mode. */
  address?: string
  command: string
}

/** Changes manifest.yml as its comments say. */
export function manifestFor({ address, command }: SlackAppOptions): object {
  const text = readFileSync(manifestPath, 'utf8')
  const here =
    address === undefined
      ? text.replace('socket_mode_enabled: false', 'socket_mode_enabled: true').replace(/^.*\burl: .*\n|^.*_url: .*\n/gm, '')
      : text.replaceAll(exampleAddress, address)
  const manifest = parse(here)
  manifest.features.slash_commands[0].command = command
  return manifest
}

/** Longer addresses are cut by some terminals, chats and proxies. */
export const longestLink = 6_000

/** Some terminals end a link at an apostrophe, which encodeURIComponent leaves as it is. */
const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27')

/** Returns the link to Slack's *Create an app*, with the manifest filled in, or the manifest to paste if the link would be longer than `most`. */
export function slackAppFor(options: SlackAppOptions, most = longestLink): { link: string } | { manifest: string } {
  const manifest = manifestFor(options)
  const link = `https://api.slack.com/apps?new_app=1&manifest_json=${encoded(JSON.stringify(manifest))}`
  return link.length > most ? { manifest: stringify(manifest, { lineWidth: 0 }) } : { link }
}
