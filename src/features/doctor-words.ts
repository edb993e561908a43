import type { BudgetFigure } from '../account/budget.ts'
import type { ReadKeyProblem } from '../domain/account.ts'
import type { ConnectionProblem, MissingRight, WriteRefusal } from '../domain/errors.ts'
import type { CallKind } from '../domain/lane.ts'
import { formatDuration, withUnit } from '../domain/text.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mrkdwn, userGroupMention } from '../slack/text.ts'
import type { AccountApiReading } from './doctor-facts.ts'

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')
const ownReadKey = code('INFRA_READ_KEY')

type Limited = Extract<AccountApiReading, { is: 'limited' }>
type Rejected = Extract<AccountApiReading, { is: 'rejects' }>

const connectionProblems: Record<ConnectionProblem, { words: string; fix: Mrkdwn }> = {
  name: { words: 'hostname not found', fix: mrkdwn`Check the hostname in ${url} and the DNS server.` },
  refused: {
    words: 'connection refused',
    fix: mrkdwn`Check the port in ${url} and the firewalls on the way.`,
  },
  certificate: {
    words: 'TLS certificate not trusted',
    fix: mrkdwn`Check the hostname in ${url} and the clock of Lockkeeper's host. For your own certificate authority, set ${code('NODE_EXTRA_CA_CERTS')}.`,
  },
  late: {
    words: 'timed out',
    fix: mrkdwn`Check that firewalls and proxies let Lockkeeper's host reach ${url}. Check whether the account API is slow.`,
  },
  broken: {
    words: 'connection lost',
    fix: mrkdwn`Check the proxies, firewalls and load balancers between Lockkeeper's host and ${url}.`,
  },
}

export const api = {
  answers: mrkdwn`Reachable.`,
  unreachable: (problem: ConnectionProblem, code: string) => mrkdwn`Not reachable: ${connectionProblems[problem].words}${codeIn(code)}.`,
  fixUnreachable: (problem: ConnectionProblem) => connectionProblems[problem].fix,
  limited: ({ why, waitMs }: Limited) =>
    mrkdwn`Not checked, because of the limit. ${why} Run this command again in ${formatDuration(Math.max(1_000, waitMs))}.`,
  fails: (status: number) => mrkdwn`Returned an error (${status}) for the list of API keys.`,
  fixFails: (status: number) =>
    status >= 500 || status === 429
      ? mrkdwn`Wait a minute and run this command again. If the error stays, check the status page of the account API.`
      : mrkdwn`Check that ${url} is the base address in the account API's documentation.`,
}

export const policy = {
  unseen: (ids: Mrkdwn) => mrkdwn`No server, Elastic IP or virtual machine shows ${ids}.`,
  fix: mrkdwn`Check the spelling in ${code('POLICY_FILE')}. A rule for a project that doesn't exist never applies.`,
}

export const elasticIps = ({ all, bgp }: { all: number; bgp: number }) =>
  bgp === 1
    ? mrkdwn`1 of ${all} is a BGP address. Lockkeeper doesn't move it.`
    : mrkdwn`${bgp} of ${all} are BGP addresses. Lockkeeper doesn't move them.`

export const key = {
  full: (name: string | undefined) => mrkdwn`${named(name)} is accepted and can make changes.`,
  notReachable: mrkdwn`Not checked, because the account API isn't reachable.`,
  limited: mrkdwn`Not checked, because of the account's limit.`,
  notSet: mrkdwn`Not set. This process reads with ${code('INFRA_READ_KEY')}, and workers make the changes.`,
  notAsked: mrkdwn`Not checked, because the account API didn't list the keys.`,
  unlisted: mrkdwn`Accepted. Couldn't check whether it can make changes: it isn't in the list of keys.`,
  unknown: (name: string | undefined) => mrkdwn`${named(name)} is accepted. The account API doesn't show whether it can make changes.`,
  readOnly: (name: string | undefined) => mrkdwn`${named(name)} is read-only, so Lockkeeper can't make changes.`,
  fixReadOnly: mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  lacksFeature: mrkdwn`Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs.`,
  fixLacksFeature: mrkdwn`Ask the provider's support to enable it.`,
  rejected: ({ status }: Rejected) => mrkdwn`Rejected (${status}). Lockkeeper can't read, change or track anything.`,
  fixRejected: ({ status, key: variable }: Rejected) =>
    status === 403
      ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${code(variable)} and restart Lockkeeper.`
      : mrkdwn`Set a valid ${code(variable)} and restart Lockkeeper. Requests in progress are kept and then continue.`,
}

export const readKey = {
  fits: (name: string | undefined) => mrkdwn`${named(name)} is accepted, for reads.`,
  problems: {
    'not-listed': mrkdwn`${ownReadKey} isn't in the list of keys, so lists and forms may fail.`,
    'not-read-only': mrkdwn`${ownReadKey} has full access.`,
    'of-another-user': mrkdwn`${ownReadKey} belongs to another user than ${ownKey}, so it may not read the same.`,
  } satisfies Record<ReadKeyProblem, Mrkdwn>,
  fix: mrkdwn`Create a read-only key with the user of ${ownKey}, set it as ${ownReadKey}, and restart Lockkeeper.`,
}

const purposes: Record<BudgetFigure['lane'], string> = {
  execute: 'for changes',
  person: 'for people',
  track: 'for tracking',
  background: 'in the background',
  change: 'single',
  bundle: 'of evacuations',
  retract: 'deletions of keys',
}

export const limits = {
  allowed: ({ read, write }: Record<CallKind, number>, hasReadKey: boolean) =>
    mrkdwn`The account allows ${read} reads${hasReadKey ? ' with each key' : ''} and ${write} changes a minute.`,
  used: (figures: BudgetFigure[]) => mrkdwn`Last minute: ${usedOf(figures, 'read', 'reads')}, ${usedOf(figures, 'write', 'changes')}.`,
}

/** `18 reads (16 for people, 2 before changes)` */
function usedOf(figures: BudgetFigure[], kind: CallKind, what: string): string {
  const used = figures.filter((each) => each.kind === kind && each.used > 0)
  const sum = used.reduce((total, each) => total + each.used, 0)
  return `${sum} ${what}${sum === 0 ? '' : ` (${used.map((each) => `${each.used} ${purposes[each.lane]}`).join(', ')})`}`
}

/** Returns a transport error's code in brackets. Returns nothing for a problem that is a sentence, because the message already says it. */
function codeIn(problem: string): string {
  return /^[A-Z_]+$/.test(problem) ? ` (${problem})` : ''
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`This key (no name)`
}

/** Joins parts as in a sentence: `a, b and c`. */
export function listOf(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

/** Says how long ago something was. `ms` is in milliseconds. */
export function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}

export const channels = {
  member: (ids: string[]) => mrkdwn`Lockkeeper is in ${listOf(ids.map(channelMention))}.`,
  absent: (ids: string[]) => mrkdwn`Lockkeeper isn't in ${listOf(ids.map(channelMention))}, so it can't post there.`,
  fixAbsent: mrkdwn`Run ${code('/invite @Lockkeeper')} there.`,
  archived: (ids: string[]) =>
    mrkdwn`${listOf(ids.map(channelMention))} ${ids.length === 1 ? 'is' : 'are'} archived, so Lockkeeper can't post there.`,
  fixArchived: mrkdwn`Unarchive it, or set another channel in the configuration.`,
  unknown: (ids: string[], why: string) => mrkdwn`Couldn't check whether Lockkeeper is in ${listOf(ids.map(channelMention))} (${why}).`,
}

export const notices = {
  member: (id: string) => mrkdwn`Notices to the people who run Lockkeeper can be posted in ${channelMention(id)}.`,
  absent: (id: string) => mrkdwn`Lockkeeper isn't in ${channelMention(id)}, so nobody gets notices about problems.`,
  fixAbsent: mrkdwn`Run ${code('/invite @Lockkeeper')} there, or correct ${code('OPS_CHANNEL')}.`,
  archived: (id: string) => mrkdwn`${channelMention(id)} is archived, so nobody gets notices about problems.`,
  fixArchived: mrkdwn`Unarchive it, or set another channel in ${code('OPS_CHANNEL')}.`,
  unknown: (id: string, why: string) => mrkdwn`Couldn't check whether Lockkeeper is in ${channelMention(id)} (${why}).`,
}

export const groups = {
  members: (group: { id: string; members: number }[]) =>
    mrkdwn`${listOf(group.map(({ id, members }) => mrkdwn`${userGroupMention(id)} has ${members === 1 ? 'one member' : `${members} members`}`))}.`,
  unreadable: (id: string, why: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) can't be read (${why}), so ${decides ? 'its members get no rights from it' : 'mentioning it may notify nobody'}.`,
  unknown: (id: string, why: string) => mrkdwn`Couldn't check whether ${userGroupMention(id)} (${code(id)}) can be read: ${why}.`,
  fixUnreadable: (why: string) => {
    if (why === 'missing_scope') return mrkdwn`Add the scope ${code('usergroups:read')}. See *Slack scopes* in this list.`
    if (why === 'plan_upgrade_required') return mrkdwn`This workspace's plan has no user groups. Name people in the configuration.`
    return mrkdwn`Check in Slack that the user group exists and is enabled. Check its id in the configuration.`
  },
  empty: (id: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) is empty or disabled, so ${decides ? 'it gives nobody rights' : 'mentioning it notifies nobody'}.`,
  fixEmpty: mrkdwn`Add members to it, enable it, or set others in the configuration.`,
}

export const redis = {
  keeps: mrkdwn`Persistence on, no eviction, supported version.`,
  faulty: mrkdwn`Not safe for storing requests.`,
  fixFaulty: (faults: string[]) => mrkdwn`${faults.join(' ')}`,
  refuses: ({ code: refusal, why }: WriteRefusal) =>
    mrkdwn`Refuses writes, because ${why} (${refusal}). Nothing can be requested, approved or tracked.`,
  lacksRight: ({ why }: MissingRight) => mrkdwn`${why}`,
  silent: mrkdwn`Not responding, so nothing can be requested, approved or tracked.`,
  fixSilent: mrkdwn`Check that Redis runs at ${code('REDIS_URL')} and that Lockkeeper's host can reach it.`,
}

/** The consequence of a wrong clock. */
const clockMatters: Record<string, string> = {
  Slack: 'at 5 min, Lockkeeper refuses requests from Slack',
  Redis: 'deadlines use the clock of Redis',
}

export const clock = {
  right: (others: string[]) => mrkdwn`Same time as ${others.join(' and ')}.`,
  wrong: (offs: { other: string; aheadMs: number }[]) =>
    mrkdwn`Lockkeeper's host is ${listOf(
      offs.map(
        ({ other, aheadMs }) =>
          mrkdwn`${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other} (${clockMatters[other] ?? ''})`,
      ),
    )}.`,
  fix: (others: string[]) =>
    others.includes('Slack')
      ? mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host.`
      : mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host and on the Redis host.`,
  unknown: (other: string, why: string) => mrkdwn`Couldn't compare with ${other}: ${why}.`,
  partly: (right: string[], notCompared: Mrkdwn[]) => joinMrkdwn([...(right.length > 0 ? [clock.right(right)] : []), ...notCompared], ' '),
}

export const workers = {
  atWork: (seen: number) => mrkdwn`${seen} running.`,
  unseen: (state: string) => mrkdwn`Unknown while Redis ${state}: they can't report that they run.`,
  fixUnseen: mrkdwn`Fix Redis first, then run this command again.`,
  none: mrkdwn`None running. Approved requests aren't carried out, nothing is tracked and nothing expires.`,
  fixNone: mrkdwn`Start a process with ${code('ROLE=worker')} or ${code('ROLE=all')}, and the same ${code('REDIS_URL')} and ${code('REDIS_PREFIX')}.`,
  stuck: (seen: number, lastTickMs: number) =>
    mrkdwn`${seen} running, but work that was due 5 min ago isn't done. ${
      Number.isFinite(lastTickMs) ? mrkdwn`The last tick was ${ago(lastTickMs)}.` : mrkdwn`There was no tick yet.`
    }`,
  fixStuck: mrkdwn`Restart the workers and check their log for the cause.`,
}

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
