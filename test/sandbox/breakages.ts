import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { parseKeyName, writeKeyName } from '../../src/domain/account.ts'
import { holdOf, isOpen, payloadHash, type Request, resourcesOf } from '../../src/domain/request.ts'
import type { RequestSignatures } from '../../src/domain/request-signature.ts'
import type { Keyring } from '../../src/domain/signing.ts'
import type { FreezeRecord } from '../../src/record/freeze.ts'
import { createStore, encodeFields } from '../../src/record/store.ts'
import { createKeys, type Keys } from '../../src/redis/key-names.ts'
import { seal } from '../../src/redis/sealed.ts'
import type { TcpProxy } from '../faults/tcp-proxy.ts'
import { auditWriting, trusting } from '../given/audit.ts'
import { factsOf, keyringOfBot, signaturesOfBot } from '../given/signatures.ts'
import type { AccountApi } from './account-api/start-account-api.ts'
import type { Slack } from './slack/slack.ts'

interface Stored {
  redis: Redis
  keys: Keys
  signatures: RequestSignatures
}

/** Shifts the times of a request in Redis, as if this much time had passed since it was requested. */
export async function shiftRequest({ redis, keys, signatures }: Stored, request: Request, ms: number): Promise<void> {
  const { id, decidedAt, waits, startNow } = request
  const before = <At extends number | undefined>(at: At) => (at === undefined ? at : at - ms) as At
  const times = { createdAt: before(request.createdAt), expiresAt: before(request.expiresAt), start: before(request.start) }
  // The start is part of what was requested, so everything that people signed about it is signed again.
  const shifted = { ...request, ...times, hash: payloadHash({ ...request, ...times }) }
  const approvals = request.approvals.map((each) => signatures.signApproval(shifted, { ...each, at: before(each.at) }))
  const fields = {
    ...times,
    hash: shifted.hash,
    signature: signatures.signRequest(shifted),
    approvals,
    decision: request.decision && decidedBefore(signatures, { ...shifted, approvals }, before),
    decidedAt: before(decidedAt),
    startNow: startNow && signatures.signStartNow(shifted, { ...startNow, at: before(startNow.at) }),
    waits: waits && { ...waits, until: before(waits.until) },
    // Its message and its buttons name the new hash.
    revision: request.revision + 1,
  }
  await redis.hset(keys.record(id), encodeFields(fields))
  await redis.zadd(keys.outbox, 0, `${id}/card`)
  if ((await redis.zscore(keys.due, id)) !== null) await redis.zincrby(keys.due, -ms, id)
}

function decidedBefore(signatures: Stored['signatures'], request: Request, before: (at: number | undefined) => number | undefined) {
  const decision = { ...request.decision, via: request.decision?.via ?? '', at: before(request.decision?.at) }
  return decision.breakGlass ? signatures.signBreakGlass(request, decision) : signatures.signApproved(request, decision)
}

const timesIn = ['createdAt', 'setAt', 'since', 'from', 'to', 'until', 'end']

/** The fields of a record with its times earlier. */
function shiftTimes<Facts extends object>(facts: Facts, ms: number): Facts {
  const shifted = Object.entries(facts).map(([name, value]) => [name, timesIn.includes(name) && value ? value - ms : value])
  return Object.fromEntries(shifted)
}

/** Shifts the times of the freeze that people set, if they ever set one, and of the message about its end, in the same way. */
async function shiftFreeze({ redis, keys }: Pick<Stored, 'redis' | 'keys'>, keyring: Keyring, ms: number): Promise<void> {
  const text = await redis.get(keys.freeze)
  if (text === null) return
  const { next, replaced, ...record } = shiftTimes<FreezeRecord>(factsOf(text), ms)
  const more = { before: record.before.map((span) => shiftTimes(span, ms)), next: next && shiftTimes(next, ms) }
  await redis.set(keys.freeze, seal(keyring, 'freeze', { ...record, ...more, replaced: replaced && shiftTimes(replaced, ms) }))
  const owed = (await redis.zrange(keys.outbox, '0', '-1')).filter((each) => each.startsWith('freeze-'))
  for (const each of owed) await redis.zincrby(keys.outbox, -ms, each)
}

/** Shifts the ends of keys in Redis and in their names, and the keys themselves, as if this much time had passed since they were made. */
async function shiftKeys(
  { redis, keys }: Pick<Stored, 'redis' | 'keys'>,
  keyring: Keyring,
  { data }: AccountApi['world'],
  ms: number,
): Promise<number> {
  for (const [id, text] of Object.entries(await redis.hgetall(keys.keyEnds))) {
    const end = factsOf(text)
    const shifted = { ...end, ...shiftTimes(end, ms), replaces: end.replaces && shiftTimes(end.replaces, ms) }
    await redis.hset(keys.keyEnds, id, seal(keyring, 'key-end', shifted))
  }
  let count = 0
  for (const key of data.apiKeys) {
    const named = parseKeyName(key.name)
    if (named?.end === undefined) continue
    count += 1
    key.createdAt -= ms
    key.name = writeKeyName({ ...named, end: named.end - ms })
  }
  await redis.del(keys.repeated('key-ends'), keys.repeated('list-of-keys'))
  return count
}

interface BotVariables {
  REDIS_URL: string
  REDIS_PREFIX: string
  INFRA_API_KEY: string
  STATE_KEY?: string
}

/** Reads and changes the requests that a bot with these variables keeps in Redis. */
export function openStoredRequests(variables: BotVariables) {
  const redis = new Redis(variables.REDIS_URL, { maxRetriesPerRequest: null })
  const keys = createKeys(variables.REDIS_PREFIX)
  const store = createStore({ redis, keys, audit: auditWriting(() => ''), signatures: trusting })
  const signatures = signaturesOfBot(variables)

  async function all(): Promise<Request[]> {
    const names = await redis.keys(`${keys.recordPrefix}*`)
    const found = await store.findMany(names.map((name) => name.slice(keys.recordPrefix.length)))
    return found.sort((a, b) => b.createdAt - a.createdAt)
  }

  return {
    all,
    open: async () => (await all()).filter(({ state }) => isOpen(state)),

    shiftTimes: (request: Request, ms: number) => shiftRequest({ redis, keys, signatures }, request, ms),
    shiftFreeze: (ms: number) => shiftFreeze({ redis, keys }, keyringOfBot(variables, 'records'), ms),
    shiftKeys: (world: AccountApi['world'], ms: number) => shiftKeys({ redis, keys }, keyringOfBot(variables, 'records'), world, ms),
    isFrozen: async (): Promise<boolean> => {
      const { isOn = false, until = Number.POSITIVE_INFINITY } = factsOf((await redis.get(keys.freeze)) ?? '{}')
      return isOn && Date.now() < until
    },
    close: () => redis.disconnect(),
  }
}
export type StoredRequests = ReturnType<typeof openStoredRequests>

/** Something that a person can break on the page. A switch stays on until it is turned off, an act happens once. */
export type Breakage = {
  id: string
  name: string
  effect: string
} & (Switch | Act)

interface Switch {
  kind: 'switch'
  readonly isOn: boolean
  turn(on: boolean): Promise<string> | undefined
}

interface Act {
  kind: 'act'
  verb: string
  run(): Promise<string>
}

/** What switches change of the rules: how many people must approve, and whether with a passkey. */
export interface Rules {
  approvals: number
  confirmBy: 'passkey' | undefined
}

interface Around {
  slack: Pick<Slack, 'faults' | 'as' | 'workspace'>
  accountApi: Pick<AccountApi, 'faults' | 'journal' | 'limiter' | 'world'>
  requests: Pick<StoredRequests, 'open' | 'shiftTimes' | 'shiftFreeze' | 'shiftKeys' | 'isFrozen'>
  alerts: { url: string; token: string }
  machine: { url: string; token: string }
  /** Lets time pass for the policy, and restarts the bot. */
  passTime: (ms: number, shift: () => Promise<void>) => Promise<void>
  /** Changes the rules of the policy, and restarts the bot. */
  changeRules: (change: Partial<Rules>) => Promise<void>
  /** Trusts the newest passkey as an operator does on the server. Returns what that prints. */
  trustNewest: () => Promise<string>
  outage: ReturnType<typeof createOutage>
  startOver: () => Promise<void>
}

const outageMs = 60_000

/** Refuses the connections of the bot to Redis. It ends by itself. */
export function createOutage(proxy: Pick<TcpProxy, 'refuse' | 'heal'>) {
  let ends: NodeJS.Timeout | undefined
  function turn(on: boolean): void {
    clearTimeout(ends)
    ends = on ? setTimeout(turn, outageMs, false).unref() : undefined
    if (on) proxy.refuse()
    else proxy.heal()
  }
  return { turn, isOn: () => ends !== undefined }
}

const slowMs = 2_000
const skippedHours = 2
const always = Number.POSITIVE_INFINITY

/** Creates what people can break in the sandbox. Add the next one to this list. */
export function createBreakages(around: Around): Breakage[] {
  const { slack, accountApi } = around
  return [
    serverDown(around),
    switchOf('account-api-away', 'The account API is away', "All of Lockkeeper's requests to it fail.", (isOn) =>
      accountApi.faults.add({ kind: 'drop-before', times: always, when: isOn }),
    ),
    switchOf('slack-slow', 'Slack is slow', `Slack takes ${slowMs / 1000} seconds longer to answer Lockkeeper.`, (isOn) => {
      for (const method of ['*', 'response_url']) slack.faults.add({ method, kind: 'delay', delayMs: slowMs, times: always, when: isOn })
    }),
    {
      id: 'redis-away',
      name: 'Redis is away',
      effect: "Lockkeeper can't reach its database for a minute, or until you switch this off.",
      kind: 'switch',
      get isOn() {
        return around.outage.isOn()
      },
      turn: (on) => void around.outage.turn(on),
    },
    limitUsedUp(around),
    freeze(around),
    ruleSwitch(around, {
      id: 'two-approvals',
      name: 'Two people must approve',
      effect: 'Every change needs two approvals: those of Ben and Chiara. Lockkeeper restarts.',
      rules: (isOn) => ({ approvals: isOn ? 2 : 1 }),
      said: (isOn) => (isOn ? 'Ben and Chiara must both approve, also what waits for approval.' : 'One approval is enough again.'),
    }),
    ruleSwitch(around, {
      id: 'passkeys',
      name: 'Approvals need a passkey',
      effect: 'Every rule has “confirm: passkey”: a click in Slack is not enough to approve. Lockkeeper restarts.',
      rules: (isOn) => ({ confirmBy: isOn ? 'passkey' : undefined }),
      said: (isOn) =>
        isOn ? 'As Ben, type /infra passkeys and add one. Then request as Ada, and approve as Ben.' : 'A click is enough again.',
    }),
    {
      id: 'trust-passkey',
      name: 'An operator trusts a passkey',
      effect: 'Runs “npm run passkeys -- trust” with the code that the page of a new passkey shows, as an operator does on the server.',
      kind: 'act',
      verb: 'Trust it',
      run: around.trustNewest,
    },
    {
      id: 'moved-meanwhile',
      name: 'Someone else moves an address',
      effect: 'Moves an Elastic IP of the newest open request to a third server, without Lockkeeper.',
      kind: 'act',
      verb: 'Move it',
      run: () => moveMeanwhile(around),
    },
    {
      id: 'machine-asks',
      name: 'A CI job',
      effect: 'A CI job requests to move an Elastic IP of the project Storefront. Approve it as Ben or Chiara in #ops.',
      kind: 'act',
      verb: 'Request',
      run: () => askAsMachine(around),
    },
    {
      id: 'hours-later',
      name: 'Two hours later',
      effect:
        'Two hours pass, and Lockkeeper restarts. It reminds the approvers of an open request. After two more hours, the request expires.',
      kind: 'act',
      verb: 'Skip 2 hours',
      run: () => skipHours(around),
    },
    {
      id: 'days-later',
      name: 'Thirty days later',
      effect:
        'Thirty days pass, and Lockkeeper restarts. Within 20 seconds, it reminds the owner of a key for 35 days. After a second press, it deletes the key.',
      kind: 'act',
      verb: 'Skip 30 days',
      run: () => skipDays(around),
    },
    {
      id: 'start-over',
      name: 'Start over',
      effect: 'Resets the account, Slack, Redis and Lockkeeper.',
      kind: 'act',
      verb: 'Start over',
      run: async () => {
        // The page gets this answer first. It reloads when it is connected again.
        setTimeout(() => around.startOver().catch((error: Error) => process.stderr.write(`${error.message}\n`)), 200)
        return 'The sandbox starts over. This takes a few seconds.'
      },
    },
  ]
}

interface RuleSwitch {
  id: string
  name: string
  effect: string
  rules: (isOn: boolean) => Partial<Rules>
  said: (isOn: boolean) => string
}

function ruleSwitch({ changeRules }: Around, { rules, said, ...named }: RuleSwitch): Breakage {
  let isOn = false
  return {
    ...named,
    kind: 'switch',
    get isOn() {
      return isOn
    },
    async turn(on) {
      isOn = on
      await changeRules(rules(on))
      return said(on)
    },
  }
}

/** `plan` is called once, and receives the function that says whether the switch is on. */
function switchOf(id: string, name: string, effect: string, plan: (isOn: () => boolean) => unknown): Breakage {
  let on = false
  plan(() => on)
  const turn = (next: boolean) => {
    on = next
    return undefined
  }
  return {
    id,
    name,
    effect,
    kind: 'switch',
    get isOn() {
      return on
    },
    turn,
  }
}

const downHostname = 'web-1'

/** Puts web-1 off. Alertmanager reports it, and reports its end once the server is on again. */
function serverDown(around: Around): Breakage {
  const { world } = around.accountApi
  let downSince: Date | undefined

  async function turn(on: boolean): Promise<string> {
    const id = world.data.servers.find(({ hostname }) => hostname === downHostname)?.id ?? ''
    const startsAt = downSince ?? new Date()
    downSince = on ? startsAt : undefined
    if (on) await untilListed(around)
    if (on) world.killServer(id)
    else world.reviveServer(id)
    const refused = await sendAlert(around, startsAt, on ? undefined : new Date())
    const now = `${downHostname} is ${on ? 'off' : 'on again'}`
    if (refused) return `${now}, but Lockkeeper didn't accept the alert: ${refused}.`
    return on
      ? `${now}, and Alertmanager has sent its alert to Lockkeeper. See #ops.`
      : `${now}, and Alertmanager has told Lockkeeper that the alert resolved.`
  }

  return {
    id: 'server-down',
    name: `Server ${downHostname} goes down`,
    effect: `${downHostname} is off, its Elastic IPs show no server, and Alertmanager sends an alert.`,
    kind: 'switch',
    get isOn() {
      return downSince !== undefined
    },
    turn: (on) => (on === (downSince !== undefined) ? undefined : turn(on)),
  }
}

/** Waits for Lockkeeper's first list, 15 s after its start. A server that it never saw before it died has no addresses that it could find. */
async function untilListed({ accountApi: { journal } }: Around): Promise<void> {
  const deadline = Date.now() + 20_000
  const isList = ({ path, query }: { path: string; query: Record<string, string> }) =>
    path === '/elastic_ips' && !Object.keys(query).some((name) => name.startsWith('filter'))
  while (!journal.some(isList) && Date.now() < deadline) await delay(100)
}

/** Sends the alert about web-1 as Alertmanager does, once. Resolves with nothing if it was accepted, otherwise with why it was not. */
async function sendAlert({ alerts: { url, token } }: Around, startsAt: Date, endsAt?: Date): Promise<string | undefined> {
  const status = endsAt ? 'resolved' : 'firing'
  const labels = { alertname: 'NodeDown', instance: 'web-1:9100', severity: 'critical' }
  const annotations = { summary: 'web-1 has been down for 2 minutes' }
  const times = { startsAt: startsAt.toISOString(), endsAt: endsAt?.toISOString() ?? '0001-01-01T00:00:00Z' }
  const alerts = [{ status, labels, annotations, ...times, fingerprint: '8b13b0fa2923a800' }]
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Alertmanager/0.25.0', authorization: `Bearer ${token}` },
    body: JSON.stringify({ version: '4', status, truncatedAlerts: 0, alerts }),
  }).catch((error: Error) => error)
  if (answer instanceof Error) return answer.message
  return answer.ok ? undefined : `it answered ${answer.status}`
}

/** Requests a move as a CI job does. `skip`: how many addresses have an open request. */
async function askAsMachine(around: Around, skip = 0): Promise<string> {
  const { url, token } = around.machine
  const { elasticIp, target } = around.accountApi.world.movable(skip)
  const answer = await fetch(`${url}/v1/requests`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({
      change: 'ip.move',
      elastic_ip: elasticIp.address,
      server: target.id,
      reason: 'Deploy 42 needs the address',
      link: 'https://ci.example.com/jobs/42',
    }),
  }).catch((error: Error) => error)
  if (answer instanceof Error) return `Lockkeeper didn't answer: ${answer.message}.`
  if (answer.status === 409 && skip < 4) return askAsMachine(around, skip + 1)
  const { detail } = (await answer.json()) as { detail?: string }
  return answer.ok ? `The machine ci has requested to move ${elasticIp.address}. See #ops.` : `Lockkeeper refused: ${detail}`
}

function limitUsedUp({ accountApi: { limiter } }: Around): Breakage {
  return {
    id: 'limit-used-up',
    name: 'Another tool uses up the limit',
    effect: "For one minute, the account API refuses all reads and writes of Lockkeeper's key.",
    kind: 'switch',
    get isOn() {
      return limiter.usedByAnotherTool('read') + limiter.usedByAnotherTool('write') > 0
    },
    turn(on) {
      limiter.forgetAnotherTool()
      if (on) for (const kind of ['read', 'write'] as const) limiter.useByAnotherTool(kind)
      return undefined
    },
  }
}

async function moveMeanwhile({ accountApi: { world }, requests }: Around): Promise<string> {
  const [request] = (await requests.open()).filter(({ kind }) => kind === 'ip.move' || kind === 'ip.evacuate')
  if (!request) return 'No open request moves an address. Request a move or an evacuation first.'
  const ids = resourcesOf(request).map((resource) => resource.replace(/^elastic_ip:/, ''))
  // The last address of an evacuation is sent last, so that it can still be moved while the others are.
  const elasticIp = world.elasticIps().findLast(({ id }) => ids.includes(id))
  if (!elasticIp) return 'The account has none of the addresses of the newest open request.'
  const third = world.third(elasticIp.id)
  world.moveBehindOurBack(elasticIp.id, third.id)
  return `${elasticIp.address} is on ${third.hostname} now.`
}

async function skipHours({ requests, passTime }: Around): Promise<string> {
  const older = new Set<string>()
  let leftMs = skippedHours * 3_600_000
  while (leftMs > 0) {
    // What is due in between starts then: half an hour later, it would be missed.
    const dueInMs = (await requests.open()).map((request) => (holdOf(request)?.until ?? 0) - Date.now() + 1_000)
    const ms = Math.min(leftMs, ...dueInMs.filter((each) => each > 1_000))
    await passTime(ms, async () => {
      const unsent = (await requests.open()).filter(({ state }) => state === 'waiting' || state === 'approved')
      for (const request of unsent) await requests.shiftTimes(request, ms)
      await requests.shiftFreeze(ms)
      for (const { id } of unsent) older.add(id)
    })
    leftMs -= ms
    if (leftMs > 0) await untilStarted(requests)
  }
  const count = older.size
  return `For open requests and freezes, it is ${skippedHours} hours later. The clock stays. ${count === 0 ? 'No request was open.' : `Open requests that are older now: ${count}.`}`
}

const longestStartMs = 10_000

async function untilStarted(requests: Around['requests']): Promise<void> {
  const deadline = Date.now() + longestStartMs
  const isDue = (request: Request) => (holdOf(request)?.until ?? Number.POSITIVE_INFINITY) <= Date.now()
  while ((await requests.open()).some(isDue) && Date.now() < deadline) await delay(100)
}

async function skipDays({ accountApi, requests, passTime }: Around): Promise<string> {
  const ms = 30 * 24 * 3_600_000
  let count = 0
  await passTime(ms, async () => {
    for (const request of await requests.open()) await requests.shiftTimes(request, ms)
    await requests.shiftFreeze(ms)
    count = await requests.shiftKeys(accountApi.world, ms)
  })
  return `For requests, freezes and keys, it is 30 days later. The clock stays. ${count === 0 ? 'No key ends. Create one first, such as /infra keys create ci-deploy for 35d.' : `Keys that end: ${count}.`}`
}

const ben = 'U0BEN00001'
const opsChannel = 'C0OPS00001'

/** Ben, who is on call, freezes all changes, or lifts the freeze. */
function freeze({ slack, requests }: Around): Breakage {
  let isOn = false

  async function turn(on: boolean): Promise<string> {
    await slack.as(ben).command(on ? '/infra freeze because something looks wrong' : '/infra unfreeze', { channel: opsChannel })
    const deadline = Date.now() + 5_000
    do {
      await delay(100)
      isOn = await requests.isFrozen()
    } while (isOn !== on && Date.now() < deadline)
    if (isOn !== on) return `Lockkeeper didn't ${on ? 'freeze' : 'lift the freeze'}. Its answer to Ben says why.`
    return on ? 'Ben has frozen all changes. See #ops.' : 'Ben has lifted the freeze. Approved changes start now.'
  }

  return {
    id: 'freeze',
    name: 'Ben freezes all changes',
    effect: 'No change starts until Ben lifts the freeze. Meanwhile, “Approve” also offers an emergency approval.',
    kind: 'switch',
    get isOn() {
      // The page asks every two seconds, and somebody may have lifted the freeze in Slack.
      requests.isFrozen().then((now) => (isOn = now), String)
      return isOn
    },
    turn: (on) => (on === isOn ? undefined : turn(on)),
  }
}
