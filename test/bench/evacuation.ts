import { Redis } from 'ioredis'
import { createEvidence } from '../faults/evidence.ts'
import { places, racks } from '../faults/many-elastic-ips.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-variables.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import type { Effort } from './effort.ts'
import { startProgram } from './processes.ts'
import { interleave, median, ratio } from './rounds.ts'
import { fixed, table } from './table.ts'

const ways = ['single moves', 'one evacuation'] as const
type Way = (typeof ways)[number]

const channel = 'C0OPS00001'
const [ada, ben] = ['U0ADA00001', 'U0BEN00001'] as const

/** How long the account API takes for every answer, and the number of writes of an evacuation that are under way at once. */
const answerMs = 200
const writesAtOnce = 5

/** What the same moves cost, from the first command until every message is up to date. */
interface Cost {
  requests: number
  redisCommands: number
  slackCalls: number
  /** From the first click on *Approve*, in ms. */
  lastWriteMs: number
  lastReportMs: number
  moved: number
}

/** Compares one evacuation of a server with a move of each of its addresses: what they cost, and how long they take. */
export async function benchEvacuation({ quick, followRounds }: Effort): Promise<string> {
  const count = quick ? 10 : 50
  return describe(count, await interleave(ways, followRounds, (way) => measure(way, count)))
}

async function measure(way: Way, count: number): Promise<Cost> {
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const server = await startRedis({ appendonly: true })
  const admin = new Redis(server.url)
  const slack = await startSlack({ keepAnswers: false })
  const { servers, elasticIps } = racks([count])
  const account = await startAccountApi({ moveTakes: { min: 4_000, max: 9_000 }, data: { servers, elasticIps } })
  account.faults.add({ kind: 'delay', delayMs: answerMs, times: Number.POSITIVE_INFINITY })
  const variables = { ...botVariables({ slack, accountApi: account, redisUrl: server.url }), OPEN_REQUESTS_PER_PERSON: '9999' }
  const bot = await startProgram(new URL('../../src/main.ts', import.meta.url).pathname, 'slackPort', { env: variables })
  slack.connectBot(`http://127.0.0.1:${JSON.parse(bot.line).slackPort}/slack/events`)
  const commands = async () => Number(/^total_commands_processed:(\d+)/m.exec(await admin.info('stats'))?.[1])
  const before = { redisCommands: await commands(), slackCalls: slack.journal.length, requests: account.journal.length }

  const isCard = ({ isBot, text }: { isBot: boolean; text: string }) => isBot && /needs approval from/.test(text)
  const cards = () => slack.messages(channel).filter(isCard)
  const lines = way === 'one evacuation' ? [`evacuate rack-0 ${places.to}`] : elasticIps.map(({ id }) => `ip move ${id} ${places.to}`)
  for (const line of lines) await slack.as(ada).command(`/infra ${line}`, { channel })
  await slack.until(() => cards().length === lines.length, { timeoutMs: 60_000, what: 'the cards' })
  const waiting = cards()
  const approvedAt = Date.now()
  for (const card of waiting) await slack.as(ben).click(card, 'Approve')
  const isReported = ({ ts }: { ts: string }) => slack.thread(channel, ts).some(({ text }) => /\*(Done\.|Partly done:|Failed:)/.test(text))
  await slack.until(() => waiting.every(isReported), { timeoutMs: 120_000, what: 'the reports' })
  const lastReportMs = Date.now() - approvedAt
  await createEvidence(admin, variables.REDIS_PREFIX).comeToRest(lines.length, 30_000)

  const cost = {
    requests: account.journal.length - before.requests,
    redisCommands: (await commands()) - before.redisCommands,
    slackCalls: slack.journal.length - before.slackCalls,
    lastWriteMs: Math.max(...account.journal.writes().map(({ time }) => time)) - approvedAt,
    lastReportMs,
    moved: account.world.elasticIps().filter(({ serverId, status }) => serverId === places.to && status === 'active').length,
  }
  bot.stop()
  admin.disconnect()
  await Promise.all([slack.close(), account.close()])
  await server.stop()
  clearInterval(alive)
  return cost
}

function describe(count: number, found: Record<Way, Cost[]>): string {
  const row = (name: string, figure: (cost: Cost) => number, { digits = 0, goal }: { digits?: number; goal?: Goal } = {}) => {
    const less = ratio(found['single moves'], found['one evacuation'], figure)
    const own = median(found['one evacuation'].map(figure))
    const verdict = goal ? [goal.words, goal.isMet(less, own) ? 'met' : 'missed'] : ['', '']
    return [name, ...ways.map((way) => fixed(median(found[way].map(figure)), digits)), `${fixed(less, 1)} ×`, ...verdict]
  }
  const mostAnswers = (1.5 * count) / writesAtOnce
  const rows = [
    row('requests to the account API', ({ requests }) => requests),
    row('Redis commands', ({ redisCommands }) => redisCommands),
    row('calls to Slack', ({ slackCalls }) => slackCalls, { goal: { words: '≥ 20 × fewer', isMet: (less) => less >= 20 } }),
    row('from the approval to the last write, in answers of the account API', ({ lastWriteMs }) => lastWriteMs / answerMs, {
      digits: 1,
      goal: { words: `≤ ${mostAnswers}`, isMet: (_, own) => own <= mostAnswers },
    }),
    row('from the approval to the last report, ms', ({ lastReportMs }) => lastReportMs),
    row('moved, the least of all rounds', ({ moved }) => moved, { goal: { words: `${count}`, isMet: () => isAllMoved(found, count) } }),
  ]
  return table([`N = ${count}, moves of 4 to 9 s`, `${count} single moves`, 'one evacuation', 'fewer', 'target', ''], rows)
}

interface Goal {
  words: string
  /** `less`: how many times less the evacuation costs. `own`: its figure. */
  isMet: (less: number, own: number) => boolean
}

function isAllMoved(found: Record<Way, Cost[]>, count: number): boolean {
  return ways.every((way) => found[way].every(({ moved }) => moved === count))
}
