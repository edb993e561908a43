import { code, joinMrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { ago, listOf } from './phrases.ts'

const whatFails: Record<string, string> = {
  commands: 'commands do not work',
  'chat:write': 'nothing can be posted',
  'users:read': 'nobody can be told from a guest, so everybody is denied',
  'usergroups:read': 'nobody can be told to be in a user group, so its members are denied',
  'channels:read': 'a public channel that is shared with another organisation is not noticed',
  'groups:read': 'a private channel that is shared with another organisation is not noticed',
}

export const slack = {
  answers: (afterMs: number) => mrkdwn`answers after ${milliseconds(afterMs)}.`,
  silent: (problem: string) => mrkdwn`does not answer me (${problem}).`,
  fixSilent: mrkdwn`See whether the machine that I run on may reach slack.com: its name server, firewall and proxy, and SLACK_API_URL if it is set.`,
  rejects: (error: string) => mrkdwn`rejects my token (${error}).`,
  fixRejects: mrkdwn`Reinstall the app, set SLACK_BOT_TOKEN to its Bot User OAuth Token (*OAuth & Permissions*), and start me again.`,
}

export const scopes = {
  all: mrkdwn`all granted.`,
  missing: (scopes: string[]) =>
    mrkdwn`${joinMrkdwn(
      scopes.map((scope) => mrkdwn`${code(scope)} is missing: ${whatFails[scope] ?? 'something does not work'}`),
      '; ',
    )}.`,
  declined: (scopes: string[]) =>
    mrkdwn`all that are needed. Without ${listOf(scopes.map(code))} a message whose answer was lost may come twice, and says so.`,
  unknown: mrkdwn`could not be found out: Slack does not tell which are granted.`,
}

/** The fix for everything that a newer manifest brings. */
const pasteManifest = mrkdwn`Paste the present manifest.yml, with your own address in it, into *App Manifest* at api.slack.com/apps, save it, and reinstall the app.`

export const manifest = {
  present: mrkdwn`has the scopes and the Home tab that this version needs.`,
  older: (signs: { lacksScopes: boolean; homeIsOff: boolean }) => {
    const lacks = [...(signs.lacksScopes ? [mrkdwn`it lacks scopes`] : []), ...(signs.homeIsOff ? [mrkdwn`its Home tab is off`] : [])]
    return mrkdwn`is older than I am: ${joinMrkdwn(lacks, ' and ')}.`
  },
  homeRefused: (error: string) => mrkdwn`could not be found out: Slack did not show your Home tab (${error}).`,
  fix: pasteManifest,
}

export const buttons = {
  worked: (agoMs: number) => mrkdwn`last worked ${ago(agoMs)}.`,
  neverReceived: mrkdwn`no click has ever reached me. Press *Test the buttons* below.`,
  fix: (usesSockets: boolean) =>
    usesSockets
      ? mrkdwn`If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps; with Socket Mode there is no address to enter.`
      : mrkdwn`If nothing answers, turn on *Interactivity & Shortcuts* at api.slack.com/apps, with the address of the command as its *Request URL*.`,
}

export const pickers = {
  worked: (agoMs: number) => mrkdwn`last worked ${ago(agoMs)}.`,
  neverReceived: mrkdwn`none has ever asked me for its choices. Open *Test the pickers* below.`,
  fix: (usesSockets: boolean) =>
    usesSockets
      ? mrkdwn`If it stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps.`
      : mrkdwn`If it stays empty, enter the address of the command as *Options Load URL* under *Interactivity & Shortcuts* too: pickers have one of their own.`,
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
