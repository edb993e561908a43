import { randomUUID } from 'node:crypto'
import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import packageFile from '../../package.json' with { type: 'json' }
import type { AccountBudget, BudgetFigure } from '../account/budget.ts'
import { asFarAsRead } from '../account/resource.ts'
import type { App } from '../app.ts'
import { isBgp, type KeyVariable, ownVariableOf, type ReadKeyProblem, readKeyProblem } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  type ConnectionProblem,
  connectionProblemOf,
  isFeatureMissing,
  isKeyRefused,
  refusesWrites,
  StoreUnavailableError,
  writeRefusalOf,
} from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { approversOf, type PolicyRule } from '../domain/policy.ts'
import { formatDuration, withUnit } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { atMostEvery, type Check, shareRuns } from '../ops/health.ts'
import { type RedisHealth, readRedisHealth } from '../redis/check.ts'
import { guardStore } from '../redis/connect.ts'
import { claim } from '../redis/scripts.ts'
import { actions, button, context, limitBlocks, message, notice, option, wholeSection } from '../slack/blocks.ts'
import { limitWords } from '../slack/errors.ts'
import type { Click, TableMessage } from '../slack/interactions.ts'
import { externalSelect } from '../slack/pickers.ts'
import { dataTable } from '../slack/table.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mostCharacters, mrkdwn, userGroupMention } from '../slack/text.ts'
import type { ChannelMembership, GroupReading, SlackReading } from '../slack/web-api.ts'
import type { Feature, FeatureDefinition, Setup } from './feature.ts'

/** A fact that could not be read, and why. */
interface Unavailable {
  unavailable: string
}

/** The set-up as plain data, without secrets. */
export interface SetupFacts {
  usesSockets: boolean
  /** The slash command that the person used, and the one that SLACK_COMMAND names. */
  command: { used: string; configured: string }
  slack: SlackReading | Unavailable
  /** Slack's answer when the Home tab of the person who ran the command was published. */
  home: 'shown' | { refused: string } | Unavailable
  lastReceivedMs: { click: number | undefined; options: number | undefined } | Unavailable
  channels: { id: string; membership: ChannelMembership | Unavailable }[]
  /** The channel that gets the notices to the operators. Undefined if none is set. */
  opsChannel: { id: string; membership: ChannelMembership | Unavailable } | undefined
  /** `decides`: its members may request or approve. Otherwise request messages only mention it. */
  groups: { id: string; decides: boolean; reading: GroupReading | Unavailable }[]
  /** Whether this process takes alerts, and the entries of the policy for them. */
  alerts: { isOn: boolean; routes: { name: string; channelId: string }[] }
  redis: RedisHealth | Unavailable
  account: AccountReading | Unavailable
  /** What the account allows one key in a minute, and what was used in the last one. */
  limits: { perMinute: AccountBudget['perMinute']; hasReadKey: boolean; used: BudgetFigure[] | Unavailable }
  /** The ids of projects and the servers in the policy that nothing on the account shows. */
  idsUnseen: string[] | Unavailable
  elasticIps: { all: number; bgp: number } | Unavailable
  /** How far this machine's clock is ahead, in milliseconds. */
  clock: { ofSlackMs: number | undefined | Unavailable; ofRedisMs: number | Unavailable }
  workers: { seen: number; lastTickMs: number; overdue: boolean } | Unavailable
}

type AccountReading =
  /** `own`: Lockkeeper's own key as the list of keys has it. `readKey`: the read-only key, if there is one. */
  | { is: 'answers'; own: OwnKeyReading; readKey?: { problem: ReadKeyProblem | undefined; name: string | undefined } }
  /** 401 or 403. */
  | { is: 'rejects'; status: number; key: KeyVariable }
  /** The account allows no more reads for now. */
  | { is: 'limited'; why: string; waitMs: number }
  /** The key is accepted, but the team lacks the feature that listing keys needs. */
  | { is: 'lacks-feature' }
  | { is: 'fails'; status: number }
  /** `problem`: the code of a transport error, or what ended the wait. */
  | { is: 'unreachable'; problem: string }

/** `not-set`: this process only reads, with the read-only key. */
type OwnKeyReading = { is: 'not-set' } | { is: 'not-listed' } | { is: 'listed'; name: string | undefined; readOnly: boolean | undefined }

function isUnavailable<T>(fact: T | Unavailable): fact is Unavailable {
  return typeof fact === 'object' && fact !== null && 'unavailable' in fact
}

/** The time limit of each read. One read that hangs neither hides the others nor delays the report. */
const factTimeoutMs = 1_500
/** Workers report themselves every 5 s, so a worker that is missing for this long is gone. */
const workerSeenMs = 15_000
/** Longer than any interval between two reads of a move in progress. */
const overdueMs = 5 * 60_000
/** A clock that is off by this much is reported. Slack's signatures fail at five minutes. */
const clockWrongMs = 30_000

/** Reads all facts in parallel. Never throws: a fact that cannot be read is `unavailable`. */
async function gather(app: App, viewer: Origin, { showHome, lastReceived }: Setup): Promise<SetupFacts> {
  const { config, store, budget, slack } = app
  const [
    fromSlack,
    home,
    lastReceivedMs,
    channels,
    membership,
    groups,
    redis,
    account,
    used,
    idsUnseen,
    elasticIps,
    ofSlackMs,
    ofRedisMs,
    workers,
  ] = await Promise.all([
    readFact(slack.probe.reach),
    readFact(() => showHome(viewer)),
    readFact(lastReceived.read),
    readChannels(app, viewer),
    app.opsChannel && readFact(app.opsChannel.check),
    readGroups(app),
    readFact(() => readRedisHealth(app)),
    readFact(() => readAccount(app)),
    readFact(budget.figures),
    readFact(() => idsUnseenOf(app)),
    readFact(() => countElasticIps(app)),
    readFact(() => slack.probe.clockAheadMs(AbortSignal.timeout(factTimeoutMs))),
    readFact(async () => Date.now() - (await store.now())),
    readFact(async () => ({
      seen: await store.workersSeen(workerSeenMs),
      lastTickMs: await store.sinceLastTickMs(),
      overdue: await store.isBusy(-overdueMs),
    })),
  ])
  return {
    usesSockets: config.slack.appToken !== undefined,
    command: { used: viewer.command, configured: config.slack.command },
    slack: fromSlack,
    home,
    lastReceivedMs,
    channels,
    opsChannel: app.opsChannel && membership && { id: app.opsChannel.id, membership },
    groups,
    alerts: {
      isOn: config.alerts !== undefined,
      routes: (config.policy.alerts ?? []).map(({ name, channelId }) => ({ name, channelId })),
    },
    redis,
    account,
    limits: { perMinute: budget.perMinute, hasReadKey: budget.hasReadKey, used },
    idsUnseen,
    elasticIps,
    clock: { ofSlackMs, ofRedisMs },
    workers,
  }
}

/** Returns the fact, or why it is unavailable. Never throws. */
export async function readFact<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await withinOr(factTimeoutMs, work(), { unavailable: `no answer within ${factTimeoutMs / 1_000} s` })
  } catch (error) {
    return { unavailable: whyNot(error) }
  }
}

/** Uses Lockkeeper's own words, because the messages of errors may name hosts or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) {
    if (error.code === undefined) return "Redis isn't responding"
    return writeRefusalOf(error.code) ? `Redis refuses writes (${error.code})` : `Redis refused the command (${error.code})`
  }
  if (error instanceof ApiError) return `the account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return 'the account API returned an unreadable answer'
  return 'no answer'
}

function readChannels({ config: { policy }, slack }: App, { channelId }: Origin): Promise<SetupFacts['channels']> {
  // The app cannot be invited to a direct message.
  const here = /^[CG]/.test(channelId) ? [channelId] : []
  const ofPolicy = [...policy.rules.flatMap((rule) => rule.channels ?? []), ...(policy.alerts ?? []).map((route) => route.channelId)]
  const ids = new Set([...here, ...ofPolicy])
  return Promise.all([...ids].map(async (id) => ({ id, membership: await readFact(() => slack.probe.membership(id)) })))
}

function readGroups(app: App): Promise<SetupFacts['groups']> {
  const { rules } = app.config.policy
  const deciding = new Set(rules.flatMap(decidingGroups))
  const ids = new Set([...deciding, ...rules.flatMap((rule) => rule.mention?.userGroups ?? [])])
  return Promise.all([...ids].map(async (id) => ({ id, decides: deciding.has(id), reading: await readFact(() => readGroup(app, id)) })))
}

function decidingGroups({ request, approve }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : [])]
}

async function readGroup({ directory, slack }: App, id: string): Promise<GroupReading> {
  const found = (await directory.members([id])).get(id)
  if (found !== undefined && found !== 'unknown') return { is: 'read', members: found.size }
  return { is: 'unreadable', why: (await slack.probe.whyUnreadable(id)) ?? 'the last read failed' }
}

async function readAccount({ account, ownLastSlices: own }: App): Promise<AccountReading> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    const keys = await account.apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })
    const holding = (variable: KeyVariable) => keys.find((each) => ownVariableOf(each, own) === variable)
    const key = holding('INFRA_API_KEY')
    return {
      is: 'answers',
      own: key
        ? { is: 'listed', name: key.name, readOnly: key.readOnly }
        : { is: own.INFRA_API_KEY === undefined ? 'not-set' : 'not-listed' },
      readKey: own.INFRA_READ_KEY === undefined ? undefined : { problem: readKeyProblem(keys, own), name: holding('INFRA_READ_KEY')?.name },
    }
  } catch (error) {
    if (error instanceof AccountLimitError) return { is: 'limited', why: limitWords(error).why, waitMs: error.waitMs }
    if (error instanceof ApiUnreachableError) return { is: 'unreachable', problem: error.problem }
    if (isFeatureMissing(error)) return { is: 'lacks-feature' }
    if (!(error instanceof ApiError)) throw error
    return isKeyRefused(error) ? { is: 'rejects', status: error.status, key: error.key } : { is: 'fails', status: error.status }
  }
}

/** What servers, Elastic IPs and virtual machines have in common. */
interface Shown {
  id: string
  hostname?: string | undefined
  project?: { id: string }
}

/** Returns the ids of projects and the targets of alerts that nothing shows. Reads the next list only if an id is left. */
async function idsUnseenOf({ config: { policy }, lists }: App): Promise<string[]> {
  const targets = (policy.alerts ?? []).flatMap(({ to }) => (typeof to === 'string' ? [to] : [...to.values()]))
  let unseen = [...new Set([...policy.rules.flatMap((rule) => rule.projects?.ids ?? []), ...targets])]
  for (const list of [lists.elasticIps, lists.servers, lists.virtualMachines]) {
    if (unseen.length === 0) break
    const { items, cut } = await asFarAsRead<Shown>(list())
    if (cut !== undefined) return []
    const seen = new Set(items.flatMap(({ id, hostname, project }) => [id, hostname?.toLowerCase(), project?.id]))
    unseen = unseen.filter((id) => !seen.has(id) && !seen.has(id.toLowerCase()))
  }
  return unseen
}

async function countElasticIps({ lists }: App): Promise<{ all: number; bgp: number }> {
  const { items } = await asFarAsRead(lists.elasticIps())
  return { all: items.length, bgp: items.filter(isBgp).length }
}

/** What a check found. `fix` says what to do. */
interface Found {
  is: 'ok' | 'wrong' | 'unknown'
  words: Mrkdwn
  fix?: Mrkdwn | undefined
}

/** One line of the report: what a check found, after what it checked. */
interface Line extends Found {
  what: string
}

const ok = (words: Mrkdwn): Found => ({ is: 'ok', words })
const wrong = (words: Mrkdwn, fix: Mrkdwn): Found => ({ is: 'wrong', words, fix })
const unknown = (words: Mrkdwn, fix?: Mrkdwn): Found => ({ is: 'unknown', words, fix })
const unchecked = ({ unavailable }: Unavailable): Found => unknown(mrkdwn`Couldn't check: ${unavailable}.`)

/** What is checked, in the order of the report, and what the facts mean. A check without a finding has no line. */
const checks: [what: string, judge: (facts: SetupFacts) => Found | Found[] | undefined][] = [
  ['Slack', judgeSlack],
  ['Slack scopes', judgeScopes],
  ['App manifest', judgeManifest],
  ['Command', judgeCommand],
  ['Buttons', (facts) => judgeArrival(facts, 'click')],
  ['Pickers', (facts) => judgeArrival(facts, 'options')],
  ['Channels', judgeChannels],
  ['Notices', judgeNotices],
  ['User groups', judgeGroups],
  ['Alerts', judgeAlerts],
  ['Redis', judgeRedis],
  ['Account API', judgeAccount],
  ['API key', judgeKey],
  ['Read-only key', judgeReadKey],
  ['Limits', judgeLimits],
  ['Policy', judgePolicy],
  ['Elastic IPs', judgeElasticIps],
  ['Clock', judgeClock],
  ['Workers', judgeWorkers],
]

/** Judges the facts of a set-up. */
export function diagnose(facts: SetupFacts): Line[] {
  return checks.flatMap(([what, judge]) => [judge(facts) ?? []].flat().map((found) => ({ what, ...found })))
}

function judgeSlack({ slack }: SetupFacts): Found {
  if (!isUnavailable(slack) && slack.is === 'answers') {
    const { afterMs } = slack
    return ok(mrkdwn`Answered in ${afterMs < 1_000 ? withUnit(Math.round(afterMs), 'ms') : withUnit((afterMs / 1_000).toFixed(1), 's')}.`)
  }
  if (!isUnavailable(slack) && slack.is === 'rejects')
    return wrong(
      mrkdwn`Rejected the bot token (${slack.error}).`,
      mrkdwn`Reinstall the app, set ${code('SLACK_BOT_TOKEN')} to its Bot User OAuth Token (*OAuth & Permissions*), and restart Lockkeeper.`,
    )
  return wrong(
    mrkdwn`Not responding (${isUnavailable(slack) ? slack.unavailable : slack.problem}).`,
    mrkdwn`Check that Lockkeeper's host can reach slack.com: DNS, firewall, proxy, and ${code('SLACK_API_URL')} if set.`,
  )
}

/** The scopes in the manifest that Lockkeeper cannot work without, with what fails. A test compares them with manifest.yml. */
const whatFails: Record<string, string> = {
  commands: "commands don't work",
  'chat:write': 'nothing can be posted',
  'users:read': "guests can't be recognized, so everybody is denied",
  'usergroups:read': "user groups can't be read, so their members are denied",
  'channels:read': "public channels shared with another organization aren't recognized",
  'groups:read': "private channels shared with another organization aren't recognized",
}
export const neededScopes = Object.keys(whatFails)
export const optionalScopes = ['channels:history', 'groups:history']

const scopesUnknown = unknown(mrkdwn`Couldn't check: Slack doesn't show which are granted.`)
const pasteManifest = mrkdwn`Paste the current ${code('manifest.yml')}, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app.`

/** Undefined if Slack does not say which are granted. */
function missingScopes({ slack }: SetupFacts, wanted: string[]): string[] | undefined {
  const granted = !isUnavailable(slack) && slack.is === 'answers' ? slack.scopes : undefined
  return granted && wanted.filter((scope) => !granted.includes(scope))
}

function judgeScopes(facts: SetupFacts): Found {
  const missing = missingScopes(facts, neededScopes)
  if (!missing) return scopesUnknown
  const lacks = missing.map((scope) => mrkdwn`${code(scope)} is missing: ${whatFails[scope] ?? ''}`)
  if (lacks.length > 0) return wrong(mrkdwn`${joinMrkdwn(lacks, '; ')}.`, pasteManifest)
  const declined = missingScopes(facts, optionalScopes) ?? []
  if (declined.length === 0) return ok(mrkdwn`All granted.`)
  return ok(
    mrkdwn`All required scopes granted. Without ${listOf(declined.map(code))}, a message that Slack didn't confirm may appear twice, marked as a possible duplicate.`,
  )
}

function judgeManifest(facts: SetupFacts): Found {
  const { home } = facts
  const missing = missingScopes(facts, neededScopes)
  const signs = [
    ...(missing && missing.length > 0 ? [mrkdwn`scopes are missing`] : []),
    ...(typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled' ? [mrkdwn`the Home tab is off`] : []),
  ]
  if (signs.length > 0) return wrong(mrkdwn`Older than this version of Lockkeeper: ${joinMrkdwn(signs, ' and ')}.`, pasteManifest)
  if (isUnavailable(home)) return unchecked(home)
  if (home !== 'shown') return unknown(mrkdwn`Couldn't check: Slack refused to show your Home tab (${home.refused}).`)
  return missing ? ok(mrkdwn`Has the scopes and the Home tab that this version needs.`) : scopesUnknown
}

/** An app can have several commands, so another one than the configured one need not be a mistake. */
function judgeCommand({ command: { used, configured } }: SetupFacts): Found | undefined {
  if (used === configured) return undefined
  return unknown(
    mrkdwn`This is ${code(used)}. Notices, alerts and the Home tab name ${code(configured)}.`,
    mrkdwn`Unless the app has ${code(configured)} too, set ${code(`SLACK_COMMAND=${used}`)}.`,
  )
}

/** Clicks and option loads arrive at different addresses, so each is checked by the time at which one last arrived. */
function judgeArrival({ lastReceivedMs, usesSockets }: SetupFacts, of: 'click' | 'options'): Found {
  if (isUnavailable(lastReceivedMs)) return unchecked(lastReceivedMs)
  const agoMs = lastReceivedMs[of]
  if (agoMs !== undefined) return ok(mrkdwn`Last worked ${ago(agoMs)}.`)
  if (of === 'click')
    return unknown(
      mrkdwn`No click received yet. Press *Test the buttons* below.`,
      mrkdwn`If nothing happens, turn on *Interactivity & Shortcuts* at api.slack.com/apps. ${usesSockets ? 'Socket Mode needs no address.' : mrkdwn`Set its *Request URL* to the address of the command.`}`,
    )
  return unknown(
    mrkdwn`No picker used yet. Open *Test the pickers* below.`,
    usesSockets
      ? mrkdwn`If the list stays empty, turn on *Interactivity & Shortcuts* at api.slack.com/apps.`
      : mrkdwn`If the list stays empty, open *Interactivity & Shortcuts* at api.slack.com/apps. Set *Options Load URL* to the address of the command.`,
  )
}

/** Puts channels with the same result into one line, because a policy may name many. */
function judgeChannels({ channels }: SetupFacts): Found[] {
  const alike = Map.groupBy(channels, ({ membership }) => JSON.stringify(membership))
  return [...alike.values()].flatMap((all) => {
    const names = listOf(all.map(({ id }) => channelMention(id)))
    const archived = mrkdwn`${names} ${all.length === 1 ? 'is' : 'are'} archived, so Lockkeeper can't post there.`
    return all.slice(0, 1).map(({ membership }) =>
      judgeMembership(membership, names, {
        member: mrkdwn`Lockkeeper is in ${names}.`,
        absent: [mrkdwn`Lockkeeper isn't in ${names}, so it can't post there.`, mrkdwn`Run ${code('/invite @Lockkeeper')} there.`],
        archived: [archived, mrkdwn`Unarchive it, or set another channel in the configuration.`],
      }),
    )
  })
}

/** Notices to the operators have a separate line, because nobody sees that they are missing. */
function judgeNotices({ opsChannel }: SetupFacts): Found | undefined {
  if (!opsChannel) return undefined
  const channel = channelMention(opsChannel.id)
  const variable = code('OPS_CHANNEL')
  return judgeMembership(opsChannel.membership, channel, {
    member: mrkdwn`Notices to the people who run Lockkeeper can be posted in ${channel}.`,
    absent: [
      mrkdwn`Lockkeeper isn't in ${channel}, so nobody gets notices about problems.`,
      mrkdwn`Run ${code('/invite @Lockkeeper')} there, or correct ${variable}.`,
    ],
    archived: [
      mrkdwn`${channel} is archived, so nobody gets notices about problems.`,
      mrkdwn`Unarchive it, or set another channel in ${variable}.`,
    ],
  })
}

function judgeMembership(
  membership: ChannelMembership | Unavailable,
  channels: Mrkdwn,
  words: { member: Mrkdwn; absent: [Mrkdwn, Mrkdwn]; archived: [Mrkdwn, Mrkdwn] },
): Found {
  if (!isUnavailable(membership) && membership.is !== 'unreadable')
    return membership.is === 'member' ? ok(words.member) : wrong(...words[membership.is])
  const why = isUnavailable(membership) ? membership.unavailable : membership.why
  return unknown(mrkdwn`Couldn't check whether Lockkeeper is in ${channels} (${why}).`)
}

function judgeGroups({ groups }: SetupFacts): Found[] {
  const filled: Mrkdwn[] = []
  const others: Found[] = []
  for (const { id, decides, reading } of groups) {
    const group = mrkdwn`${userGroupMention(id)} (${code(id)})`
    if (isUnavailable(reading)) {
      others.push(unknown(mrkdwn`Couldn't check whether ${group} can be read: ${reading.unavailable}.`))
    } else if (reading.is === 'unreadable') {
      const effect = decides ? 'its members get no rights from it' : 'mentioning it may notify nobody'
      others.push(wrong(mrkdwn`${group} can't be read (${reading.why}), so ${effect}.`, fixOfGroup(reading.why)))
    } else if (reading.members === 0) {
      const effect = decides ? 'it gives nobody rights' : 'mentioning it notifies nobody'
      const fix = mrkdwn`Add members to it, enable it, or set others in the configuration.`
      others.push(wrong(mrkdwn`${group} is empty or disabled, so ${effect}.`, fix))
    } else {
      filled.push(mrkdwn`${userGroupMention(id)} has ${reading.members === 1 ? 'one member' : `${reading.members} members`}`)
    }
  }
  return [...(filled.length > 0 ? [ok(mrkdwn`${listOf(filled)}.`)] : []), ...others]
}

function fixOfGroup(why: string): Mrkdwn {
  if (why === 'missing_scope') return mrkdwn`Add the scope ${code('usergroups:read')}. See *Slack scopes* in this list.`
  if (why === 'plan_upgrade_required') return mrkdwn`This workspace's plan has no user groups. Name people in the configuration.`
  return mrkdwn`Check in Slack that the user group exists and is enabled. Check its id in the configuration.`
}

/** Whether alerts lead to requests. No line if alerts are not set up. Another check finds whether Lockkeeper is in their channels. */
function judgeAlerts({ alerts: { isOn, routes } }: SetupFacts): Found | undefined {
  const entries = listOf(routes.map(({ name, channelId }) => mrkdwn`“${name}” in ${channelMention(channelId)}`))
  if (isOn && routes.length > 0) return ok(mrkdwn`On. They can request evacuations: ${entries}.`)
  if (isOn) return wrong(mrkdwn`On, but no entry of the policy is for them.`, mrkdwn`Add ${code('alerts')} to ${code('POLICY_FILE')}.`)
  if (routes.length === 0) return undefined
  return wrong(mrkdwn`Off, although the policy has entries: ${entries}.`, mrkdwn`Set ${code('ALERTS_PORT')} and ${code('ALERTS_TOKEN')}.`)
}

function judgeRedis({ redis }: SetupFacts): Found {
  if (isUnavailable(redis)) return unchecked(redis)
  switch (redis.is) {
    case 'silent':
      return wrong(
        mrkdwn`Not responding, so nothing can be requested, approved or tracked.`,
        mrkdwn`Check that Redis runs at ${code('REDIS_URL')} and that Lockkeeper's host can reach it.`,
      )
    case 'lacks-right':
      return wrong(mrkdwn`${redis.right.why}`, mrkdwn`${redis.right.fix}`)
    case 'refuses-writes':
      return wrong(
        mrkdwn`Refuses writes, because ${redis.refusal.why} (${redis.refusal.code}). Nothing can be requested, approved or tracked.`,
        mrkdwn`${[redis.refusal.fix, ...redis.faults.map(({ words }) => words)].join(' ')}`,
      )
    case 'unsafe':
      return wrong(mrkdwn`Not safe for storing requests.`, mrkdwn`${redis.faults.map(({ words }) => words).join(' ')}`)
    case 'safe':
      return ok(mrkdwn`Persistence on, no eviction, supported version.`)
  }
}

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')
const ownReadKey = code('INFRA_READ_KEY')

const connectionProblems: Record<ConnectionProblem, { words: string; fix: Mrkdwn }> = {
  name: { words: 'hostname not found', fix: mrkdwn`Check the hostname in ${url} and the DNS server.` },
  refused: { words: 'connection refused', fix: mrkdwn`Check the port in ${url} and the firewalls on the way.` },
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

function judgeAccount({ account }: SetupFacts): Found {
  if (isUnavailable(account)) return unchecked(account)
  if (account.is === 'unreachable') {
    const { words, fix } = connectionProblems[connectionProblemOf(account.problem)]
    // A problem that is no code is a sentence, which `words` say already.
    const inBrackets = /^[A-Z_]+$/.test(account.problem) ? ` (${account.problem})` : ''
    return wrong(mrkdwn`Not reachable: ${words}${inBrackets}.`, fix)
  }
  if (account.is === 'limited') {
    const again = formatDuration(Math.max(1_000, account.waitMs))
    return unknown(mrkdwn`Not checked, because of the limit. ${account.why} Run this command again in ${again}.`)
  }
  if (account.is !== 'fails') return ok(mrkdwn`Reachable.`)
  const isPassing = account.status >= 500 || account.status === 429
  return wrong(
    mrkdwn`Returned an error (${account.status}) for the list of API keys.`,
    isPassing
      ? mrkdwn`Wait a minute and run this command again. If the error stays, check the status page of the account API.`
      : mrkdwn`Check that ${url} is the base address in the account API's documentation.`,
  )
}

function judgeKey({ account }: SetupFacts): Found | undefined {
  if (isUnavailable(account)) return undefined
  switch (account.is) {
    case 'unreachable':
      return unknown(mrkdwn`Not checked, because the account API isn't reachable.`)
    case 'fails':
      return unknown(mrkdwn`Not checked, because the account API didn't list the keys.`)
    case 'limited':
      return unknown(mrkdwn`Not checked, because of the account's limit.`)
    case 'rejects':
      return wrong(
        mrkdwn`Rejected (${account.status}). Lockkeeper can't read, change or track anything.`,
        account.status === 403
          ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${code(account.key)} and restart Lockkeeper.`
          : mrkdwn`Set a valid ${code(account.key)} and restart Lockkeeper. Requests in progress are kept and then continue.`,
      )
    case 'lacks-feature':
      return unknown(
        mrkdwn`Accepted. Couldn't check whether it can make changes: the team lacks a feature that the list of keys needs.`,
        mrkdwn`Ask the provider's support to enable it.`,
      )
    case 'answers':
      return judgeOwnKey(account.own)
  }
}

function judgeOwnKey(own: OwnKeyReading): Found {
  if (own.is === 'not-set') return ok(mrkdwn`Not set. This process reads with ${ownReadKey}, and workers make the changes.`)
  if (own.is === 'not-listed') return unknown(mrkdwn`Accepted. Couldn't check whether it can make changes: it isn't in the list of keys.`)
  const name = named(own.name)
  if (own.readOnly === undefined) return unknown(mrkdwn`${name} is accepted. The account API doesn't show whether it can make changes.`)
  if (!own.readOnly) return ok(mrkdwn`${name} is accepted and can make changes.`)
  return wrong(
    mrkdwn`${name} is read-only, so Lockkeeper can't make changes.`,
    mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  )
}

const readKeyProblems: Record<ReadKeyProblem, Mrkdwn> = {
  'not-listed': mrkdwn`${ownReadKey} isn't in the list of keys, so lists and forms may fail.`,
  'not-read-only': mrkdwn`${ownReadKey} has full access.`,
  'of-another-user': mrkdwn`${ownReadKey} belongs to another user than ${ownKey}, so it may not read the same.`,
}

function judgeReadKey({ account }: SetupFacts): Found | undefined {
  const readKey = !isUnavailable(account) && account.is === 'answers' ? account.readKey : undefined
  if (!readKey) return undefined
  if (!readKey.problem) return ok(mrkdwn`${named(readKey.name)} is accepted, for reads.`)
  const fix = mrkdwn`Create a read-only key with the user of ${ownKey}, set it as ${ownReadKey}, and restart Lockkeeper.`
  return wrong(readKeyProblems[readKey.problem], fix)
}

function named(name: string | undefined): Mrkdwn {
  return name ? code(name) : mrkdwn`This key (no name)`
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

/** Says what the account allows, and what was used in the last minute. */
function judgeLimits({ limits: { perMinute, hasReadKey, used } }: SetupFacts): Found {
  const { read, write } = perMinute
  const allowed = mrkdwn`The account allows ${read} reads${hasReadKey ? ' with each key' : ''} and ${write} changes a minute.`
  if (isUnavailable(used)) return unknown(mrkdwn`${allowed} Couldn't check: ${used.unavailable}.`)
  return ok(mrkdwn`${allowed} Last minute: ${usedOf(used, 'read', 'reads')}, ${usedOf(used, 'write', 'changes')}.`)
}

/** `18 reads (16 for people, 2 for changes)` */
function usedOf(figures: BudgetFigure[], kind: BudgetFigure['kind'], what: string): string {
  const used = figures.filter((each) => each.kind === kind && each.used > 0)
  const sum = used.reduce((total, each) => total + each.used, 0)
  return `${sum} ${what}${sum === 0 ? '' : ` (${used.map((each) => `${each.used} ${purposes[each.lane]}`).join(', ')})`}`
}

/** Warns of ids in the policy that may be mistyped. Left out if a list cannot be read: the check of the account API says why. */
function judgePolicy({ idsUnseen }: SetupFacts): Found | undefined {
  if (isUnavailable(idsUnseen) || idsUnseen.length === 0) return undefined
  return unknown(
    mrkdwn`No server, Elastic IP or virtual machine shows ${listOf(idsUnseen.map((id) => code(id)))}.`,
    mrkdwn`Check the spelling in ${code('POLICY_FILE')}. A rule for a project that doesn't exist never applies.`,
  )
}

/** Counts BGP addresses. Left out where there are none, or where the list cannot be read: the check of the account API says why. */
function judgeElasticIps({ elasticIps }: SetupFacts): Found | undefined {
  if (isUnavailable(elasticIps) || elasticIps.bgp === 0) return undefined
  const { all, bgp } = elasticIps
  return ok(
    bgp === 1
      ? mrkdwn`1 of ${all} is a BGP address. Lockkeeper doesn't move it.`
      : mrkdwn`${bgp} of ${all} are BGP addresses. Lockkeeper doesn't move them.`,
  )
}

/** The consequence of a wrong clock. */
const clockMatters = {
  Slack: 'at 5 min, Lockkeeper refuses requests from Slack',
  Redis: 'deadlines use the clock of Redis',
} as const

function judgeClock({ clock: { ofSlackMs, ofRedisMs } }: SetupFacts): Found {
  const off: Mrkdwn[] = []
  const same: string[] = []
  const notCompared: Mrkdwn[] = []
  for (const [other, aheadMs] of [
    ['Slack', ofSlackMs],
    ['Redis', ofRedisMs],
  ] as const) {
    if (typeof aheadMs !== 'number')
      notCompared.push(mrkdwn`Couldn't compare with ${other}: ${aheadMs ? aheadMs.unavailable : 'no time in its answer'}.`)
    else if (Math.abs(aheadMs) < clockWrongMs) same.push(other)
    else off.push(mrkdwn`${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other} (${clockMatters[other]})`)
  }
  if (off.length > 0) {
    const hosts = typeof ofSlackMs === 'number' && Math.abs(ofSlackMs) >= clockWrongMs ? '' : ' and on the Redis host'
    return wrong(mrkdwn`Lockkeeper's host is ${listOf(off)}.`, mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host${hosts}.`)
  }
  const words = [...(same.length > 0 ? [mrkdwn`Same time as ${same.join(' and ')}.`] : []), ...notCompared]
  return notCompared.length > 0 ? unknown(joinMrkdwn(words, ' ')) : ok(joinMrkdwn(words, ' '))
}

function judgeWorkers({ workers, redis }: SetupFacts): Found {
  if (!isUnavailable(redis) && (redis.is === 'refuses-writes' || redis.is === 'lacks-right')) {
    const state = redis.is === 'refuses-writes' ? 'refuses writes' : "refuses Lockkeeper's user"
    return unknown(
      mrkdwn`Unknown while Redis ${state}: they can't report that they run.`,
      mrkdwn`Fix Redis first, then run this command again.`,
    )
  }
  if (isUnavailable(workers)) return unchecked(workers)
  const { seen, lastTickMs, overdue } = workers
  if (seen === 0)
    return wrong(
      mrkdwn`None running. Approved requests aren't carried out, nothing is tracked and nothing expires.`,
      mrkdwn`Start a process with ${code('ROLE=worker')} or ${code('ROLE=all')}, and the same ${code('REDIS_URL')} and ${code('REDIS_PREFIX')}.`,
    )
  if (!overdue) return ok(mrkdwn`${seen} running.`)
  const lastTick = Number.isFinite(lastTickMs) ? mrkdwn`The last tick was ${ago(lastTickMs)}.` : mrkdwn`There was no tick yet.`
  return wrong(
    mrkdwn`${seen} running, but work that was due 5 min ago isn't done. ${lastTick}`,
    mrkdwn`Restart the workers and check their log for the cause.`,
  )
}

/** Joins parts as in a sentence: `a, b and c`. */
function listOf(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}

/** Describes this process in one line: `0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  one rule from POLICY_FILE`. */
function describeBot({ config }: App): string {
  const { role, environment, slack, policyFile } = config
  const rules = config.policy.rules.length
  const parts = [
    packageFile.version,
    role === 'all' ? 'web and worker' : role,
    slack.appToken === undefined ? 'HTTP' : 'Socket Mode',
    ...(environment ? [environment] : []),
    `${rules === 1 ? 'one rule' : `${rules} rules`} from ${policyFile ? 'POLICY_FILE' : 'environment variables'}`,
  ]
  return parts.join('  ·  ')
}

const testIds = {
  button: 'doctor-button',
  picker: 'doctor-picker',
  tableSeen: 'doctor-table-seen',
  tableUnseen: 'doctor-table-unseen',
} as const

const tests = {
  button: 'Test the buttons',
  picker: 'Test the pickers',
  choice: 'Sent by Lockkeeper. Choose this.',
  buttonWorks: mrkdwn`:white_check_mark: Buttons work.`,
  table: { caption: 'A table', headers: ['Test', 'Result'], rows: [['Tables', 'Slack shows this table']] },
  tableQuestion: mrkdwn`*Can you see this table?* Lists such as ${code('ip list')} are tables.`,
  tableSeen: 'Yes, I see it',
  tableUnseen: 'No',
  tableWorks: mrkdwn`:white_check_mark: Tables work.`,
  tableFails: mrkdwn`:x: Your Slack app can't show tables. Update it. Until then, use Slack in a browser to read lists.`,
  tableRefused: mrkdwn`:grey_question: *Tables:* Slack refused a table, so lists are shown as text. Slack rolls tables out in phases. Run this command again later.`,
  pickerWorks: mrkdwn`:white_check_mark: Pickers work.`,
}

/** `2 of 12 checks failed, 1 unknown` */
function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
  const passed = unsure === 0 ? 'All checks passed' : 'No check failed'
  const outcome = wrong === 0 ? passed : `${wrong} of ${all} checks failed`
  return mrkdwn`*${outcome}*${unsure === 0 ? '' : `, ${unsure} unknown`}`
}

const order = { wrong: 0, unknown: 1, ok: 2 } as const
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

// Five blocks of the message are reserved for the tests that people can run.
const limits = { most: 45, characters: mostCharacters - 400 } as const

/**
 * Lists what is wrong first. Below the list are a table, which the person may see or not, and a button and a picker, which prove that clicks
 * and option loads arrive.
 */
export function report(bot: string, results: Line[]): TableMessage {
  const wrong = results.filter((result) => result.is === 'wrong').length
  const unsure = results.filter((result) => result.is === 'unknown').length
  const title = heading({ wrong, unsure, all: results.length })
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = results.toSorted((a, b) => order[a.is] - order[b.is]).map(line)
  const content = limitBlocks([...wholeSection(title), ...context([about]), ...lines.flatMap(wholeSection)], limits)
  const reportWith = (blocks: KnownBlock[]) => message([...content, ...blocks, ...testElements()])
  const { tableRefused } = tests
  return { table: reportWith(tableTest()), instead: reportWith(wholeSection(tableRefused)) }
}

function tableTest(): KnownBlock[] {
  const table = dataTable(tests.table.caption, tests.table)
  const answers = [
    button({ text: tests.tableSeen, actionId: testIds.tableSeen, value: 'test' }),
    button({ text: tests.tableUnseen, actionId: testIds.tableUnseen, value: 'test' }),
  ]
  return [...(table ? [table] : []), ...wholeSection(tests.tableQuestion), ...actions(answers)]
}

function line({ is, what, words, fix }: Line): Mrkdwn {
  const toDo = fix ? mrkdwn` ${is === 'wrong' ? mrkdwn`*Fix:* ` : ''}${fix}` : ''
  return mrkdwn`${signs[is]} *${what}:* ${words}${toDo}`
}

function testElements(): KnownBlock[] {
  const picker: KnownBlock = {
    type: 'actions',
    elements: [externalSelect({ actionId: testIds.picker, placeholder: tests.picker })],
  }
  return [...actions([button({ text: tests.button, actionId: testIds.button, value: 'test' })]), picker]
}

/** Slack is asked at most this often, however often `/status` is read. */
const slackEveryMs = 30_000
/** How long what one process found of the account holds for all. */
const findingMs = 60_000
/** Longer than a reading takes. If its process dies, another one reads. */
const readingMs = 5_000

/**
 * The checks of `/status`: the same readings, each as a sentence for operators, without details of a failed call, which can be secret.
 * `checkWorker` throws an Error with a sentence if requests are due and no worker handles them.
 */
export function statusChecks(app: App, checkWorker: () => Promise<void>) {
  const { connections, slack, config } = app
  const health = shareRuns(() => readRedisHealth(app))
  const readFinding = sharedFinding(app)

  async function redis(): Promise<void> {
    const found = await health()
    if (found.is === 'silent') throw new Error(`Redis isn't responding${connections.problem() ? ` (${connections.problem()})` : ''}`)
    if (found.is === 'lacks-right') throw new Error('Redis refuses the command (NOPERM)')
    if (found.is === 'refuses-writes') throw new Error(refusesWrites(found.refusal))
  }

  async function redisSettings(): Promise<void> {
    const found = await health()
    if (unknownWhile(found)) throw new Error(unknownWhile(found))
    if (found.is === 'unsafe' && !config.redis.allowVolatile) throw new Error(found.faults.map(({ words }) => words).join(' '))
  }

  async function worker(): Promise<void> {
    const why = unknownWhile(await health())
    if (why) throw new Error(why)
    await checkWorker()
  }

  return {
    redis,
    redisSettings,
    slack: atMostEvery(slackEveryMs, async () => void (await slack.identity.fetch())),
    accountApi: async () => {
      const why = unknownWhile(await health())
      const { problem, note } = why ? { problem: why } : await readFinding()
      if (problem) throw new Error(problem)
      return note
    },
    worker,
  } satisfies Record<string, Check>
}

/** What is read from Redis, such as the state of the workers, is unknown while it does not answer, or refuses. */
function unknownWhile(health: RedisHealth): string | undefined {
  if (health.is === 'silent') return "Unknown while Redis isn't responding"
  if (health.is === 'lacks-right') return 'Unknown while Redis refuses the command (NOPERM)'
  return health.is === 'refuses-writes' ? 'Unknown while Redis refuses writes' : undefined
}

const StoredFinding = z.object({ problem: z.string().optional(), note: z.string().optional() })
type StoredFinding = z.infer<typeof StoredFinding>

/** One process asks the account in a minute, and tells the others what it found, because each time spends a read. */
function sharedFinding(app: App): () => Promise<StoredFinding> {
  const { redis, keys, config } = app
  const names = keys.accountProbe(config.infra.key ? 'key' : 'read-key')
  let last: StoredFinding = {}

  return async function readFinding(): Promise<StoredFinding> {
    const stored = await guardStore(() => redis.get(names.finding))
    if (stored !== null) last = StoredFinding.parse(JSON.parse(stored))
    else if ((await claim(redis, names.claim, { token: randomUUID(), lastsMs: readingMs })) === undefined) {
      const { againMs, ...found } = await findProblem(app, last)
      last = found
      await guardStore(() => redis.set(names.finding, JSON.stringify(found), 'PX', Math.max(1_000, Math.min(againMs, findingMs))))
    }
    return last
  }
}

/** `againMs`: when to ask again. A limit is no outage: if nothing was asked, what was found before still holds. */
async function findProblem({ account }: App, before: StoredFinding): Promise<StoredFinding & { againMs: number }> {
  try {
    await inLane('background', () => account.apiKeys.list({ signal: AbortSignal.timeout(1_900) }))
    return { againMs: findingMs }
  } catch (error) {
    if (!(error instanceof AccountLimitError)) return { problem: accountProblem(error), againMs: findingMs }
    const { answered, perMinute, waitMs: againMs } = error
    if (!answered && before.problem !== undefined) return { ...before, againMs }
    const at = new Date(Date.now() + againMs).toISOString()
    return { note: `Not checked, because of the account's limit of ${perMinute} reads a minute. A read is free at ${at}`, againMs }
  }
}

function accountProblem(error: unknown): string {
  if (error instanceof ApiError && isKeyRefused(error)) return `The account API rejects ${error.key} (${error.status})`
  if (error instanceof ApiError) return `The account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return `The account API returned something unreadable (${error.status})`
  return "The account API isn't responding"
}

/** `/infra doctor`: checks the app, Redis, the account API and the workers, and says how to fix what is wrong. */
export const checkSetup = { create } satisfies FeatureDefinition

function create({ app, setup }: { app: App; setup: Setup }): Feature {
  const says = (words: Mrkdwn) => async (click: Click) => void (await click.answer.ephemeral(notice(words)))
  return {
    commands: [
      {
        words: 'doctor',
        usage: '',
        group: 'View',
        summary: 'Check the setup: Slack, Redis, the account API, the workers',
        details: mrkdwn`Failed checks come first, with a fix. Then come checks without a result, and checks that passed.`,
        examples: [],
        need: 'read',
        run: async ({ slashCommand: { origin, answer } }) => {
          await answer.ephemeral(report(describeBot(app), diagnose(await gather(app, origin, setup))))
        },
      },
    ],
    clicks: {
      [testIds.button]: says(tests.buttonWorks),
      [testIds.picker]: says(tests.pickerWorks),
      [testIds.tableSeen]: says(tests.tableWorks),
      [testIds.tableUnseen]: says(tests.tableFails),
    },
    options: { [testIds.picker]: async () => ({ options: [option({ text: tests.choice, value: 'works' })] }) },
  }
}
