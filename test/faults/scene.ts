import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { isGenuine } from '../../src/domain/request.ts'
import { ops, people } from '../journeys/world.ts'
import type { Limits } from '../sandbox/account-api/rate-limiter.ts'
import { type AccountApi, startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type AblationName, startOptions } from './ablations.ts'
import { startBots } from './bots.ts'
import { createEvidence, type Evidence, saidWith } from './evidence.ts'
import { collectEarlyReports, manyElasticIps, places, racks } from './many-elastic-ips.ts'
import { startTcpProxy } from './tcp-proxy.ts'

export interface SceneOptions {
  bots?: number
  /** The file to run. Default: the bot with short waits. */
  program?: string
  /** The number of bots that start at once. Default: all. */
  atOnce?: number
  /** Uses Socket Mode, where no request carries a time that the bot compares with its clock. */
  socketMode?: boolean
  elasticIps?: number
  /** How many Elastic IPs each server has that can be evacuated: `rack-0`, `rack-1` and so on. */
  onRacks?: number[]
  /** In ms. */
  moveTakesMs?: number
  /** In ms. Default: always `moveTakesMs`. */
  moveTakes?: { min: number; max: number }
  env?: Record<string, string>
  own?: (index: number, accountApi: AccountApi) => Record<string, string>
  redis?: { appendonly?: boolean; settings?: string[] }
  ablation?: AblationName
  scopes?: string[]
  limits?: boolean
  keepAnswers?: boolean
  /** How long the stand-in Slack waits for an acknowledgement, in ms. */
  ackDeadlineMs?: number
  /** The options of Node with which the bots run. Default: those of the ablation. */
  nodeOptions?: string[]
  /** How many requests of one key the account API answers. Default: all. */
  accountLimits?: Limits
  /** Registers the end, for tests that run concurrently: `onTestFinished` of the test context. */
  onEnd?: (close: () => Promise<void>) => void
}

/**
 * Starts real bots as processes over their own Redis, which writes its append-only file before it confirms anything and is behind a proxy
 * that can break. The stand-ins run in this process, which outlives the bots. Everything ends with the test.
 */
export async function startScene({
  bots: count = 1,
  program,
  atOnce = count,
  socketMode = false,
  elasticIps = 10,
  onRacks = [],
  moveTakesMs = 500,
  moveTakes = { min: moveTakesMs, max: moveTakesMs },
  env = {},
  own = () => ({}),
  redis: { appendonly = true, settings = ['appendfsync always'] } = {},
  ablation,
  scopes,
  limits = false,
  keepAnswers = true,
  ackDeadlineMs,
  nodeOptions = startOptions(ablation).nodeOptions,
  accountLimits = {},
  onEnd = onTestFinished,
}: SceneOptions = {}) {
  const startedAt = Date.now()
  const redis = await startRedis({ appendonly, settings })
  const proxy = await startTcpProxy({ port: redis.port })
  const slackProxy = await startTcpProxy({ port: 0 })
  // A bot refuses response URLs on another host than the Web API.
  const slack = await startSlack({ limits, keepAnswers, scopes, ackDeadlineMs, publicUrl: `http://127.0.0.1:${slackProxy.port}` })
  slackProxy.retarget({ port: Number(new URL(slack.url).port) })
  const { servers, elasticIps: onThem } = racks(onRacks)
  const accountApi = await startAccountApi({
    moveTakes,
    limits: accountLimits,
    data: { servers, elasticIps: [...manyElasticIps(elasticIps), ...onThem] },
  })
  const reportedTooEarly = collectEarlyReports(slack, accountApi)
  const prefix = `scene-${randomBytes(4).toString('hex')}`
  const variables = {
    ...botVariables({ slack, accountApi, redisUrl: `redis://:${redis.password}@127.0.0.1:${proxy.port}`, socketMode }),
    REDIS_PREFIX: prefix,
    APPROVERS: `${people.ben},${people.chiara}`,
    APPROVAL_TTL: '10m',
    MOVE_POLL_INTERVAL: '500ms',
    OPEN_REQUESTS_PER_PERSON: '9999',
    ...startOptions(ablation).env,
    ...env,
  }
  const bots = await startBots(count, variables, { program, nodeOptions, own: (index) => own(index, accountApi), atOnce })
  const admin = new Redis(redis.url, { maxRetriesPerRequest: null })
  admin.on('error', () => {})
  const evidence = createEvidence(admin, prefix)
  if (atOnce > 0 && !socketMode) slack.connectBot(bots.url(0))

  onEnd(async () => {
    admin.disconnect()
    await bots.stop()
    await Promise.all([slack.close(), accountApi.close(), proxy.close(), slackProxy.close()])
    await redis.stop()
  })

  const ada = slack.as(people.ada)
  const ben = slack.as(people.ben)
  const elasticIp = (index: number) => {
    const found = accountApi.world.elasticIps()[index]
    if (!found) throw new Error(`no Elastic IP ${index}`)
    return found
  }

  function untilCard(index: number, fits: RegExp, timeoutMs = 60_000, channel = ops): Promise<Message> {
    const { address } = elasticIp(index)
    const isIt = ({ isBot, text }: Message) => isBot && namesAddress(address, text) && fits.test(text)
    return slack.until(() => slack.messages(channel).findLast(isIt), { what: `a card of ${address} like ${fits}`, timeoutMs })
  }

  async function requestMove(index: number, channel = ops, words = ''): Promise<Message> {
    await ada.command(`/infra ip move ${elasticIp(index).address} ${places.to} ${words}`, { channel })
    return untilCard(index, /needs approval from/, 15_000, channel)
  }

  async function startMove(index: number): Promise<Message> {
    await ben.click(await requestMove(index), 'Approve')
    return untilCard(index, /\*Moving\*/)
  }

  function reports(card: Message, fits = /./): Message[] {
    return slack.thread(card.channel, card.ts).filter(({ ts, text }) => ts !== card.ts && fits.test(text))
  }

  function untilReport(card: Message, fits: RegExp, timeoutMs = 60_000): Promise<Message> {
    return slack.until(() => reports(card, fits)[0], { what: `a report like ${fits}`, timeoutMs })
  }

  function writes(method = 'PATCH') {
    return accountApi.journal.writes().filter((entry) => entry.method === method)
  }

  async function gather(requests: number, restMs = 60_000, from = evidence): Promise<Evidence> {
    const secrets = [slack.botToken, slack.signingSecret, accountApi.key, redis.password]
    const rested = await from.comeToRest(requests, restMs)
    const records = await from.records()
    const cards = slack.messages(ops).filter(({ isBot, threadTs }) => isBot && threadTs === undefined)
    return {
      rested,
      records,
      genuine: records.every(isGenuine),
      audit: await from.audit(),
      threads: cards.map((card) => ({ card, replies: reports(card) })),
      elasticIps: accountApi.world.elasticIps().map(({ id, address, status, serverId: on }) => ({ id, address, status, on })),
      writes: accountApi.journal.writes().filter(({ refused }) => !refused),
      crashes: bots.crashes,
      log: bots.log,
      said: saidWith(slack, secrets),
      reportedTooEarly: reportedTooEarly(),
      secrets,
      to: places.to,
      seconds: (Date.now() - startedAt) / 1_000,
      approvers: [people.ben, people.chiara],
    }
  }

  return {
    slack,
    accountApi,
    redis,
    proxy,
    slackProxy,
    admin,
    bots,
    evidence,
    prefix,
    to: places.to,
    ada,
    ben,
    chiara: slack.as(people.chiara),
    elasticIp,
    requestMove,
    startMove,
    untilCard,
    untilReport,
    reports,
    writes,
    gather,
  }
}
export type Scene = Awaited<ReturnType<typeof startScene>>

/** Whether a text names this address. One address can be the beginning of another. */
export function namesAddress(address: string, text: string): boolean {
  return new RegExp(`${address.replaceAll('.', '\\.')}(?!\\d)`).test(text)
}
