import type { App } from '../app.ts'
import { machineRequester, type Origin } from '../domain/approval.ts'
import { approversOf, isSetting, isUserGroup } from '../domain/policy.ts'
import { withUnit } from '../domain/text.ts'
import { ruleWords } from '../messages/request-words.ts'
import { whoConfirms } from '../rights/confirmation.ts'
import { channelMention, code, joinMrkdwn, type Mrkdwn, mention, mrkdwn, someTexts, userGroupMention } from '../slack/text.ts'
import type { ChannelMembership, GroupReading, SlackReading } from '../slack/web-api.ts'
import { ago, type Found, isUnread, listOf, ok, plainWords, readFact, type Unread, unknown, wrong } from './check.ts'

/** Slack's answer when the Home tab of the person who ran the command was published. */
export type HomeReading = 'shown' | { refused: string } | Unread

/** The set-up has no bot and no person in Slack yet. */
export const notRunning: Unread = { is: 'unreadable', why: "Lockkeeper isn't running" }

export function judgeSlack(slack: SlackReading): Found {
  if (slack.is === 'unknown') return slackAway(slack.problem)
  if (slack.is === 'answers') {
    return ok(mrkdwn`Answered in ${withUnit(Math.round(slack.afterMs), 'ms')}.`)
  }
  return wrong(
    mrkdwn`Rejected the bot token (${slack.error}).`,
    mrkdwn`Reinstall the app, set ${code('SLACK_BOT_TOKEN')} to its Bot User OAuth Token (*OAuth & Permissions*), and restart Lockkeeper.`,
  )
}

/** One slow call, where others were answered, is not a Slack that is away. */
export function slackUnread(why: string, aheadMs: number | undefined | Unread): Found {
  return typeof aheadMs === 'number' ? unknown(mrkdwn`Slow: ${why} to one call. Others were answered.`) : slackAway(why)
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
export function judgeManifest(slack: SlackReading, home: HomeReading | Unread): Found {
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
export function judgeCommand({ used, configured }: { used: string; configured: string }): Found | undefined {
  if (used === configured) return undefined
  return unknown(
    mrkdwn`This is ${code(used)}. Notices, alerts and the Home tab name ${code(configured)}.`,
    mrkdwn`Unless the app has ${code(configured)} too, set ${code(`SLACK_COMMAND=${used}`)}.`,
  )
}

/** Clicks and option loads arrive at different addresses, so each is checked by the time at which one last arrived. */
export function judgeArrival(agoMs: number | undefined, of: 'click' | 'options', transport: 'HTTP' | 'Socket Mode' | Unread): Found {
  if (agoMs !== undefined) return ok(mrkdwn`Last worked ${ago(agoMs)}.`)
  const address =
    transport === 'Socket Mode' ? '' : ` Set *${of === 'click' ? 'Request URL' : 'Options Load URL'}* there to the address of the command.`
  const fix = (sign: string) => mrkdwn`If ${sign}, turn on *Interactivity & Shortcuts* at api.slack.com/apps.${address}`
  return of === 'click'
    ? unknown(mrkdwn`No click received yet. Press *Test the buttons* below.`, fix('nothing happens'))
    : unknown(mrkdwn`No picker used yet. Open *Test the pickers* below.`, fix('the list stays empty'))
}

interface ReadChannel {
  id: string
  membership: ChannelMembership
}

/** A person or user group that the configuration names, and the first rule that does. */
interface ReadNamed {
  id: string
  rule: string
  reading: GroupReading
}

/** `listed`: the entries of the policy for alerts, or its machines. */
export interface Port {
  isOn: boolean
  listed: { name: string; channelId: string }[]
}

/** The set-up and the start have no person in Slack. */
export const nobody: Origin = { userId: '', channelId: '', command: '' }

/** What follows if Lockkeeper is not in a channel. */
export const noPosts = "it can't post there"

export async function readChannel(id: string, membership: () => Promise<ChannelMembership>) {
  return { id, membership: await readFact(membership) }
}

export function readChannels(app: App, { channelId }: Origin) {
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
export function judgeChannels(channels: ReadChannel[], effect: string): Found[] {
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
export async function readGroups(app: App) {
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
function isMadeUp({ reading }: ReadNamed): boolean {
  return reading.is === 'unreadable' && ['user_not_found', 'no_such_subteam'].includes(reading.why)
}

export function judgeGroups(groups: ReadNamed[]): Found[] {
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

function madeUp({ id, rule }: ReadNamed): Found {
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
async function readUnreadable(app: App): Promise<ReadNamed[]> {
  const named = [...namedInPolicy(app)]
  const listed = await app.directory.names(named.map(([id]) => id).filter(isUserGroup))
  const read = named
    .filter(([id]) => !listed.has(id))
    .map(async ([id, rule]) => ({ id, rule, why: await app.slack.probe.whyUnreadable(id) }))
  return (await Promise.all(read)).flatMap(({ why, ...each }) => (why ? [{ ...each, reading: { is: 'unreadable', why } }] : []))
}

/** What is wrong with the ids of Slack in the configuration. `wrong`: those that Slack does not have. */
export async function checkIds(app: App): Promise<{ wrong: string[]; warnings: string[] }> {
  const [found, channels] = await Promise.all([readFact(() => readUnreadable(app)), readChannels(app, nobody)])
  const unreadable = isUnread(found) ? [] : found
  const unchecked = isUnread(found) ? [unknown(mrkdwn`Couldn't check the people of the policy: ${found.why}.`)] : []
  const others = [
    ...unchecked,
    ...judgeGroups(unreadable.filter((each) => !isMadeUp(each))),
    ...judgeChannels(channels, noPosts).filter(({ is }) => is !== 'ok'),
  ]
  return { wrong: judgeGroups(unreadable.filter(isMadeUp)).map(plainWords), warnings: others.map(plainWords) }
}

/** Whether alerts, or machines, lead to requests. No line if neither the port nor the policy has them. */
export function judgePort(of: 'alerts' | 'machines', { isOn, listed }: Port): Found | undefined {
  const nameOf = (name: string) => (of === 'machines' ? mention(machineRequester(name)) : mrkdwn`“${name}”`)
  const entries = listOf(listed.map(({ name, channelId }) => mrkdwn`${nameOf(name)} in ${channelMention(channelId)}`))
  if (isOn && listed.length > 0) return ok(mrkdwn`On. They can request ${of === 'alerts' ? 'evacuations' : 'changes'}: ${entries}.`)
  if (isOn) return wrong(mrkdwn`On, but the policy names none.`, mrkdwn`Add ${code(of)} to ${code('POLICY_FILE')}.`)
  if (listed.length === 0) return undefined
  const variables =
    of === 'alerts' ? mrkdwn`${code('ALERTS_PORT')} and ${code('ALERTS_TOKEN')}` : mrkdwn`${code('MACHINES_PORT')} and their tokens`
  return wrong(mrkdwn`Off, although the policy names some: ${entries}.`, mrkdwn`Set ${variables}.`)
}

/** What rules ask for besides a click, and whether enough people can give it. */
export async function readConfirmations(app: App) {
  const rules = await whoConfirms(app)
  const checks = rules.length === 0 ? [] : await Promise.all(Object.values(app.confirmations).map((each) => each.checks()))
  return { rules, checks: checks.flat() }
}

export function judgeConfirmations({ rules, checks }: Awaited<ReturnType<typeof readConfirmations>>): Found[] {
  const alike = Map.groupBy(rules, ({ able, unable }) => JSON.stringify([able.toSorted(), unable.toSorted()]))
  const ofRules = [...alike.values()].map((group) => {
    const { able = [], unable = [] } = group[0] ?? {}
    const needed = Math.max(...group.map((each) => each.needed))
    const without = unable.length === 0 ? mrkdwn`` : mrkdwn` Without one: ${someTexts(unable.map((id) => mention(id)))}.`
    const names = someTexts(group.map(({ rule }) => ruleWords(rule.name)))
    const words = mrkdwn`Approvers who have one: ${able.length}, under ${names}.${without}`
    if (able.length > needed) return ok(words)
    // A requester can't approve their own request.
    return wrong(mrkdwn`${words} Needed besides the requester: ${needed}.`, mrkdwn`Let more of them add one, as docs/passkeys.md says.`)
  })
  return [...checks.map(({ words, fix }) => (fix ? wrong(words, fix) : ok(words))), ...ofRules]
}
