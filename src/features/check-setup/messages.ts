import { formatDuration } from '../../domain/duration.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mrkdwn, userGroupMention } from '../../slack/text/text.ts'
import type { ConnectionProblem } from './connection-problem.ts'

/** The beginning of each line. */
export const subjects = {
  slack: 'Slack',
  scopes: "Slack's scopes",
  manifest: "The app's manifest",
  buttons: 'Buttons',
  pickers: 'Pickers',
  channels: 'Channels',
  groups: 'User groups',
  redis: 'Redis',
  api: 'The account API',
  key: 'The API key',
  clock: 'The clock',
  workers: 'Workers',
} as const

const whatFails: Record<string, string> = {
  commands: 'commands do not work',
  'chat:write': 'nothing can be posted',
  'users:read': 'nobody can be told from a guest, so everybody is denied',
  'usergroups:read': 'nobody can be told to be in a user group, so its members are denied',
  'channels:read': 'a public channel that is shared with another organisation is not noticed',
  'groups:read': 'a private channel that is shared with another organisation is not noticed',
}

export const unknown = (why: string) => mrkdwn`could not be found out: ${why}.`

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
    mrkdwn`all that are needed. Without ${list(scopes.map(code))} a message whose answer was lost may come twice, and says so.`,
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

export const channels = {
  member: (ids: string[]) => mrkdwn`I am in ${list(ids.map(channelMention))}.`,
  absent: (ids: string[]) => mrkdwn`I am not in ${list(ids.map(channelMention))}, so I can post nothing there.`,
  fixAbsent: mrkdwn`Type */invite @Lockkeeper* there.`,
  archived: (ids: string[]) => mrkdwn`${list(ids.map(channelMention))} is archived, so I can post nothing there.`,
  fixArchived: mrkdwn`Bring it back, or name another channel in the configuration.`,
  unknown: (ids: string[], why: string) =>
    mrkdwn`whether I am in ${list(ids.map(channelMention))} could not be found out: Slack did not tell (${why}).`,
}

export const groups = {
  members: (group: { id: string; members: number }[]) =>
    mrkdwn`${list(group.map(({ id, members }) => mrkdwn`${userGroupMention(id)} has ${members === 1 ? 'one member' : `${members} members`}`))}.`,
  unreadable: (id: string, why: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) cannot be read (${why}), so ${decides ? 'everybody who counts on it is denied' : 'a card that mentions it may call nobody'}.`,
  unknown: (id: string, why: string) => mrkdwn`whether ${userGroupMention(id)} (${code(id)}) can be read could not be found out: ${why}.`,
  fixUnreadable: (why: string) => {
    if (why === 'missing_scope') return mrkdwn`Give the app the scope ${code('usergroups:read')}, as the line on its scopes says.`
    if (why === 'plan_upgrade_required') return mrkdwn`The plan of this workspace has no user groups: name people in the configuration.`
    return mrkdwn`See among Slack's user groups that it is there and not disabled, and that its id in the configuration is right.`
  },
  empty: (id: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) is empty or disabled, so ${decides ? 'nobody may ask or approve by it' : 'a card that mentions it calls nobody'}.`,
  fixEmpty: mrkdwn`Put people into it, turn it on again, or name others in the configuration.`,
}

export const redis = {
  keeps: mrkdwn`keeps what it is told: it evicts nothing, writes to disk, and is new enough.`,
  faulty: mrkdwn`is not fit to keep requests.`,
  fixFaulty: (faults: string[]) => mrkdwn`${faults.join(' ')}`,
  silent: mrkdwn`does not answer, so nothing can be asked for, decided or followed.`,
  fixSilent: mrkdwn`See that it runs at REDIS_URL, and that the machine that I run on may reach it.`,
}

const connectionProblems: Record<ConnectionProblem, { words: string; fix: string }> = {
  name: { words: 'its name is not found', fix: 'See that the host name in INFRA_API_URL is right, and that the name server knows it.' },
  refused: {
    words: 'the connection is refused',
    fix: 'See that the port in INFRA_API_URL is right, and that nothing in between refuses it.',
  },
  certificate: {
    words: 'its certificate does not convince',
    fix: 'See that INFRA_API_URL names the right host and that this clock is right; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS.',
  },
  late: {
    words: 'no answer in time',
    fix: 'See that a firewall or proxy lets this machine reach INFRA_API_URL, and whether the account API is slow just now.',
  },
  broken: {
    words: 'the connection breaks',
    fix: 'See what stands between this machine and INFRA_API_URL: a proxy, a firewall, a balancer.',
  },
}

export const api = {
  answers: mrkdwn`answers.`,
  unreachable: (problem: ConnectionProblem, code: string) =>
    mrkdwn`cannot be reached: ${connectionProblems[problem].words}${codeIn(code)}.`,
  fixUnreachable: (problem: ConnectionProblem) => mrkdwn`${connectionProblems[problem].fix}`,
  fails: (status: number) => mrkdwn`answers with status ${status} when it is asked for its keys.`,
  fixFails: (status: number) =>
    status >= 500 || status === 429
      ? mrkdwn`Wait a minute and ask again; if it lasts, look at the status page of the account API.`
      : mrkdwn`See that INFRA_API_URL is the base address of the account API, as its documentation gives it.`,
}

export const key = {
  full: (name: string | undefined) => mrkdwn`${named(name)} is accepted, and may make changes.`,
  unlisted: mrkdwn`is accepted. Whether it may make changes could not be found out: it is not in the list of keys.`,
  unknown: (name: string | undefined) => mrkdwn`${named(name)} is accepted. Whether it may make changes is not told.`,
  readOnly: (name: string | undefined) => mrkdwn`${named(name)} is read-only: nothing can be changed with it.`,
  fixReadOnly: mrkdwn`Make a key that is not read-only, set it as INFRA_API_KEY, and start me again.`,
  lacksFeature: mrkdwn`is accepted. Whether it may make changes could not be found out: a feature that listing keys needs is not enabled for the team.`,
  fixLacksFeature: mrkdwn`Ask the provider's support to enable it.`,
  rejected: (status: number) => mrkdwn`is rejected (${status}): nothing can be looked at, carried out or followed.`,
  fixRejected: (status: number) =>
    status === 403
      ? mrkdwn`See that the key may be used from the address that I run at, and by a member of the team; or set another INFRA_API_KEY and start me again.`
      : mrkdwn`Set a valid INFRA_API_KEY, and start me again. What is under way is kept, and goes on then.`,
}

/** What goes wrong if the clocks disagree. */
const clockMatters: Record<string, string> = {
  Slack: 'requests that are 5 min off are refused',
  Redis: 'all waiting is counted by its clock',
}

export const clock = {
  right: (others: string[]) => mrkdwn`agrees with that of ${others.join(' and ')}.`,
  wrong: (offs: { other: string; aheadMs: number }[]) =>
    mrkdwn`of the machine that I run on is ${list(
      offs.map(
        ({ other, aheadMs }) =>
          mrkdwn`${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of ${other} (${clockMatters[other] ?? ''})`,
      ),
    )}.`,
  fix: (others: string[]) =>
    others.includes('Slack')
      ? mrkdwn`Turn on the synchronisation of that machine's clock (NTP).`
      : mrkdwn`Turn on the synchronisation of clocks (NTP) on that machine and on the one that Redis runs on.`,
  unknown: (other: string, why: string) => mrkdwn`could not be compared with that of ${other}: ${why}.`,
  partly: (right: string[], notCompared: Mrkdwn[]) =>
    joinMrkdwn([...(right.length > 0 ? [clock.right(right)] : []), ...notCompared], ' It '),
}

export const workers = {
  atWork: (seen: number) => mrkdwn`${count(seen)} at work.`,
  none: mrkdwn`none is at work: what is approved is not carried out, nothing is followed, and nothing expires.`,
  fixNone: mrkdwn`Start a process with ROLE=worker or ROLE=all, with the same REDIS_URL and REDIS_PREFIX.`,
  stuck: (seen: number, lastTickMs: number) =>
    mrkdwn`${count(seen)} at work, but what was due 5 min ago has not been attended to. ${
      Number.isFinite(lastTickMs) ? mrkdwn`The last round was ${ago(lastTickMs)}.` : mrkdwn`There was no round yet.`
    }`,
  fixStuck: mrkdwn`Start the workers again, and look into their log for what holds them up.`,
}

export const testIds = { button: 'doctor-button', picker: 'doctor-picker' } as const

export const tests = {
  button: 'Test the buttons',
  picker: 'Test the pickers',
  choice: 'Choose me: I came from Lockkeeper',
  buttonWorks: mrkdwn`:white_check_mark: Buttons work.`,
  pickerWorks: mrkdwn`:white_check_mark: Pickers work: Slack asked me for the choices, and yours has reached me.`,
}

/** `2 of 12 need mending, 1 is not known` */
export function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
  const mending = wrong === 0 ? 'Nothing needs mending' : `${wrong} of ${all} ${wrong === 1 ? 'needs' : 'need'} mending`
  return mrkdwn`*${mending}*${unsure === 0 ? '' : `, ${unsure} ${unsure === 1 ? 'is' : 'are'} not known`}`
}

/** Returns a transport error's code in brackets. A problem that is a sentence adds nothing to the words. */
function codeIn(problem: string): string {
  return /^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`(it has no name)`
}

function count(seen: number): string {
  return seen === 1 ? 'one is' : `${seen} are`
}

function list(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}

function milliseconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
