import type { KnownBlock } from '@slack/web-api'
import type { AccountApi } from '../account/client.ts'
import type { Inventory } from '../account/inventory.ts'
import { asFarAsRead } from '../account/resource.ts'
import { isBgp, type KeyVariable, type OwnLastSlices, ownVariableOf, readKeyProblem } from '../domain/account.ts'
import type { Origin } from '../domain/approval.ts'
import {
  AccountLimitError,
  ApiError,
  ApiUnreachableError,
  isFeatureMissing,
  isKeyRefused,
  missingRightOf,
  StoreUnavailableError,
  writeRefusalOf,
} from '../domain/errors.ts'
import { approversOf, type PolicyRule } from '../domain/policy.ts'
import type { Access } from '../requests/access.ts'
import type { Store } from '../requests/store.ts'
import { actions, button, context, limitBlocks, message, notice, option, wholeSection } from '../slack/blocks.ts'
import { limitWords } from '../slack/errors.ts'
import type { Click, TableMessage } from '../slack/interactions.ts'
import { externalSelect } from '../slack/pickers.ts'
import { dataTable } from '../slack/table.ts'
import { code, joinMrkdwn, type Mrkdwn, mostCharacters, mrkdwn } from '../slack/text.ts'
import type { GroupReading } from '../slack/web-api.ts'
import {
  accountApi,
  alerts,
  buttons,
  type CheckResult,
  channels,
  clock,
  command,
  elasticIps,
  groups,
  limits as limitsFromDoctorChecks,
  manifest,
  notices,
  pickers,
  policy,
  redis,
  scopes,
  slack,
  workers,
} from './doctor-checks.ts'
import { type AccountApiReading, factTimeoutMs, readFact, type SetupFacts, type Unavailable } from './doctor-facts.ts'
import type { Feature, FeatureDefinition, Setup } from './feature.ts'

/** Describes this process in one line. */
export function describeBot({
  running: { version, role, environment, rules, policyFile },
  usesSockets,
}: Pick<Setup, 'running' | 'usesSockets'>): string {
  const parts = [
    version,
    role === 'all' ? 'web and worker' : role,
    usesSockets ? 'Socket Mode' : 'HTTP',
    ...(environment ? [environment] : []),
    `${rules === 1 ? 'one rule' : `${rules} rules`} from ${policyFile ? 'POLICY_FILE' : 'environment variables'}`,
  ]
  return parts.join('  ·  ')
}

/** Checks each part of a set-up, in a fixed order. */
export function diagnose(facts: SetupFacts): CheckResult[] {
  return [
    slack(facts),
    scopes(facts),
    manifest(facts),
    ...command(facts),
    buttons(facts),
    pickers(facts),
    ...channels(facts),
    ...notices(facts),
    ...groups(facts),
    ...alerts(facts),
    redis(facts),
    ...accountApi(facts),
    limitsFromDoctorChecks(facts),
    ...policy(facts),
    ...elasticIps(facts),
    clock(facts),
    workers(facts),
  ]
}

/** Workers report themselves every 5 s, so a worker that is missing for this long is gone. */
const workerSeenMs = 15_000
/** Longer than any interval between two reads of a move in progress. */
const overdueMs = 5 * 60_000

export interface GatherParts {
  setup: Setup
  access: Pick<Access, 'policy'>
  store: Pick<Store, 'now' | 'workersSeen' | 'sinceLastTickMs' | 'isBusy'>
  accountApi: Pick<AccountApi, 'apiKeys'>
  inventory: Pick<Inventory, 'servers' | 'elasticIps' | 'virtualMachines'>
  ownLastSlices: OwnLastSlices
}

/** What servers, Elastic IPs and virtual machines have in common. */
interface Shown {
  id: string
  hostname?: string | undefined
  project: { id: string } | undefined
}

/** Reads all facts in parallel. Never throws: a fact that cannot be read is `unavailable`. */
export function createGather({ setup, access, store, accountApi, inventory, ownLastSlices }: GatherParts) {
  const { probe, members, showHome, lastReceived, budget, opsChannel, usesSockets } = setup
  const { rules, alerts: routes = [] } = access.policy

  async function channelsFor({ channelId }: Origin): Promise<SetupFacts['channels']> {
    // The app cannot be invited to a direct message.
    const here = /^[CG]/.test(channelId) ? [channelId] : []
    const ofPolicy = [...rules.flatMap((rule) => rule.channels ?? []), ...routes.map((route) => route.channelId)]
    const ids = new Set([...here, ...ofPolicy])
    return Promise.all([...ids].map(async (id) => ({ id, membership: await readFact(() => probe.membership(id)) })))
  }

  async function readOpsChannel(): Promise<SetupFacts['opsChannel']> {
    return opsChannel && { id: opsChannel.id, membership: await readFact(opsChannel.check) }
  }

  async function groupsOfPolicy(): Promise<SetupFacts['groups']> {
    const deciding = new Set(rules.flatMap(decidingGroups))
    const ids = new Set([...deciding, ...rules.flatMap((rule) => rule.mention?.userGroups ?? [])])
    return Promise.all([...ids].map(async (id) => ({ id, decides: deciding.has(id), reading: await readFact(() => readGroup(id)) })))
  }

  async function readGroup(id: string): Promise<GroupReading> {
    const found = (await members([id])).get(id)
    if (found !== undefined && found !== 'unknown') return { is: 'read', members: found.size }
    return { is: 'unreadable', why: (await probe.whyUnreadable(id)) ?? 'the last read failed' }
  }

  /**
   * Returns the ids of projects and the targets of alerts that nothing shows. The list of
   * Elastic IPs is read anyway, and the next one only if an id is left.
   */
  async function idsUnseen(): Promise<string[]> {
    const targets = routes.flatMap(({ to }) => (typeof to === 'string' ? [to] : [...to.values()]))
    let unseen = [...new Set([...rules.flatMap((rule) => rule.projects?.ids ?? []), ...targets])]
    for (const list of [inventory.elasticIps, inventory.servers, inventory.virtualMachines]) {
      if (unseen.length === 0) break
      const { items, cut } = await asFarAsRead<Shown>(list())
      if (cut !== undefined) return []
      const seen = new Set(items.flatMap(({ id, hostname, project }) => [id, hostname?.toLowerCase(), project?.id]))
      unseen = unseen.filter((id) => !seen.has(id) && !seen.has(id.toLowerCase()))
    }
    return unseen
  }

  async function countElasticIps(): Promise<{ all: number; bgp: number }> {
    const { items } = await asFarAsRead(inventory.elasticIps())
    return { all: items.length, bgp: items.filter(isBgp).length }
  }

  async function readWorkers(): Promise<Exclude<SetupFacts['workers'], Unavailable>> {
    const [seen, lastTickMs, overdue] = await Promise.all([
      store.workersSeen(workerSeenMs),
      store.sinceLastTickMs(),
      store.isBusy(-overdueMs),
    ])
    return { seen, lastTickMs, overdue }
  }

  return async function gather(viewer: Origin): Promise<SetupFacts> {
    const [slack, home, lastReceivedMs, channels, notices, groups, redis, api, used, unseen, elasticIps, ofSlackMs, ofRedisMs, workers] =
      await Promise.all([
        readFact(probe.reach),
        readFact(() => showHome(viewer)),
        readFact(lastReceived.read),
        channelsFor(viewer),
        readOpsChannel(),
        groupsOfPolicy(),
        readFact(() => readRedis(setup, store)),
        readFact(() => readAccountApi(accountApi, ownLastSlices)),
        readFact(budget.figures),
        readFact(idsUnseen),
        readFact(countElasticIps),
        readFact(() => probe.clockAheadMs(AbortSignal.timeout(factTimeoutMs))),
        readFact(async () => Date.now() - (await store.now())),
        readFact(readWorkers),
      ])
    const clock = { ofSlackMs, ofRedisMs }
    const alerts = { isOn: setup.running.alerts !== undefined, routes: routes.map(({ name, channelId }) => ({ name, channelId })) }
    return {
      bot: describeBot(setup),
      usesSockets,
      command: { used: viewer.command, configured: setup.command },
      slack,
      home,
      lastReceivedMs,
      channels,
      opsChannel: notices,
      groups,
      alerts,
      redis,
      accountApi: api,
      limits: { perMinute: budget.perMinute, hasReadKey: budget.hasReadKey, used },
      idsUnseen: unseen,
      elasticIps,
      clock,
      workers,
    }
  }
}

async function readRedis(
  { redisPrefix, redisFaults, probeWrites }: Setup,
  store: Pick<Store, 'now'>,
): Promise<Exclude<SetupFacts['redis'], Unavailable>> {
  try {
    const faults = await redisFaults()
    const refusal = await probeWrites()
    // Runs a script, as every step does. Its user may lack that right alone.
    await store.now()
    return refusal ? { faults, refusal } : { faults }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const lacksRight = missingRightOf(error, redisPrefix)
    if (lacksRight) return { lacksRight }
    const refusal = writeRefusalOf(error.code)
    if (refusal) return { faults: [], refusal }
    if (error.code === undefined) return { silent: 'no answer' }
    throw error
  }
}

async function readAccountApi({ apiKeys }: GatherParts['accountApi'], own: OwnLastSlices): Promise<AccountApiReading> {
  try {
    // Ends shortly before `readFact` does, so that the reason is known.
    const keys = await apiKeys.list({ signal: AbortSignal.timeout(factTimeoutMs - 100) })
    const holding = (variable: KeyVariable) => keys.find((each) => ownVariableOf(each, own) === variable)
    const key = holding('INFRA_API_KEY')
    const readKey = { problem: readKeyProblem(keys, own), name: holding('INFRA_READ_KEY')?.name }
    return {
      is: 'answers',
      own: key
        ? { is: 'listed', name: key.name, readOnly: key.readOnly }
        : { is: own.INFRA_API_KEY === undefined ? 'not-set' : 'not-listed' },
      ...(own.INFRA_READ_KEY === undefined ? {} : { readKey }),
    }
  } catch (error) {
    if (error instanceof AccountLimitError) return { is: 'limited', why: limitWords(error).why, waitMs: error.waitMs }
    if (error instanceof ApiUnreachableError) return { is: 'unreachable', problem: error.problem }
    if (isFeatureMissing(error)) return { is: 'lacks-feature' }
    if (!(error instanceof ApiError)) throw error
    const { status, key } = error
    return isKeyRefused(error) ? { is: 'rejects', status, key } : { is: 'fails', status }
  }
}

function decidingGroups({ request, approve }: PolicyRule): string[] {
  return [...(request?.userGroups ?? []), ...(approve ? approversOf(approve).userGroups : [])]
}

export const testIds = {
  button: 'doctor-button',
  picker: 'doctor-picker',
  tableSeen: 'doctor-table-seen',
  tableUnseen: 'doctor-table-unseen',
} as const

export const tests = {
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
export function heading({ wrong, unsure, all }: { wrong: number; unsure: number; all: number }): Mrkdwn {
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
export function report(bot: string, results: CheckResult[]): TableMessage {
  const wrong = results.filter((result) => result.is === 'wrong').length
  const unsure = results.filter((result) => result.is === 'unknown').length
  const title = heading({ wrong, unsure, all: results.length })
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = results.toSorted((a, b) => order[a.is] - order[b.is]).map(line)
  const content = limitBlocks([...wholeSection(title), ...context([about]), ...lines.flatMap(wholeSection)], limits)
  const reportWith = (words: Mrkdwn, blocks: KnownBlock[]) =>
    message({ text: joinMrkdwn([title, about, ...lines, words], '\n'), blocks: [...content, ...blocks, ...testElements()] })
  const { tableQuestion, tableRefused } = tests
  return { table: reportWith(tableQuestion, tableTest()), instead: reportWith(tableRefused, wholeSection(tableRefused)), tries: true }
}

function tableTest(): KnownBlock[] {
  const table = dataTable(tests.table.caption, tests.table)
  const answers = [
    button({ text: tests.tableSeen, actionId: testIds.tableSeen, value: 'test' }),
    button({ text: tests.tableUnseen, actionId: testIds.tableUnseen, value: 'test' }),
  ]
  return [...(table ? [table] : []), ...wholeSection(tests.tableQuestion), ...actions(answers)]
}

function line({ is, what, words, fix }: CheckResult): Mrkdwn {
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

/** `/infra doctor`: checks the app, Redis, the account API and the workers, and says how to fix what is wrong. */
export const checkSetup = { create } satisfies FeatureDefinition

function create(parts: GatherParts): Feature {
  const gather = createGather(parts)

  async function buttonWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.buttonWorks))
  }

  async function pickerWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.pickerWorks))
  }

  async function tableWorks({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.tableWorks))
  }

  async function tableFails({ answer }: Click): Promise<void> {
    await answer.ephemeral(notice(tests.tableFails))
  }

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
        run: async ({ slashCommand }) => {
          const facts = await gather(slashCommand.origin)
          await slashCommand.answer.ephemeral(report(facts.bot, diagnose(facts)))
        },
      },
    ],
    clicks: {
      [testIds.button]: buttonWorks,
      [testIds.picker]: pickerWorks,
      [testIds.tableSeen]: tableWorks,
      [testIds.tableUnseen]: tableFails,
    },
    options: { [testIds.picker]: async () => ({ options: [option({ text: tests.choice, value: 'works' })] }) },
  }
}
