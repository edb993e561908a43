import { withUnit } from '../../../domain/text/duration.ts'
import { code, joinMrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { ago, listOf } from './phrases.ts'

const whatFails: Record<string, string> = {
  commands: "commands don't work",
  'chat:write': 'nothing can be posted',
  'users:read': "guests can't be recognized, so everybody is denied",
  'usergroups:read': "user groups can't be read, so their members are denied",
  'channels:read': "public channels shared with another organization aren't recognized",
  'groups:read': "private channels shared with another organization aren't recognized",
}

export const slack = {
  answers: (afterMs: number) => mrkdwn`Answered in ${milliseconds(afterMs)}.`,
  silent: (problem: string) => mrkdwn`Not responding (${problem}).`,
  fixSilent: mrkdwn`Check that Lockkeeper's host can reach slack.com: DNS, firewall, proxy, and ${code('SLACK_API_URL')} if set.`,
  rejects: (error: string) => mrkdwn`Rejected the bot token (${error}).`,
  fixRejects: mrkdwn`Reinstall the app, set ${code('SLACK_BOT_TOKEN')} to its Bot User OAuth Token (*OAuth & Permissions*), and restart Lockkeeper.`,
}

export const scopes = {
  all: mrkdwn`All granted.`,
  missing: (scopes: string[]) =>
    mrkdwn`${joinMrkdwn(
      scopes.map((scope) => mrkdwn`${code(scope)} is missing: ${whatFails[scope] ?? "something doesn't work"}`),
      '; ',
    )}.`,
  declined: (scopes: string[]) =>
    mrkdwn`All required scopes granted. Without ${listOf(scopes.map(code))}, a message that Slack didn't confirm may appear twice, marked as a possible duplicate.`,
  unknown: mrkdwn`Couldn't check: Slack doesn't show which are granted.`,
}

/** The fix for an outdated manifest. */
const pasteManifest = mrkdwn`Paste the current ${code('manifest.yml')}, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app.`

export const manifest = {
  present: mrkdwn`Has the scopes and the Home tab that this version needs.`,
  older: (signs: { lacksScopes: boolean; homeIsOff: boolean }) => {
    const lacks = [...(signs.lacksScopes ? [mrkdwn`scopes are missing`] : []), ...(signs.homeIsOff ? [mrkdwn`the Home tab is off`] : [])]
    return mrkdwn`Older than this version of Lockkeeper: ${joinMrkdwn(lacks, ' and ')}.`
  },
  homeRefused: (error: string) => mrkdwn`Couldn't check: Slack refused to show your Home tab (${error}).`,
  fix: pasteManifest,
}

export const command = {
  other: (used: string, configured: string) => mrkdwn`This is ${code(used)}. Notices, alerts and the Home tab name ${code(configured)}.`,
  fix: (used: string, configured: string) => mrkdwn`Unless the app has ${code(configured)} too, set ${code(`SLACK_COMMAND=${used}`)}.`,
}

export const buttons = {
  worked: (agoMs: number) => mrkdwn`Last worked ${ago(agoMs)}.`,
  neverReceived: mrkdwn`No click received yet. Press *Test the buttons* below.`,
  fix: (usesSockets: boolean) =>
    usesSockets
      ? mrkdwn`If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Socket Mode needs no address.`
      : mrkdwn`If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. Set its *Request URL* to the address of the command.`,
}

export const pickers = {
  worked: (agoMs: number) => mrkdwn`Last worked ${ago(agoMs)}.`,
  neverReceived: mrkdwn`No picker used yet. Open *Test the pickers* below.`,
  fix: (usesSockets: boolean) =>
    usesSockets
      ? mrkdwn`If the list stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps.`
      : mrkdwn`If the list stays empty, open *Interactivity & Shortcuts* at api.slack.com/apps. Set *Options Load URL* to the address of the command.`,
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? withUnit(Math.round(ms), 'ms') : withUnit((ms / 1_000).toFixed(1), 's')
}
