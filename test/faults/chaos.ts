import { setTimeout as delay } from 'node:timers/promises'
import { policyInFile } from '../journeys/policy-in-file.ts'
import { ops, people } from '../journeys/world.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import type { FaultPlan } from '../sandbox/slack/slack.ts'
import type { AblationName } from './ablations.ts'
import { saidWith } from './evidence.ts'
import { places } from './many-elastic-ips.ts'
import { type Scene, startScene } from './scene.ts'

export interface ChaosOptions {
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
  /** The answers to the creation of the first so many keys are lost, also after the other faults have ended. Default: 0. */
  keysLost?: number
}

const movesPerKey = 15
/** Alerts propose this many of the evacuations. People request the others. */
const mostByAlerts = 2
/** More than an evacuation sends at once. */
const addressesPerRack = 7

/** The probability, every 20 ms, that each of these is planned for the next call. */
const ofSlack: [chance: number, plan: FaultPlan][] = [
  [0.06, { method: 'chat.postMessage', kind: 'drop-after' }],
  [0.03, { method: 'chat.postMessage', kind: 'drop-before' }],
  [0.06, { method: 'chat.update', kind: 'drop-after' }],
  [0.02, { method: 'chat.postMessage', kind: 'status' }],
  [0.01, { method: 'chat.postMessage', kind: '429' }],
  [0.02, { method: 'response_url', kind: 'drop-after' }],
  [0.02, { method: 'response_url', kind: 'status', status: 404 }],
  [0.01, { method: 'chat.postEphemeral', kind: 'drop-before' }],
]
const keyLoss = { method: 'POST', kind: 'drop-after' } as const
const ofAccount: [chance: number, order: FaultOrder][] = [
  [0.04, { method: 'PATCH', kind: 'drop-after' }],
  [0.02, { method: 'PATCH', kind: 'drop-before' }],
  [0.02, { method: 'PATCH', kind: 'status', status: 500, applied: true }],
  [0.03, { method: 'GET', kind: 'status', status: 502 }],
  [0.005, keyLoss],
  [0.003, { method: 'POST', kind: 'html' }],
  [0.005, { method: 'DELETE', kind: 'drop-before' }],
]

/**
 * Runs two real bots over a real Redis with an append-only file, while processes and Redis are killed, connections break and answers are
 * lost. Returns the evidence for the invariants.
 */
export async function runChaos(options: ChaosOptions) {
  const { requests, evacuations = Math.ceil(requests / 20), faultsMs, leastKills = 0, seed, restMs = 60_000, ablation } = options
  const scene = await startScene({
    bots: 2,
    elasticIps: requests,
    onRacks: Array(evacuations).fill(addressesPerRack),
    moveTakes: { min: 1_000, max: 8_000 },
    env: { POLICY_FILE: policyInFile(policy), ALERTS_PORT: '0', ALERTS_TOKEN: alertsToken },
    ablation,
    keepAnswers: false,
  })
  const { slack, accountApi, bots, proxy, redis, evidence } = scene
  const faults = planFaults(scene, seed, options.keysLost ?? 0)
  const startedAt = Date.now()
  // On a busy machine, a rare write comes late.
  const isFaulty = () => Date.now() - startedAt < faultsMs * (faults.isUnused() ? 4 : 1)
  const cardTexts = () => slack.texts(ops).filter(({ isBot }) => isBot)
  const cardsThatSay = (fits: RegExp) => cardTexts().flatMap(({ text, ts }) => (fits.test(text) ? [ts] : []))
  const addresses = accountApi.world.elasticIps().map(({ address }) => address)
  let redisKills = 0
  let resting = false
  const requesting: Promise<void>[] = []
  /** The marks of all posted cards. They are read once for all commands, because reading takes longer the more cards there are. */
  let named = new Set<string>()

  /** What this person does next reaches this bot. */
  function at(bot: number, person: string) {
    slack.connectBot(bots.url(bot))
    return slack.as(person)
  }

  async function requestAll(): Promise<void> {
    for (let index = 0; index < requests; index += 1) {
      const address = addresses[index] ?? ''
      requesting.push(requestOne(`ip move ${address} ${places.to}`, address, index))
      if (index % movesPerKey === 0) requesting.push(requestOne(`keys create chaos-${index}`, `chaos-${index}`, index))
      const rack = Math.floor((index * evacuations) / requests)
      if (rack !== Math.floor(((index - 1) * evacuations) / requests))
        requesting.push(rack < mostByAlerts ? repeatAlert(rack) : requestOne(`evacuate rack-${rack} ${places.to}`, `rack-${rack}`, index))
      await delay(faultsMs / (requests * 1.3))
    }
  }

  async function requestOne(words: string, mark: string, index: number): Promise<void> {
    // On a busy machine, what is tried again at once only makes it busier.
    for (let attempt = 0; !resting; attempt += 1) {
      await at(index + attempt, people.ada).command(`/infra ${words}`, { channel: ops })
      await delay(2_500 * (1 + attempt / 2))
      if (named.has(mark)) return
    }
  }

  /** Delivers an alert to both bots again and again, as two Alertmanagers do. */
  async function repeatAlert(rack: number): Promise<void> {
    while (!resting) {
      await Promise.all([0, 1].map((bot) => deliverAlert(bots.alertsUrl(bot), rack)))
      await delay(1_000)
    }
  }

  async function pressAll(): Promise<void> {
    const pressed = new Map<string, { at: number; times: number }>()
    // On a busy machine, what is pressed again at once only makes it busier.
    const isTooEarly = (mark: string, pauseMs: number) => {
      const { at, times } = pressed.get(mark) ?? { at: 0, times: 0 }
      if (Date.now() - at < pauseMs * (1 + times / 2)) return true
      pressed.set(mark, { at: Date.now(), times: times + 1 })
      return false
    }
    const press = (bot: number, person: string, ts: string, button: string) =>
      void at(bot, person)
        .click({ channel: ops, ts }, button)
        .catch(() => undefined)
    while (!resting) {
      named = new Set(cardTexts().flatMap(({ text }) => text.match(/\b\d+(?:\.\d+){3}|\b(?:chaos|rack)-\d+/g) ?? []))
      for (const ts of cardsThatSay(/needs approval from/)) {
        if (isTooEarly(ts, 1_500)) continue
        const others = pressed.size
        press(others, people.ben, ts, 'Approve')
        if (others % 3 === 0) press(others + 1, people.chiara, ts, 'Approve')
      }
      for (const ts of cardsThatSay(/^(?=.*chaos-\d).*\*Approved\.\*/s))
        if (!isTooEarly(`take ${ts}`, 2_500)) press(pressed.size, people.ada, ts, 'Create key')
      await delay(200)
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
        await redis.kill()
        await delay(700)
        await redis.restart()
      }
      await again
    }
  }

  const requestingAll = requestAll()
  const pressing = pressAll()
  await breakThings()
  await requestingAll
  const fired = faults.calm()
  await delay(1_000)
  const all = requests + Math.ceil(requests / movesPerKey) + evacuations
  const rested = await evidence.comeToRest(all, restMs)
  if (!rested) console.log(JSON.stringify(await evidence.unrest(all)), bots.log.slice(-100).join('\n'))
  resting = true
  await Promise.all([pressing, ...requesting])
  await delay(500)

  const { data, issuedTokens } = accountApi.world
  const created = accountApi.journal.writes().filter(({ method }) => method === 'POST')
  const keys = {
    live: data.apiKeys.filter(({ name }) => name.startsWith('chaos-')).map(({ name, token }) => ({ name, token })),
    issued: issuedTokens,
    shown: JSON.stringify(slack.ephemerals(people.ada).map(({ blocks }) => blocks)),
    made: created.map(({ body }) => (body as { data: { attributes: { name: string } } }).data.attributes.name),
    saidOpenly: saidWith(slack, issuedTokens, (method) => !['chat.postEphemeral', 'response_url'].includes(method)),
  }
  const run = await scene.gather(all, 5_000)
  return { ...run, rested, keys, seed, fired: { ...fired, ...proxy.fired, kills: bots.kills(), redisKills } }
}

/** Plans random faults, each by its chance. They are counted, because a fault that never happened proves nothing. */
function planFaults({ slack, accountApi }: Scene, seed: number, keysLost: number) {
  const random = createRandom(seed)
  const planned: { fired: () => number; name: string }[] = []
  const planOnSlack = (plan: FaultPlan) => {
    const fault = slack.faults.add(plan)
    planned.push({ name: `slack ${plan.method} ${plan.kind}`, fired: () => fault.fired })
  }
  const planOnAccount = (order: FaultOrder) => {
    const fault = accountApi.faults.add(order)
    planned.push({ name: `account ${order.method} ${order.kind}`, fired: () => fault.fired })
  }
  const losses = accountApi.faults.add({ ...keyLoss, times: keysLost })
  // Each of the account API once, because chance alone can miss a rare write.
  for (const [, order] of ofAccount) planOnAccount(order)
  const once = [...planned]
  const timer = setInterval(() => {
    for (const [chance, plan] of ofSlack) if (random() < chance) planOnSlack(plan)
    for (const [chance, order] of ofAccount) if (random() < chance) planOnAccount(order)
  }, 20)

  return {
    isUnused: () => once.some(({ fired }) => fired() === 0),
    calm(): Record<string, number> {
      clearInterval(timer)
      slack.faults.clear()
      accountApi.faults.clear()
      if (losses.fired < keysLost) accountApi.faults.add({ ...keyLoss, times: keysLost - losses.fired })
      const counts: Record<string, number> = {}
      for (const { name, fired } of planned) counts[name] = (counts[name] ?? 0) + fired()
      return counts
    },
  }
}

/** Mulberry32: the same numbers for the same seed. */
export function createRandom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const alertsToken = 'token-of-the-chaos-with-32-characters'
const approve = `approve: [${people.ben}, ${people.chiara}]`
const policy = `rules:
  - name: failover
    changes: ip.evacuate
    request: [alerts, everyone]
    ${approve}
  - name: everything
    ${approve}
alerts:
  - name: node down
    match: {alertname: NodeDown}
    server: instance
    to: {ASH: ${places.to}}
    channel: ${ops}
`

/** Delivers that a rack is down, as Alertmanager does. The bot may be away. */
async function deliverAlert(url: string, rack: number): Promise<void> {
  const labels = { alertname: 'NodeDown', instance: `rack-${rack}:9100` }
  const alert = { status: 'firing', labels, annotations: {}, startsAt: '2026-11-22T03:00:00Z', fingerprint: `${rack}`.padStart(16, '0') }
  const body = JSON.stringify({ version: '4', status: 'firing', receiver: 'lockkeeper', truncatedAlerts: 0, alerts: [alert] })
  const headers = { authorization: `Bearer ${alertsToken}`, 'content-type': 'application/json' }
  await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
}
