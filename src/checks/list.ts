import type { App } from '../app.ts'
import { lastReceivedMs } from '../bolt/listen.ts'
import type { Origin } from '../domain/approval.ts'
import { workerSeenMs } from '../life/self-checks.ts'
import { clockAheadOfRedisMs, readRedisHealth } from '../redis/connections.ts'
import { mrkdwn } from '../slack/text.ts'
import * as account from './account.ts'
import { type Found, factTimeoutMs, isUnread, readFact, type Unread, unknown } from './check.ts'
import * as redis from './redis.ts'
import * as slack from './slack.ts'

/** Longer than any interval between two reads of a move in progress. */
const overdueMs = 5 * 60_000

interface Asked {
  app: App
  viewer: Origin
  showHome: (viewer: Origin) => Promise<slack.HomeReading>
}

/** What is read, all at once. Each gives plain data, without secrets. */
const reads = {
  transport: async ({ app }: Asked): Promise<'HTTP' | 'Socket Mode'> => (app.config.slack.appToken === undefined ? 'HTTP' : 'Socket Mode'),
  command: async ({ app, viewer }: Asked) => ({ used: viewer.command, configured: app.config.slack.command }),
  slack: ({ app }: Asked) => app.slack.probe.reach(),
  home: ({ showHome, viewer }: Asked) => showHome(viewer),
  lastReceivedMs: ({ app }: Asked) => lastReceivedMs(app),
  channels: ({ app, viewer }: Asked) => slack.readChannels(app, viewer),
  /** Undefined if no channel gets the notices to the operators. */
  opsChannel: async ({ app: { opsChannel } }: Asked) => opsChannel && slack.readChannel(opsChannel.id, opsChannel.check),
  groups: ({ app }: Asked) => slack.readGroups(app),
  machines: async ({ app }: Asked) => portOf(app, 'machines', Boolean(app.config.machines)),
  alerts: async ({ app }: Asked) => portOf(app, 'alerts', Boolean(app.config.alerts && app.catalog.changeOfAlerts())),
  confirmations: ({ app }: Asked) => slack.readConfirmations(app),
  redis: ({ app }: Asked) => readRedisHealth(app),
  stateKey: ({ app }: Asked) => redis.readStateKey(app),
  freeze: ({ app }: Asked) => redis.readFreeze(app),
  account: ({ app }: Asked) => account.readAccount(app),
  limits: ({ app }: Asked) => account.readLimits(app),
  idsUnseen: ({ app }: Asked) => account.readIdsUnseen(app),
  aheadOfSlackMs: ({ app }: Asked) => app.slack.probe.clockAheadMs(AbortSignal.timeout(factTimeoutMs)),
  aheadOfRedisMs: ({ app }: Asked) => clockAheadOfRedisMs(app),
  workers: ({ app }: Asked) => redis.readWorkers(app, { overdueMs, silenceMs: workerSeenMs }),
}

/** Whether this process has the port for them, and what the policy names. Undefined without the ability. */
function portOf({ ports, config }: App, of: 'alerts' | 'machines', isOn: boolean): slack.Port | undefined {
  return ports.includes(`${of}Port`) ? { isOn, listed: config.policy[of] ?? [] } : undefined
}

export type FactName = keyof typeof reads
const factNames = Object.keys(reads) as FactName[]

type Fact<Name extends FactName> = Awaited<ReturnType<(typeof reads)[Name]>>

export type SetupFacts = { [Name in FactName]: Fact<Name> | Unread }

/** `ifUnread`: the line of a fact that could not be read. Default: why not. Undefined: none, where another check says it. */
function check<Name extends FactName>(
  what: string,
  name: Name,
  judge: (fact: Fact<Name>, facts: SetupFacts) => Found | Found[] | undefined,
  ifUnread: (why: string, facts: SetupFacts) => Found | undefined = (why) => unknown(mrkdwn`Couldn't check: ${why}.`),
) {
  return {
    what,
    name,
    judge: (facts: SetupFacts) => {
      const fact: unknown = facts[name]
      return isUnread(fact) ? ifUnread(fact.why, facts) : judge(fact as Fact<Name>, facts)
    },
  }
}

const noLine = () => undefined

/** What is checked, in the order of the doctor's report. A check without a finding has no line. */
const checks = [
  check('Slack', 'slack', slack.judgeSlack, (why, { aheadOfSlackMs }) => slack.slackUnread(why, aheadOfSlackMs)),
  check('App manifest', 'slack', (reading, { home }) => slack.judgeManifest(reading, home)),
  check('Command', 'command', slack.judgeCommand),
  check('Buttons', 'lastReceivedMs', ({ click }, { transport }) => slack.judgeArrival(click, 'click', transport)),
  check('Pickers', 'lastReceivedMs', ({ options }, { transport }) => slack.judgeArrival(options, 'options', transport)),
  check('Channels', 'channels', (channels) => slack.judgeChannels(channels, slack.noPosts)),
  // Notices to the operators have a separate line, because nobody sees that they are missing.
  check('Notices', 'opsChannel', (channel) => channel && slack.judgeChannels([channel], 'nobody gets notices about problems')),
  check('People', 'groups', slack.judgeGroups),
  check('Alerts', 'alerts', (port) => port && slack.judgePort('alerts', port)),
  check('Machines', 'machines', (port) => port && slack.judgePort('machines', port)),
  check('Passkeys', 'confirmations', slack.judgeConfirmations, noLine),
  check('Redis', 'redis', redis.judgeRedis),
  check('State key', 'stateKey', redis.judgeStateKey, noLine),
  check('Freeze', 'freeze', redis.judgeFreeze),
  check('Account API', 'account', account.judgeAccount),
  check('API key', 'account', account.judgeKey, noLine),
  check('Limits', 'limits', account.judgeLimits),
  check('Policy', 'idsUnseen', account.judgePolicy, noLine),
  check('Clock', 'aheadOfSlackMs', (ms) => redis.judgeClock(ms, 'Slack')),
  check('Clock', 'aheadOfRedisMs', (ms) => redis.judgeClock(ms, 'Redis')),
  check('Workers', 'workers', (workers, facts) => (hidesWorkers(facts.redis) ? workersHidden : redis.judgeWorkers(workers))),
]

const hidesWorkers = ({ is }: SetupFacts['redis']) => is === 'refuses-writes' || is === 'lacks-right'
const workersHidden = unknown(mrkdwn`Unknown while Redis refuses what they report.`, mrkdwn`Fix Redis first, then run this command again.`)

export function diagnose(facts: SetupFacts, names: readonly FactName[] = factNames) {
  const chosen = checks.filter(({ name }) => names.includes(name))
  return chosen.flatMap(({ what, judge }) => [judge(facts) ?? []].flat().map((found) => ({ what, ...found })))
}
export type Diagnosis = ReturnType<typeof diagnose>

/** Makes these checks, or all. Those of a bot that is not running and of a person who does not ask are not among these. */
export async function examine(
  app: App,
  names: readonly FactName[] = factNames,
  { viewer = slack.nobody, showHome = async () => slack.notRunning }: Partial<Omit<Asked, 'app'>> = {},
): Promise<Diagnosis> {
  const read = (name: FactName) => readFact<unknown>(() => reads[name]({ app, viewer, showHome }))
  const facts = await Promise.all(
    factNames.map(async (name) => [name, names.includes(name) ? await read(name) : slack.notRunning] as const),
  )
  return diagnose(Object.fromEntries(facts) as unknown as SetupFacts, names)
}
