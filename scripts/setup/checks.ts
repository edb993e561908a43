import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { createAccountApi } from '../../src/account/client.ts'
import { isOwnKey } from '../../src/account/objects.ts'
import type { App } from '../../src/app.ts'
import { webClientOptions } from '../../src/bolt/app.ts'
import { plainWords } from '../../src/checks/check.ts'
import { type Diagnosis, examine, type FactName } from '../../src/checks/list.ts'
import { notRunning } from '../../src/checks/slack.ts'
import { type Config, ConfigError, readConfig } from '../../src/config/config.ts'
import { Variables } from '../../src/config/variables.ts'
import { isUserGroup } from '../../src/domain/policy.ts'
import { cleanText } from '../../src/domain/text.ts'
import { abilities, bundles, changeKinds, confirmations, neverExempt, ownChanges } from '../../src/features/index.ts'
import { createLog, createRepeatedLines, slackLogger } from '../../src/ops/log.ts'
import { notice } from '../../src/slack/blocks.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { classifySlackFailure } from '../../src/slack/web-api.ts'
import { buildApps, disconnect } from '../../src/start/apps.ts'
import { type Name, otherVariables } from './answers.ts'

/** Undefined: nothing is wrong. Otherwise what is wrong and what to do, in sentences without secrets. */
type Problem = string | undefined
type Values = Record<string, string>

const kinds = { kinds: changeKinds, bundles, neverExempt, confirmations }

/** Throws ConfigError with a line for each error. */
export const configOf = (values: Values): Config => readConfig({ ...otherVariables(process.env), ...values }, kinds)

/** What is wrong with the variables that no question is about, or with the policy file. */
export function othersProblem(values: Values, asked: string[]): Problem {
  const others = Object.entries(values).filter(([name]) => !asked.includes(name.replace(/_FILE$/, '')))
  try {
    configOf({ ...unanswered, STATE_KEY: 'unanswered'.repeat(4), OPS_CHANNEL: 'C00', ...Object.fromEntries(others) })
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

/** Stands for what was not answered yet. No check that is made before reads it. */
const unanswered: Values = {
  SLACK_BOT_TOKEN: 'xoxb-unanswered',
  SLACK_SIGNING_SECRET: 'unanswered',
  INFRA_API_URL: 'http://127.0.0.1:9',
  INFRA_API_KEY: 'unanswered',
  REDIS_URL: 'redis://127.0.0.1:9',
  APPROVERS: 'U00',
  PUBLIC_URL: 'https://unanswered.invalid',
}

/** Whether a rule of the policy asks for what a browser confirms. */
export function needsPublicUrl({ PUBLIC_URL: _, ...values }: Values): boolean {
  try {
    configOf({ ...unanswered, ...values, PUBLIC_URL: '' })
    return false
  } catch (error) {
    return error instanceof ConfigError && error.lines.some((line) => line.startsWith('PUBLIC_URL is missing'))
  }
}

/**
 * These decide where and how a check is made. All others can be wrong until they are asked for. With a read-only key
 * the reads would not try the other one.
 */
const forChecks: Name[] = [
  'SLACK_API_URL',
  'SLACK_BOT_TOKEN',
  'SLACK_COMMAND',
  'INFRA_API_URL',
  'INFRA_API_KEY',
  'REDIS_URL',
  'REDIS_SENTINEL_PASSWORD',
  'REDIS_PREFIX',
  'STATE_KEY',
  'ALLOW_VOLATILE_REDIS',
  'APPROVERS',
  'OPS_CHANNEL',
]

const silent = createLog({ level: 'fatal' })

/** Builds the bot of these answers without starting it, and closes it afterwards. */
async function withBot<T>(config: Config, use: (app: App) => Promise<T>): Promise<T> {
  const { people, jobs } = buildApps(config, { log: silent, printAudit: () => {} })
  // Whether alerts can request anything depends on the kinds of changes.
  const setup = { showHome: async () => notRunning, ownChanges }
  people.catalog.register(abilities.flatMap(({ create }) => create(people, setup).changes ?? []))
  // Reads of the account usually take turns by Redis, which may not be answered yet.
  const { url: baseUrl, key } = config.infra
  const account = createAccountApi({ baseUrl, key })
  try {
    return await use({ ...people, account })
  } finally {
    await Promise.all([account.close(), disconnect({ people, jobs })])
  }
}

async function withAnswers<T>(values: Values, use: (app: App) => Promise<T>): Promise<T> {
  const isRight = (name: Name) => values[name] && Variables.shape[name].safeParse(values[name]).success
  const right = Object.entries(values).filter(([name]) => forChecks.some((each) => each === name && isRight(each)))
  const config = configOf({ ...unanswered, ...Object.fromEntries(right) })
  return withBot(config, use)
}

/** Without the name of a group or person, its id would be there twice. */
const plainly = (found: Diagnosis[number]): string => plainWords(found).replace(/(\S+) \(\1\)/g, '$1')

const fixHere: Record<string, string> = {
  Slack: 'Copy the Bot User OAuth Token of your app.',
  'API key': 'Create a key with full access.',
}

/** Leaves out sentences for a bot that runs, and words that make an error longer than two lines of a terminal. */
function atQuestion(text: string, what = ''): string {
  const sentences = text.replace(/ \((maxmemory-policy) \S+\)\. Set it to/, '. Set $1').split(/(?<=\.) /)
  const here = sentences.filter((sentence) => !/\brestart\b|in progress|track anything|^Or set |^For development only/.test(sentence))
  return [...here, (here.length < sentences.length && fixHere[what]) || []].flat().join(' ')
}

function firstProblem(results: Diagnosis, level: string[] = ['wrong']): Problem {
  const found = results.find(({ is }) => level.includes(is))
  return found && atQuestion(plainly(found), found.what)
}

const check = (values: Values, names: FactName[]): Promise<Problem> =>
  withAnswers(values, async (app) => firstProblem(await examine(app, names)))

/** For what only the set-up asks of Slack. */
function slackClient(values: Values, token: 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN'): WebClient {
  const apiUrl = Variables.shape.SLACK_API_URL.parse(values.SLACK_API_URL)
  const logger = slackLogger(silent, createRepeatedLines(silent)) as Logger
  return new WebClient(values[token], webClientOptions(apiUrl, logger))
}

export const botTokenProblem = (values: Values): Promise<Problem> => check(values, ['slack'])

/** A name that others chose, for one line of a terminal. */
const nameOf = (text: unknown) => cleanText(String(text), { oneLine: true })

/** The bot and its workspace, as Slack names them. */
export async function describeBot(values: Values): Promise<string> {
  const { user, team } = await slackClient(values, 'SLACK_BOT_TOKEN').auth.test()
  return `@${nameOf(user)} in the workspace ${nameOf(team)}`
}

/** Opens a connection of Socket Mode, and uses it for nothing. */
export async function appTokenProblem(values: Values): Promise<Problem> {
  try {
    await slackClient(values, 'SLACK_APP_TOKEN').apps.connections.open({})
    return undefined
  } catch (error) {
    const failure = classifySlackFailure(error)
    const why = failure.is === 'refused' ? failure.error : failure.is === 'unknown' ? failure.problem : 'too many attempts: wait a minute'
    return `Slack doesn't open Socket Mode (${why}). Create the token under Basic Information, App-Level Tokens, with the scope connections:write.`
  }
}

const accountCheck = (values: Values, line: 'Account API' | 'API key'): Promise<Problem> =>
  withAnswers(values, async (app) => {
    const results = await examine(app, ['account'])
    return firstProblem(results.filter(({ what }) => what === line))
  })

/** What is wrong with the address, without the key: `unanswered` is sent in its place. */
const addressProblem = (values: Values): Promise<Problem> =>
  withAnswers({ ...values, INFRA_API_KEY: '' }, async (app) => {
    const results = await examine(app, ['account'])
    const problem = firstProblem(results.filter(({ what }) => what === 'Account API'))
    const isAccepted = results.some(({ what, is }) => what === 'API key' && is !== 'wrong')
    return problem ?? (isAccepted ? "INFRA_API_URL accepts an invalid key, so it isn't the account API. Check the address." : undefined)
  })

/** Sends the key only to what answers like the account API without it. Some answer a wrong path only to the right key. */
export const accountProblem = async (values: Values): Promise<Problem> =>
  (await addressProblem(values)) ?? accountCheck(values, 'Account API')

export const accountKeyProblem = (values: Values): Promise<Problem> => accountCheck(values, 'API key')

/** Whose the key is, and whether it can write: `"lockkeeper" of lockkeeper@nimbus.example, with full access`. */
export const describeKey = (values: Values): Promise<string> =>
  withAnswers(values, async (app) => {
    const keys = await app.account.apiKeys.list({ signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
    const own = keys?.items.find((key) => isOwnKey(key, app))
    if (!own) return 'The account API accepts the key, and does not show whose it is.'
    const owner = own.user?.email ?? own.user?.id ?? 'an unknown user'
    return `The key "${nameOf(own.name ?? own.id)}" of ${nameOf(owner)} ${own.readOnly === false ? 'can make changes' : 'is accepted'}.`
  })

/** As at the start: the address, the password, the rights, the settings, and whether it takes writes. */
export const redisProblem = (values: Values): Promise<Problem> =>
  withAnswers(values, async (app) => (await reachRedis(app)) ?? firstProblem(await examine(app, ['stateKey'])))

async function reachRedis(app: App): Promise<Problem> {
  try {
    await app.connections.reach()
  } catch (error) {
    return atQuestion(error instanceof Error ? error.message : String(error))
  }
  return firstProblem(await examine(app, ['redis']))
}

const notApproving = {
  unknown: "isn't known to Slack",
  deleted: 'is deactivated',
  bot: 'is a bot',
  stranger: 'belongs to another workspace',
  guest: 'is a guest',
  machine: 'is a machine',
} as const

/** Whether each group has members, and each person is a full member. */
export const approversProblem = (values: Values): Promise<Problem> =>
  withAnswers(values, async (app) => {
    const ids = (values.APPROVERS ?? '').split(',').map((id) => id.trim())
    const people = await Promise.all(ids.filter((id) => !isUserGroup(id)).map((id) => app.directory.person(id)))
    for (const { userId, standing } of people)
      if (standing !== 'member') return `${userId} ${notApproving[standing]}, so it can't approve. Choose full members of your workspace.`
    return firstProblem(await examine(app, ['groups']))
  })

/** The channel has to be known, and the bot in it. `proven`: also posts there once. */
export const opsChannelProblem = (values: Values, { proven }: { proven: boolean }): Promise<Problem> =>
  withAnswers(values, async (app) => {
    const problem = firstProblem(await examine(app, ['opsChannel']), ['wrong', 'unknown'])
    if (problem !== undefined || !proven) return problem
    const text = mrkdwn`Lockkeeper is being set up. Notices that need a person will appear in this channel.`
    const posted = await app.slack.messenger.post({ channelId: values.OPS_CHANNEL ?? '' }, notice(text))
    if (posted.is === 'sent') return undefined
    const why = posted.is === 'refused' ? posted.error : posted.is === 'unknown' ? posted.problem : 'too many messages: wait a minute'
    return `Slack refuses a post there (${why}). Choose a channel in which Lockkeeper may post.`
  })

/** Sends what Slack has not signed to the public address. A bot that gets it answers 401. */
export async function unreachedBecause(address: string): Promise<Problem> {
  try {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', signal: AbortSignal.timeout(5_000) }
    const { status } = await fetch(`${address}/slack/events`, request)
    return status === 401 ? undefined : `it answers ${status}`
  } catch (error) {
    return Object(Object(error).cause).code ?? 'no answer within 5 s'
  }
}

/** Whether a process that uses this Redis has reported itself within 15 s. */
export const isRunning = (values: Values): Promise<boolean> =>
  withAnswers(values, async (app) => {
    await app.connections.reach()
    return (await app.store.workersSeen(15_000)) > 0
  })

/** Returns the name with which Slack shows the channel, or its id. */
export async function channelName(values: Values): Promise<string> {
  const id = values.OPS_CHANNEL ?? ''
  const client = slackClient(values, 'SLACK_BOT_TOKEN')
  const name = await client.conversations.info({ channel: id }).then(
    ({ channel }) => channel?.name,
    () => undefined,
  )
  return name === undefined ? id : `#${nameOf(name)}`
}

const allNames: FactName[] = [
  'slack',
  'channels',
  'opsChannel',
  'groups',
  'alerts',
  'machines',
  'redis',
  'stateKey',
  'account',
  'idsUnseen',
  'aheadOfSlackMs',
  'aheadOfRedisMs',
]

/** Makes every check at once. A line for each, in the order of the doctor. */
export async function checkAll(values: Values) {
  const config = configOf(values)
  const socketMode = config.slack.appToken && (await appTokenProblem({ ...values, SLACK_APP_TOKEN: config.slack.appToken.reveal() }))
  return withBot(config, async (app) => {
    const problems: Record<string, Problem> = {
      Redis: await reachRedis(app),
      'Account API': await addressProblem(values),
      'Socket Mode': socketMode,
    }
    const results = await examine(app, allNames)
    const others = results.map((result) => ({ what: result.what, is: result.is, text: plainly(result) }))
    return [
      ...others.filter(({ what }) => problems[what] === undefined),
      ...Object.entries(problems).flatMap(([what, text]) => (text === undefined ? [] : [{ what, is: 'wrong' as const, text }])),
    ]
  })
}

/** Groups and full members of the workspace, by name. A large workspace has more people than are read. */
export async function readApprovers(values: Values): Promise<{ id: string; name: string; hint: string }[]> {
  const client = slackClient(values, 'SLACK_BOT_TOKEN')
  const { usergroups = [] } = await client.usergroups.list()
  const groups = usergroups.flatMap(({ id, handle, name }) =>
    id && handle ? [{ id, name: `@${nameOf(handle)}`, hint: `user group ${nameOf(name ?? '')}` }] : [],
  )
  const people: typeof groups = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { members = [], response_metadata: more } = await client.users.list({ limit: peoplePerPage, ...(cursor ? { cursor } : {}) })
    for (const member of members) {
      const { id, name, real_name: realName, deleted, is_bot: isBot, is_restricted: isGuest } = member
      // Slackbot has no mark of a bot. The types lack the mark of other workspaces.
      if (!id || deleted || isBot || isGuest || id === 'USLACKBOT' || ('is_stranger' in member && member.is_stranger)) continue
      people.push({ id, name: nameOf(realName || name || id), hint: `@${nameOf(name ?? id)}` })
    }
    cursor = more?.next_cursor || undefined
    if (cursor === undefined) break
  }
  return [...groups, ...people.toSorted((a, b) => a.name.localeCompare(b.name))]
}

const mostPages = 5
const peoplePerPage = 200
