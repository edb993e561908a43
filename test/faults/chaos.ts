import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { isGenuine } from '../../src/domain/request.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { type AblationName, startOptions } from './ablations.ts'
import { startBots } from './bots.ts'
import { prepareAlerts } from './chaos-alerts.ts'
import { createEvidence } from './evidence.ts'
import { startStandIns } from './stand-ins.ts'
import { startTcpProxy } from './tcp-proxy.ts'

export interface ChaosOptions {
  /** The number of moves. For every fifteen of them a key is requested, too. */
  requests: number
  /** The number of evacuations. Default: one for every twenty moves. A bot that dies in the middle of one delays it by up to half a minute. */
  evacuations?: number
  /** How long faults are caused, in ms. After that the bots have time to come to rest. */
  faultsMs: number
  /** The least number of processes to kill, however long that takes. Every fourth time Redis is killed. */
  leastKills?: number
  seed: number
  /** How long it may take to come to rest, in ms. */
  restMs?: number
  ablation?: AblationName
  /** The probability, every 20 ms, that the answer to the next creation of a key is lost. */
  keyLoss?: number
}

const movesPerKey = 15
/** Alerts propose this many of the evacuations. People request the others. */
const mostByAlerts = 2
/** More than an evacuation sends at once. */
const addressesPerRack = 7

const channel = 'C0OPS00001'
const [ada, ben, chiara] = ['U0ADA00001', 'U0BEN00001', 'U0CHI00001'] as const

/**
 * Runs two real bots over a real Redis with an append-only file, while processes and Redis are killed, connections break and answers are
 * lost. Returns the evidence for the invariants.
 */
export async function runChaos({
  requests,
  evacuations = Math.ceil(requests / 20),
  faultsMs,
  leastKills = 0,
  seed,
  restMs = 60_000,
  ablation,
  keyLoss = 0.005,
}: ChaosOptions) {
  // With `everysec` Redis may confirm data that it has not passed to the system yet, and lose it when it is killed.
  const server = await startRedis({ appendonly: true, settings: ['appendfsync always'] })
  const address = new URL(server.url)
  const proxy = await startTcpProxy({ port: Number(address.port) })
  address.port = String(proxy.port)
  const onRacks = Array.from({ length: evacuations }, () => addressesPerRack)
  const standIns = await startStandIns({ elasticIps: requests, onRacks, moveTakes: { min: 1_000, max: 8_000 }, seed })
  const places = await standIns.call('addresses')
  const alerts = await prepareAlerts(2, { channel, approvers: [ben, chiara], to: places.to })
  const prefix = `chaos-${randomBytes(4).toString('hex')}`
  const ablating = startOptions(ablation)
  const env = {
    ...places.env,
    REDIS_URL: address.href,
    REDIS_PREFIX: prefix,
    APPROVERS: `${ben},${chiara}`,
    APPROVAL_TTL: '10m',
    MOVE_POLL_INTERVAL: '500ms',
    OPEN_REQUESTS_PER_PERSON: '9999',
    ...alerts.env,
    ...ablating.env,
  }
  const bots = await startBots(2, env, { nodeOptions: ablating.nodeOptions, own: alerts.own })
  const admin = new Redis(server.url, { maxRetriesPerRequest: null })
  admin.on('error', () => {})
  const evidence = createEvidence(admin, prefix)
  let redisKills = 0
  const startedAt = Date.now()
  const isFaulty = () => Date.now() - startedAt < faultsMs

  await standIns.call('setChances', {
    slack: [
      { plan: { method: 'chat.postMessage', kind: 'drop-after' }, chance: 0.06 },
      { plan: { method: 'chat.postMessage', kind: 'drop-before' }, chance: 0.03 },
      { plan: { method: 'chat.update', kind: 'drop-after' }, chance: 0.06 },
      { plan: { method: 'chat.postMessage', kind: 'status' }, chance: 0.02 },
      { plan: { method: 'chat.postMessage', kind: '429' }, chance: 0.01 },
      { plan: { method: 'response_url', kind: 'drop-after' }, chance: 0.02 },
      { plan: { method: 'response_url', kind: 'status', status: 404 }, chance: 0.02 },
      { plan: { method: 'chat.postEphemeral', kind: 'drop-before' }, chance: 0.01 },
    ],
    account: [
      { order: { method: 'PATCH', kind: 'drop-after' }, chance: 0.04 },
      { order: { method: 'PATCH', kind: 'drop-before' }, chance: 0.02 },
      { order: { method: 'PATCH', kind: 'status', status: 500, applied: true }, chance: 0.02 },
      { order: { method: 'GET', kind: 'status', status: 502 }, chance: 0.03 },
      { order: { method: 'POST', kind: 'drop-after' }, chance: keyLoss },
      { order: { method: 'POST', kind: 'html' }, chance: 0.003 },
      { order: { method: 'DELETE', kind: 'drop-before' }, chance: 0.005 },
    ],
  })

  let resting = false
  const requesting: Promise<void>[] = []
  /** The marks of all posted cards. They are read once for all commands, because reading takes longer the more cards there are. */
  let named = new Set<string>()

  /** Requests everything, and repeats a command that nobody accepted until it has a card. */
  async function requestAll(): Promise<void> {
    const moves = (await standIns.call('singles')).map((id) => ({ words: `ip move ${id} ${places.to}`, mark: id }))
    const perRequest = faultsMs / (requests * 1.3)
    for (const [index, move] of moves.entries()) {
      requesting.push(requestOne(move, index))
      if (index % movesPerKey === 0) requesting.push(requestOne({ words: `keys create chaos-${index}`, mark: `chaos-${index}` }, index))
      const rack = Math.floor((index * evacuations) / requests)
      if (rack !== Math.floor(((index - 1) * evacuations) / requests))
        requesting.push(rack < mostByAlerts ? repeatAlert(rack) : requestOne(evacuationOf(rack), index))
      await delay(perRequest)
    }
  }

  async function requestOne({ words, mark }: { words: string; mark: string }, index: number): Promise<void> {
    for (let attempt = 0; attempt < 40 && !resting; attempt += 1) {
      const outcome = await standIns.call('command', bots.url(index + attempt), ada, `/infra ${words}`, channel).catch(() => 'failed')
      await delay(outcome === 'acknowledged' ? 2_500 : 500)
      if (named.has(mark)) return
    }
  }

  const evacuationOf = (rack: number) => ({ words: `evacuate rack-${rack} ${places.to}`, mark: `rack-${rack}` })

  /** Delivers an alert about a rack to both bots, again and again, as two Alertmanagers do. */
  async function repeatAlert(rack: number): Promise<void> {
    while (!resting) {
      await Promise.all([0, 1].map((bot) => alerts.deliver(bot, rack)))
      await delay(1_000)
    }
  }

  /** Presses Approve on every waiting card, sometimes by both approvers. */
  async function approveAll(until: () => boolean): Promise<void> {
    const pressed = new Map<string, number>()
    while (until()) {
      named = new Set(await standIns.call('named', channel))
      for (const ts of await standIns.call('cardsThatSay', channel, 'needs approval from')) {
        if (Date.now() - (pressed.get(ts) ?? 0) < 1_500) continue
        pressed.set(ts, Date.now())
        const others = pressed.size
        void standIns.call('click', bots.url(others), ben, channel, ts, 'Approve').catch(() => undefined)
        if (others % 3 === 0) void standIns.call('click', bots.url(others + 1), chiara, channel, ts, 'Approve').catch(() => undefined)
      }
      await takeKeys(pressed)
      await delay(200)
    }
  }

  /** Ada presses the button of approved keys. */
  async function takeKeys(pressed: Map<string, number>): Promise<void> {
    for (const ts of await standIns.call('cardsThatSay', channel, '^(?=[^]*chaos-\\d)[^]*\\*Approved\\.\\*')) {
      const mark = `take ${ts}`
      if (Date.now() - (pressed.get(mark) ?? 0) < 2_500) continue
      pressed.set(mark, Date.now())
      void standIns.call('click', bots.url(pressed.size), ada, channel, ts, 'Create key').catch(() => undefined)
    }
  }

  async function breakThings(): Promise<void> {
    for (let round = 0; isFaulty() || round < leastKills; round += 1) {
      await delay(1_200)
      await bots.kill(round % 2, round % 5 === 4 ? 'SIGTERM' : 'SIGKILL')
      const again = bots.start(round % 2)
      if (round % 2 === 1) proxy.reset()
      else for (let reply = 0; reply < 3; reply += 1) proxy.loseNextReply()
      if (round % 5 === 3) {
        redisKills += 1
        await server.kill()
        await delay(700)
        await server.restart()
      }
      await again
    }
  }

  const requestingAll = requestAll()
  const approving = approveAll(() => !resting)
  await breakThings()
  await requestingAll
  const fired = await standIns.call('calm')
  await delay(1_000)
  const rested = await evidence.comeToRest(requests + Math.ceil(requests / movesPerKey) + evacuations, restMs)
  resting = true
  await Promise.all([approving, ...requesting])
  await delay(500)

  const secrets = [places.env.SLACK_BOT_TOKEN, places.env.SLACK_SIGNING_SECRET, places.env.INFRA_API_KEY, server.password]
  const result = {
    rested,
    seed,
    fired: { ...fired, ...proxy.fired, kills: bots.kills(), redisKills },
    records: await evidence.records(),
    genuine: (await evidence.records()).every(isGenuine),
    audit: await evidence.audit(),
    threads: await standIns.call('threads', channel),
    elasticIps: await standIns.call('elasticIps'),
    writes: await standIns.call('writes'),
    crashes: bots.crashes,
    log: bots.log,
    said: await standIns.call('saidWith', secrets),
    keys: await standIns.call('keys', 'chaos-', ada),
    reportedTooEarly: await standIns.call('reportedTooEarly'),
    secrets,
    to: places.to,
    seconds: (Date.now() - startedAt) / 1_000,
    approvers: [ben, chiara] as string[],
  }
  admin.disconnect()
  await bots.stop()
  standIns.stop()
  alerts.remove()
  await proxy.close()
  await server.stop()
  return result
}
