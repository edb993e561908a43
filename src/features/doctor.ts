import packageFile from '../../package.json' with { type: 'json' }
import { type ApiKey, isOwnKey } from '../account/objects.ts'
import { requireUncut } from '../account/resource.ts'
import type { App } from '../app.ts'
import { machineRequester, type Origin } from '../domain/approval.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  type ConnectionProblem,
  connectionProblemOf,
  isFeatureMissing,
  isKeyRefused,
  StoreUnavailableError,
  writeRefusalOf,
} from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { approversOf, freezesOnAt, isSetting, isUserGroup } from '../domain/policy.ts'
import { formatDuration, withUnit } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import type { Feature, Setup } from '../kit/change-feature.ts'
import { freezesOfPolicy, frozenWords, unreadableFreeze } from '../messages/freezes.ts'
import { sameKey } from '../messages/operator-notices.ts'
import { ruleWords } from '../messages/words.ts'
import { clockAheadOfRedisMs, clockWrongMs, type RedisHealth, readRedisHealth } from '../redis/connections.ts'
import { freezeOnAt } from '../requests/freeze.ts'
import { workerSeenMs } from '../requests/watches.ts'
import { actions, button, context, message, notice, option, wholeSection } from '../slack/blocks.ts'
import { limitWords } from '../slack/errors.ts'
import type { Click } from '../slack/interactions.ts'
import { lastReceivedMs } from '../slack/listen.ts'
import { externalSelect } from '../slack/pickers.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn, nameWords, toPlainText, userGroupMention } from '../slack/text.ts'
import type { ChannelMembership, GroupReading, Message } from '../slack/web-api.ts'

interface Unread {
  is: 'unreadable'
  why: string
}

function isUnread<T>(fact: T | Unread): fact is Unread {
  return typeof fact === 'object' && fact !== null && 'is' in fact && fact.is === 'unreadable'
}

const factTimeoutMs = 1_500
/** Longer than any interval between two reads of a move in progress. */
const overdueMs = 5 * 60_000

interface Asked {
  app: App
  viewer: Origin
  setup: Setup
}

/** What is read, all at once. Each gives plain data, without secrets. */
const reads = {
  transport: async ({ app }: Asked): Promise<'HTTP' | 'Socket Mode'> => (app.config.slack.appToken === undefined ? 'HTTP' : 'Socket Mode'),
  command: async ({ app, viewer }: Asked) => ({ used: viewer.command, configured: app.config.slack.command }),
  slack: ({ app }: Asked) => app.slack.probe.reach(),
  /** Slack's answer when the Home tab of the person who ran the command was published. */
  home: ({ setup, viewer }: Asked) => setup.showHome(viewer),
  lastReceivedMs: ({ app }: Asked) => lastReceivedMs(app),
  channels: readChannels,
  /** Undefined if no channel gets the notices to the operators. */
  opsChannel: async ({ app: { opsChannel } }: Asked) => opsChannel && readChannel(opsChannel.id, opsChannel.check),
  groups: readGroups,
  /** Whether this process takes calls of machines, and those that the policy names. */
  machines: async ({ app: { config } }: Asked): Promise<{ isOn: boolean; machines: { name: string; channelId: string }[] }> => ({
    isOn: config.machines !== undefined,
    machines: config.policy.machines ?? [],
  }),
  /** Whether this process takes alerts, and the entries of the policy for them. */
  alerts: async ({ app: { config } }: Asked): Promise<{ isOn: boolean; routes: { name: string; channelId: string }[] }> => ({
    isOn: config.alerts !== undefined,
    routes: config.policy.alerts ?? [],
  }),
  redis: ({ app }: Asked) => readRedisHealth(app),
  freeze: async ({ app }: Asked) => {
    const [{ record, isUnreadable }, now] = await Promise.all([app.freezes.read(), app.store.now()])
    return { on: freezeOnAt({ record }, now), isUnreadable, ofPolicy: freezesOnAt(app.config.policy, now) }
  },
  account: readAccount,
  /** What the account allows one key in a minute, and what was used in the last one. */
  limits: async ({ app: { budget } }: Asked) => ({
    perMinute: budget.perMinute,
    used: await budget.figures(),
  }),
  idsUnseen: readIdsUnseen,
  aheadOfSlackMs: ({ app }: Asked) => app.slack.probe.clockAheadMs(AbortSignal.timeout(factTimeoutMs)),
  aheadOfRedisMs: ({ app }: Asked) => clockAheadOfRedisMs(app),
  workers: async ({ app: { store } }: Asked) => ({
    seen: await store.workersSeen(workerSeenMs),
    lastTickMs: await store.sinceLastTickMs(),
    overdue: await store.isBusy(-overdueMs),
  }),
}

export type FactName = keyof typeof reads
const factNames = Object.keys(reads) as FactName[]

type Fact<Name extends FactName> = Awaited<ReturnType<(typeof reads)[Name]>>

export type SetupFacts = { [Name in FactName]: Fact<Name> | Unread }

interface Found {
  is: 'ok' | 'wrong' | 'unknown'
  words: Mrkdwn
  fix?: Mrkdwn | undefined
}

const ok = (words: Mrkdwn): Found => ({ is: 'ok', words })
const wrong = (words: Mrkdwn, fix: Mrkdwn): Found => ({ is: 'wrong', words, fix })
const unknown = (words: Mrkdwn, fix?: Mrkdwn): Found => ({ is: 'unknown', words, fix })

/** `ifUnread`: the line of a fact that could not be read. Default: why not. Undefined: none, where another check says it. */
function check<Name extends FactName>(
  what: string,
  name: Name,
  judge: (fact: Fact<Name>, facts: SetupFacts) => Found | Found[] | undefined,
  ifUnread: (why: string) => Found | undefined = (why) => unknown(mrkdwn`Couldn't check: ${why}.`),
) {
  return {
    what,
    name,
    judge: (facts: SetupFacts) => {
      const fact: unknown = facts[name]
      return isUnread(fact) ? ifUnread(fact.why) : judge(fact as Fact<Name>, facts)
    },
  }
}

const noLine = () => undefined

/** What is checked, in the order of the report. A check without a finding has no line. */
const checks = [
  check('Slack', 'slack', judgeSlack, slackAway),
  check('App manifest', 'slack', judgeManifest),
  check('Command', 'command', judgeCommand),
  check('Buttons', 'lastReceivedMs', ({ click }, facts) => judgeArrival(click, 'click', facts)),
  check('Pickers', 'lastReceivedMs', ({ options }, facts) => judgeArrival(options, 'options', facts)),
  check('Channels', 'channels', (channels) => judgeChannels(channels, "it can't post there")),
  // Notices to the operators have a separate line, because nobody sees that they are missing.
  check('Notices', 'opsChannel', (channel) => channel && judgeChannels([channel], 'nobody gets notices about problems')),
  check('People', 'groups', judgeGroups),
  check('Alerts', 'alerts', judgeAlerts),
  check('Machines', 'machines', judgeMachines),
  check('Redis', 'redis', judgeRedis),
  check('Freeze', 'freeze', judgeFreeze),
  check('Account API', 'account', judgeAccount),
  check('API key', 'account', judgeKey, noLine),
  check('Limits', 'limits', judgeLimits),
  check('Policy', 'idsUnseen', judgePolicy, noLine),
  check('Clock', 'aheadOfSlackMs', (ms) => judgeClock(ms, 'Slack')),
  check('Clock', 'aheadOfRedisMs', (ms) => judgeClock(ms, 'Redis')),
  check('Workers', 'workers', judgeWorkers),
]

export function diagnose(facts: SetupFacts, names: readonly FactName[] = factNames) {
  const chosen = checks.filter(({ name }) => names.includes(name))
  return chosen.flatMap(({ what, judge }) => [judge(facts) ?? []].flat().map((found) => ({ what, ...found })))
}

async function gather(asked: Asked, names: readonly FactName[] = factNames): Promise<SetupFacts> {
  const read = (name: FactName) => readFact<unknown>(() => reads[name](asked))
  const facts = await Promise.all(factNames.map(async (name) => [name, names.includes(name) ? await read(name) : notRunning] as const))
  return Object.fromEntries(facts) as unknown as SetupFacts
}

/** The set-up has no bot and no person in Slack yet. */
const nobody: Origin = { userId: '', channelId: '', command: '' }
const notRunning: Unread = { is: 'unreadable', why: "Lockkeeper isn't running" }

/** Makes only these checks, for the set-up, which checks each answer with them. None of them may need a running bot, or the person who asks. */
export async function examine(app: App, names: readonly FactName[]) {
  const facts = await gather({ app, viewer: nobody, setup: { showHome: async () => notRunning } }, names)
  return { facts, results: diagnose(facts, names) }
}

/** Returns the fact, or why it is unavailable. Never throws. */
export async function readFact<T>(work: () => Promise<T>): Promise<T | Unread> {
  try {
    return await withinOr(factTimeoutMs, work(), { is: 'unreadable', why: `no answer within ${factTimeoutMs / 1_000} s` })
  } catch (error) {
    return { is: 'unreadable', why: whyNot(error) }
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

function judgeSlack(slack: Fact<'slack'>): Found {
  if (slack.is === 'unknown') return slackAway(slack.problem)
  if (slack.is === 'answers') {
    return ok(mrkdwn`Answered in ${withUnit(Math.round(slack.afterMs), 'ms')}.`)
  }
  return wrong(
    mrkdwn`Rejected the bot token (${slack.error}).`,
    mrkdwn`Reinstall the app, set ${code('SLACK_BOT_TOKEN')} to its Bot User OAuth Token (*OAuth & Permissions*), and restart Lockkeeper.`,
  )
}

function slackAway(why: string): Found {
  const fix = mrkdwn`Check that Lockkeeper's host can reach slack.com: DNS, firewall, proxy, and ${code('SLACK_API_URL')} if set.`
  return wrong(mrkdwn`Not responding (${why}).`, fix)
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

/** A missing scope, or a Home tab that is off, means that the app has an older manifest. */
function judgeManifest(slack: Fact<'slack'>, { home }: SetupFacts): Found {
  const granted = slack.is === 'answers' ? slack.scopes : undefined
  const missing = (wanted: string[]) => wanted.filter((scope) => granted && !granted.includes(scope))
  const signs = [
    ...missing(neededScopes).map((scope) => mrkdwn`${code(scope)} is missing: ${whatFails[scope] ?? ''}`),
    ...(typeof home === 'object' && 'refused' in home && home.refused === 'not_enabled' ? [mrkdwn`the Home tab is off`] : []),
  ]
  if (signs.length > 0)
    return wrong(
      mrkdwn`Older than this version of Lockkeeper: ${joinMrkdwn(signs, '; ')}.`,
      mrkdwn`Paste the current ${code('manifest.yml')}, with your own address, into *App Manifest* at api.slack.com/apps. Save it and reinstall the app.`,
    )
  if (!granted) return unknown(mrkdwn`Couldn't check: Slack doesn't show which scopes are granted.`)
  if (typeof home === 'object' && home !== notRunning) {
    const why = 'refused' in home ? home.refused : home.why
    return unknown(mrkdwn`All required scopes granted. Couldn't check the Home tab (${why}).`)
  }
  const declined = missing(optionalScopes).map(code)
  const without = mrkdwn` Without ${listOf(declined)}, a message that Slack didn't confirm may appear twice, marked as a possible duplicate.`
  return ok(
    mrkdwn`Has the scopes${home === notRunning ? '' : ' and the Home tab'} that this version needs.${declined.length > 0 ? without : ''}`,
  )
}

/** An app can have several commands, so another one than the configured one need not be a mistake. */
function judgeCommand({ used, configured }: Fact<'command'>): Found | undefined {
  if (used === configured) return undefined
  return unknown(
    mrkdwn`This is ${code(used)}. Notices, alerts and the Home tab name ${code(configured)}.`,
    mrkdwn`Unless the app has ${code(configured)} too, set ${code(`SLACK_COMMAND=${used}`)}.`,
  )
}

/** Clicks and option loads arrive at different addresses, so each is checked by the time at which one last arrived. */
function judgeArrival(agoMs: number | undefined, of: 'click' | 'options', { transport }: SetupFacts): Found {
  if (agoMs !== undefined) return ok(mrkdwn`Last worked ${ago(agoMs)}.`)
  const address =
    transport === 'Socket Mode' ? '' : ` Set *${of === 'click' ? 'Request URL' : 'Options Load URL'}* there to the address of the command.`
  const fix = (sign: string) => mrkdwn`If ${sign}, turn on *Interactivity & Shortcuts* at api.slack.com/apps.${address}`
  return of === 'click'
    ? unknown(mrkdwn`No click received yet. Press *Test the buttons* below.`, fix('nothing happens'))
    : unknown(mrkdwn`No picker used yet. Open *Test the pickers* below.`, fix('the list stays empty'))
}

async function readChannel(id: string, membership: () => Promise<ChannelMembership>) {
  return { id, membership: await readFact(membership) }
}

function readChannels({ app, viewer: { channelId } }: Asked) {
  const { policy } = app.config
  // The app cannot be invited to a direct message.
  const here = /^[CG]/.test(channelId) ? [channelId] : []
  const ofPolicy = [
    ...policy.rules.flatMap((rule) => rule.channels ?? []),
    ...[...(policy.alerts ?? []), ...(policy.machines ?? [])].map(({ channelId }) => channelId),
  ]
  const ids = new Set([...here, ...ofPolicy])
  return Promise.all([...ids].map((id) => readChannel(id, () => app.slack.probe.membership(id))))
}

/** Puts channels with the same result into one line, because a policy may name many. `effect`: what follows if Lockkeeper cannot post there. */
function judgeChannels(channels: Fact<'channels'>, effect: string): Found[] {
  const alike = Map.groupBy(channels, ({ membership }) => JSON.stringify(membership))
  return [...alike.values()].flatMap((all) => {
    const names = listOf(all.map(({ id }) => channelMention(id)))
    return all.slice(0, 1).map(({ membership }) => judgeMembership(membership, names, effect))
  })
}

function judgeMembership(membership: ChannelMembership, names: Mrkdwn, effect: string): Found {
  if (membership.is === 'member') return ok(mrkdwn`Lockkeeper is in ${names}.`)
  if (membership.is === 'unreadable') return unknown(mrkdwn`Couldn't check whether Lockkeeper is in ${names} (${membership.why}).`)
  return membership.is === 'absent'
    ? wrong(mrkdwn`Lockkeeper isn't in ${names}, so ${effect}.`, mrkdwn`Run ${code('/invite @Lockkeeper')} there.`)
    : wrong(mrkdwn`Archived: ${names}, so ${effect}.`, mrkdwn`Unarchive it, or set another channel in the configuration.`)
}

/** The rule of the variables is named after the approvers. */
const operators = 'OPERATORS'

/** Finds the first rule that names each person and user group. */
function namedInPolicy({ config }: App): Map<string, string> {
  const named = config.policy.rules.flatMap(({ name, request, approve, mention }) => {
    const groups = [approve && approversOf(approve), mention, request].map((group) => [
      ...(group?.users ?? []),
      ...(group?.userGroups ?? []),
    ])
    return groups.flatMap((ids, index) => ids.map((id): [string, string] => [id, index === 2 && isSetting(name) ? operators : name]))
  })
  return new Map(named.toReversed())
}

/** Reads all user groups of the policy, and finds its people whom Slack does not show. */
async function readGroups({ app }: Asked) {
  const read = [...namedInPolicy(app)].map(async ([id, rule]) => ({ id, rule, reading: await readFact(() => readNamed(app, id)) }))
  return (await Promise.all(read)).filter(({ id, reading }) => isUserGroup(id) || reading.is === 'unreadable')
}

async function readNamed({ directory, slack }: App, id: string): Promise<GroupReading> {
  const found = isUserGroup(id) ? (await directory.members([id])).get(id) : new Set([id])
  const isKnown = isUserGroup(id) ? found !== 'unknown' : (await directory.person(id)).standing !== 'unknown'
  if (found instanceof Set && isKnown) return { is: 'read', members: found.size }
  return { is: 'unreadable', why: (await slack.probe.whyUnreadable(id)) ?? 'the last read failed' }
}

/** Slack has nobody with this id: https://docs.slack.dev/reference/methods/users.info and usergroups.users.list. */
function isMadeUp({ reading }: Fact<'groups'>[number]): boolean {
  return reading.is === 'unreadable' && ['user_not_found', 'no_such_subteam'].includes(reading.why)
}

function judgeGroups(groups: Fact<'groups'>): Found[] {
  return groups.map((named) => {
    const { id, rule, reading } = named
    if (isMadeUp(named)) return madeUp(named)
    const shown = isUserGroup(id) ? userGroupMention(id) : mention(id)
    if (reading.is === 'read' && reading.members > 0) return ok(mrkdwn`Members of ${shown}: ${reading.members}.`)
    const what = reading.is === 'read' ? 'is empty or disabled' : `can't be read (${reading.why})`
    if (!isUserGroup(id)) return unknown(mrkdwn`${shown} (${code(id)}) of the ${ruleWords(rule)} ${what}.`)
    return wrong(
      mrkdwn`${shown} (${code(id)}) ${what}, so nobody gets rights or mentions by it.`,
      mrkdwn`Check in Slack that the user group exists, is enabled and has members. Or set others in the configuration.`,
    )
  })
}

function madeUp({ id, rule }: Fact<'groups'>[number]): Found {
  const where = rule === operators ? mrkdwn`setting ${code(rule)}` : ruleWords(rule)
  const [what, page] = isUserGroup(id)
    ? ['user group', "the group's page, three dots, *Copy group ID*"]
    : ['person', "the person's profile, three dots, *Copy member ID*"]
  return wrong(
    mrkdwn`The ${where} names ${code(id)}, and Slack has no ${what} with this id.`,
    mrkdwn`Copy the id from Slack (${page}) and restart.`,
  )
}

/** Asks Slack once for all user groups, and then for each that it does not list. Nothing is kept for decisions. */
async function readUnreadable(app: App): Promise<Fact<'groups'>> {
  const named = [...namedInPolicy(app)]
  const listed = await app.directory.names(named.map(([id]) => id).filter(isUserGroup))
  const read = named
    .filter(([id]) => !listed.has(id))
    .map(async ([id, rule]) => ({ id, rule, why: await app.slack.probe.whyUnreadable(id) }))
  return (await Promise.all(read)).flatMap(({ why, ...each }) => (why ? [{ ...each, reading: { is: 'unreadable', why } }] : []))
}

/** What is wrong with the ids of Slack in the configuration. `wrong`: those that Slack does not have. */
async function checkIds(app: App): Promise<{ wrong: string[]; warnings: string[] }> {
  const [found, { results }] = await Promise.all([readFact(() => readUnreadable(app)), examine(app, ['channels'])])
  const unreadable = isUnread(found) ? [] : found
  const unchecked = isUnread(found) ? [unknown(mrkdwn`Couldn't check the people of the policy: ${found.why}.`)] : []
  const textOf = ({ words, fix }: Found) => toPlainText(joinMrkdwn([words, ...(fix ? [fix] : [])], ' '))
  const others = [...unchecked, ...judgeGroups(unreadable.filter((each) => !isMadeUp(each))), ...results.filter(({ is }) => is !== 'ok')]
  return { wrong: judgeGroups(unreadable.filter(isMadeUp)).map(textOf), warnings: others.map(textOf) }
}

/** Whether alerts lead to requests. No line if alerts are not set up. Another check finds whether Lockkeeper is in their channels. */
function judgeAlerts({ isOn, routes }: Fact<'alerts'>): Found | undefined {
  const entries = listOf(routes.map(({ name, channelId }) => mrkdwn`“${name}” in ${channelMention(channelId)}`))
  if (isOn && routes.length > 0) return ok(mrkdwn`On. They can request evacuations: ${entries}.`)
  if (isOn) return wrong(mrkdwn`On, but no entry of the policy is for them.`, mrkdwn`Add ${code('alerts')} to ${code('POLICY_FILE')}.`)
  if (routes.length === 0) return undefined
  return wrong(mrkdwn`Off, although the policy has entries: ${entries}.`, mrkdwn`Set ${code('ALERTS_PORT')} and ${code('ALERTS_TOKEN')}.`)
}

/** The same for machines. */
function judgeMachines({ isOn, machines }: Fact<'machines'>): Found | undefined {
  const entries = listOf(machines.map(({ name, channelId }) => mrkdwn`${mention(machineRequester(name))} in ${channelMention(channelId)}`))
  if (isOn && machines.length > 0) return ok(mrkdwn`On. They can request changes: ${entries}.`)
  if (isOn) return wrong(mrkdwn`On, but the policy names none.`, mrkdwn`Add ${code('machines')} to ${code('POLICY_FILE')}.`)
  if (machines.length === 0) return undefined
  return wrong(mrkdwn`Off, although the policy names some: ${entries}.`, mrkdwn`Set ${code('MACHINES_PORT')} and their tokens.`)
}

function judgeRedis(redis: RedisHealth): Found {
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

function judgeFreeze({ on, isUnreadable, ofPolicy }: Fact<'freeze'>): Found {
  const fix = mrkdwn`Find out what happened to Redis, then use the unfreeze command.`
  if (isUnreadable) return wrong(unreadableFreeze, sameKey)
  const policy = freezesOfPolicy(ofPolicy)
  if (!on) return ok(policy ?? mrkdwn`None is on.`)
  const words = mrkdwn`No change starts. Frozen ${frozenWords(on)}.${policy ? mrkdwn` ${policy}` : ''}`
  return on.because ? wrong(words, fix) : ok(words)
}

const url = code('INFRA_API_URL')
const ownKey = code('INFRA_API_KEY')

const connectionProblems: Record<ConnectionProblem, [words: string, fix: Mrkdwn]> = {
  name: ['hostname not found', mrkdwn`Check the hostname in ${url} and the DNS server.`],
  refused: ['connection refused', mrkdwn`Check the port in ${url} and the firewalls on the way.`],
  certificate: [
    'TLS certificate not trusted',
    mrkdwn`Check the hostname in ${url} and the clock of Lockkeeper's host. For your own certificate authority, set ${code('NODE_EXTRA_CA_CERTS')}.`,
  ],
  late: ['timed out', mrkdwn`Check that firewalls and proxies let Lockkeeper's host reach ${url}, and whether the account API is slow.`],
  broken: ['connection lost', mrkdwn`Check the proxies, firewalls and load balancers between Lockkeeper's host and ${url}.`],
}

/** What other calls have just seen counts if the limit leaves no read for this one. */
const seenMs = 60_000

interface AccountFact {
  keys: ApiKey[]
  own: Pick<App, 'ownLastSlice'>
  error?: ApiError | ApiContractError | ApiUnreachableError
  seen?: { status: NonNullable<App['accountSeen']['last']>['status']; agoMs: number } | undefined
}

async function readAccount({ app: { account, accountSeen, ownLastSlice } }: Asked): Promise<AccountFact> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    return { keys: requireUncut(await account.apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })), own: { ownLastSlice } }
  } catch (error) {
    const isAnswer = error instanceof ApiError || error instanceof ApiContractError || error instanceof AccountLimitError
    const agoMs = performance.now() - (accountSeen.last?.at ?? Number.NEGATIVE_INFINITY)
    const seen = accountSeen.last && agoMs < seenMs ? { status: accountSeen.last.status, agoMs } : undefined
    if (isAnswer || error instanceof ApiUnreachableError) return { keys: [], own: { ownLastSlice }, error, seen }
    throw error
  }
}

const checkAddress = mrkdwn`Check that ${url} is the base address in the account API's documentation.`
const waitAMinute = mrkdwn`Wait a minute and run this command again. If the error stays, check the status page of the account API.`

function judgeAccount({ error, seen }: Fact<'account'>): Found {
  if (error instanceof AccountLimitError && seen) {
    const ago = `${formatDuration(Math.max(1_000, seen.agoMs))} ago`
    if (seen.status === 'unreachable')
      return wrong(mrkdwn`Not reachable: the last call got no answer, ${ago}.`, connectionProblems.broken[1])
    if (seen.status === 'contract') return wrong(mrkdwn`The last answer was unreadable, ${ago}.`, checkAddress)
    if (seen.status === 401 || seen.status >= 500) return wrong(mrkdwn`The last call got an error (${seen.status}), ${ago}.`, waitAMinute)
  }
  if (error instanceof AccountLimitError) {
    const again = formatDuration(Math.max(1_000, error.waitMs))
    return unknown(mrkdwn`Not checked, because of the limit. ${limitWords(error).why} Run this command again in ${again}.`)
  }
  if (error instanceof ApiUnreachableError) {
    const [words, fix] = connectionProblems[connectionProblemOf(error.problem)]
    // A problem that is no code is a sentence, which `words` say already.
    return wrong(mrkdwn`Not reachable: ${words}${/^[A-Z_]+$/.test(error.problem) ? ` (${error.problem})` : ''}.`, fix)
  }
  if (error instanceof ApiContractError) return wrong(mrkdwn`${url} doesn't answer like the account API.`, checkAddress)
  // A missing right to list keys is already in the line about the key.
  if (!error || isKeyRefused(error) || isFeatureMissing(error)) return ok(mrkdwn`Reachable.`)
  return wrong(
    mrkdwn`Returned an error (${error.status}) for the list of API keys.`,
    error.status >= 500 || error.status === 429 ? waitAMinute : checkAddress,
  )
}

/** No line if the list of keys was not read for a reason that the line of the account API has. */
function judgeKey({ keys, own, error }: Fact<'account'>): Found | undefined {
  if (error instanceof ApiError && isKeyRefused(error))
    return wrong(
      mrkdwn`Rejected (${error.status}). Lockkeeper can't read, change or track anything.`,
      error.status === 403
        ? mrkdwn`Check that the key allows the IP address of Lockkeeper's host, and that its owner is a member of the team. Or set another ${ownKey} and restart Lockkeeper.`
        : mrkdwn`Set a valid ${ownKey} and restart Lockkeeper. Requests in progress are kept and then continue.`,
    )
  if (error && !isFeatureMissing(error)) return undefined
  const key = keys.find((each) => isOwnKey(each, own))
  if (key?.readOnly === undefined) return unknown(mrkdwn`Accepted. The account API doesn't show whether it can make changes.`)
  if (!key.readOnly) return ok(mrkdwn`${nameWords(key.name ?? key.id)} is accepted and can make changes.`)
  return wrong(
    mrkdwn`${nameWords(key.name ?? key.id)} is read-only, so Lockkeeper can't make changes.`,
    mrkdwn`Create a key with full access, set it as ${ownKey}, and restart Lockkeeper.`,
  )
}

function judgeLimits({ perMinute: { read, write }, used }: Fact<'limits'>): Found {
  const sum = (kind: 'read' | 'write') => used.filter((each) => each.kind === kind).reduce((total, each) => total + each.used, 0)
  const allowed = mrkdwn`The account allows ${read} reads and ${write} changes a minute.`
  return ok(mrkdwn`${allowed} Last minute: ${sum('read')} reads, ${sum('write')} changes.`)
}

interface Shown {
  id: string
  hostname?: string | undefined
  project?: { id: string }
}

/** Returns the ids of projects and the targets of alerts that nothing shows. Reads the next list only if an id is left. */
async function readIdsUnseen({ app: { config, lists } }: Asked): Promise<string[]> {
  const { rules, freezes = [], alerts = [] } = config.policy
  const targets = alerts.flatMap(({ to }) => (typeof to === 'string' ? [to] : [...to.values()]))
  let unseen = [...new Set([...[...rules, ...freezes].flatMap(({ projects }) => projects?.ids ?? []), ...targets])]
  for (const list of [lists.elasticIps, lists.servers, lists.virtualMachines]) {
    if (unseen.length === 0) break
    const { items, cut }: List<Shown> = await list()
    if (cut !== undefined) return []
    const seen = new Set(items.flatMap(({ id, hostname, project }) => [id, hostname?.toLowerCase(), project?.id]))
    unseen = unseen.filter((id) => !seen.has(id) && !seen.has(id.toLowerCase()))
  }
  return unseen
}

function judgePolicy(idsUnseen: string[]): Found | undefined {
  if (idsUnseen.length === 0) return undefined
  return unknown(
    mrkdwn`No server, Elastic IP or virtual machine shows ${listOf(idsUnseen.map((id) => code(id)))}.`,
    mrkdwn`Check the spelling in ${code('POLICY_FILE')}. A rule or freeze for a project that doesn't exist never applies.`,
  )
}

const clockMatters = {
  Slack: 'at 5 min, Lockkeeper refuses requests from Slack',
  Redis: 'deadlines use the clock of Redis',
} as const

function judgeClock(aheadMs: number | undefined, other: keyof typeof clockMatters): Found {
  if (aheadMs === undefined) return unknown(mrkdwn`Couldn't compare with ${other}: no time in its answer.`)
  if (Math.abs(aheadMs) < clockWrongMs) return ok(mrkdwn`Same time as ${other}.`)
  const difference = `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`
  return wrong(
    mrkdwn`Lockkeeper's host is ${difference} (${clockMatters[other]}).`,
    mrkdwn`Enable clock synchronization (NTP) on Lockkeeper's host${other === 'Redis' ? ' and on the Redis host' : ''}.`,
  )
}

function judgeWorkers({ seen, lastTickMs, overdue }: Fact<'workers'>, { redis }: SetupFacts): Found {
  if (redis.is === 'refuses-writes' || redis.is === 'lacks-right')
    return unknown(mrkdwn`Unknown while Redis refuses what they report.`, mrkdwn`Fix Redis first, then run this command again.`)
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

function listOf(parts: Mrkdwn[]): Mrkdwn {
  return parts.length < 2 ? joinMrkdwn(parts, '') : mrkdwn`${joinMrkdwn(parts.slice(0, -1), ', ')} and ${joinMrkdwn(parts.slice(-1), '')}`
}

function ago(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`
}

/** Describes this process in one line: `0.1.0  ·  web and worker  ·  HTTP  ·  production  ·  rules from POLICY_FILE: 1`. */
function describeBot({ config: { role, environment, slack, policyFile, policy } }: App): string {
  const parts = [
    packageFile.version,
    role === 'all' ? 'web and worker' : role,
    slack.appToken === undefined ? 'HTTP' : 'Socket Mode',
    environment,
    `rules from ${policyFile ? 'POLICY_FILE' : 'environment variables'}: ${policy.rules.length}`,
  ]
  return parts.filter(Boolean).join('  ·  ')
}

const tests = { button: 'doctor-button', picker: 'doctor-picker' } as const

/** In the order of the report. */
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

/** Lists what is wrong first. Below the list are a button and a picker, which prove that clicks and option loads arrive. */
export function report(bot: string, results: ReturnType<typeof diagnose>): Message {
  const failed = results.filter(({ is }) => is === 'wrong').length
  const unsure = results.filter(({ is }) => is === 'unknown').length
  const outcome = failed > 0 ? `${failed} of ${results.length} checks failed` : unsure > 0 ? 'No check failed' : 'All checks passed'
  const lines = Object.entries(signs).flatMap(([is, sign]) =>
    results
      .filter((each) => each.is === is)
      .map(({ what, words, fix }) => {
        const toDo = fix ? mrkdwn` ${is === 'wrong' ? mrkdwn`*Fix:* ` : ''}${fix}` : ''
        return mrkdwn`${sign} *${what}:* ${words}${toDo}`
      }),
  )
  const title = mrkdwn`*${outcome}*${unsure === 0 ? '' : `, ${unsure} unknown`}`
  const content = [...wholeSection(title), ...context([mrkdwn`Lockkeeper ${bot}`]), ...lines.flatMap(wholeSection)]
  const picker = externalSelect({ actionId: tests.picker, placeholder: 'Test the pickers' })
  return message([
    ...content,
    ...actions([button({ text: 'Test the buttons', actionId: tests.button, value: 'test' })]),
    { type: 'actions', elements: [picker] },
  ])
}

export const checkSetup = { create }

function create(app: App, setup: Setup): Feature {
  const says = (words: Mrkdwn) => async (click: Click) => void (await click.answer.ephemeral(notice(words)))
  return {
    checkStart: () => checkIds(app),
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
          await answer.ephemeral(report(describeBot(app), diagnose(await gather({ app, viewer: origin, setup }))))
        },
      },
    ],
    clicks: {
      [tests.button]: says(mrkdwn`:white_check_mark: Buttons work.`),
      [tests.picker]: says(mrkdwn`:white_check_mark: Pickers work.`),
    },
    options: { [tests.picker]: async () => ({ options: [option({ text: 'Sent by Lockkeeper. Choose this.', value: 'works' })] }) },
  }
}
