import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Request } from '../../src/domain/request.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { delivery, post } from '../journeys/alert-deliveries.ts'
import { openWorld } from '../journeys/open-world.ts'
import { auditWriting, noteOf } from '../requests/audit-for-test.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { openStoredRequests } from '../sandbox/stored-requests.ts'
import { accountElasticIps, accountKeys, elsewhere, envOf, evacuation, nodeDown, oweNotice, server, single, storedBy } from './scene.ts'
import { readStoredData } from './stored-data.ts'

// Writes the stored data of this version: the whole bot brings requests of each kind into each state, and all that it keeps is saved.

const release = '0.1'
const file = join(import.meta.dirname, release, 'redis.json')
const ops = 'C0OPS00001'
const hour = 3_600_000

const database = await startRedis()
const world = await openWorld(database.url, {
  env: { ...envOf(release), OPEN_REQUESTS_PER_PERSON: '50' },
  account: {
    key: accountKeys.key,
    data: { elasticIps: accountElasticIps, apiKeys: accountKeys.apiKeys },
    moveTakes: { min: hour, max: hour },
  },
  timings: { graceMs: 1_500, unsettledMs: 1_500, handoverMs: 5_000 },
})
const { slack, accountApi, ada, ben } = world
const redis = new Redis(database.url)
const store = createStore({ redis, keys: createKeys(storedBy.REDIS_PREFIX), audit: auditWriting(() => '{}'), noteOf })
const stored = openStoredRequests({ REDIS_URL: database.url, INFRA_API_KEY: accountApi.key, ...storedBy })
const seen = new Set<string>()

/** Requests a change, and returns its id and its message. */
async function request(command: string, by = ada) {
  await by.command(`/infra ${command}`, { channel: ops })
  return newRequest(command)
}

/** Waits for a request that was not there before. */
async function newRequest(command: string) {
  const card = await slack.until(() => slack.messages(ops).find(({ ts, text }) => !seen.has(ts) && /needs approval from/.test(text)), {
    what: `the message of ${command}`,
  })
  seen.add(card.ts)
  const found = await until(async () => (await stored.open()).find(({ cardTs }) => cardTs === card.ts), command)
  return { id: found.id, card, record: found }
}

const cardNow = ({ ts }: { ts: string }) => {
  const found = slack.messages(ops).find((message) => message.ts === ts)
  if (!found) throw new Error('the message is gone')
  return found
}

/** Resolves with what the reads of Redis show, once they show it. */
async function until<T>(read: () => Promise<T | undefined>, what: string): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(20)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`waited 30 s for ${what}`)
}

function untilState(id: string, state: Request['state'], fits: (request: Request) => boolean = () => true): Promise<Request> {
  const read = async () => {
    const found = await store.find(id)
    return found?.state === state && fits(found) ? found : undefined
  }
  return until(read, `${id} ${state}`)
}

const move = (index: number) => request(`ip move ${single[index]?.address} web-2`)

/** Requests a move, approves it, and waits for a state. */
async function approvedMove(index: number, state: Request['state']) {
  const requested = await move(index)
  await ben.click(requested.card, 'Approve')
  await untilState(requested.id, state)
  return requested
}

async function approved(command: string, state: Request['state']) {
  const requested = await request(command)
  await ben.click(requested.card, 'Approve')
  await untilState(requested.id, state)
  return requested
}

async function moves() {
  await move(0)
  await approvedMove(1, 'tracking')
  const stopped = await approvedMove(2, 'tracking')
  await slack.until(() => /\*Moving\*/.test(cardNow(stopped.card).text))
  await ben.click(cardNow(stopped.card), 'Stop tracking')
  await untilState(stopped.id, 'untracked')
  const rejected = await move(3)
  await ben.click(rejected.card, 'Reject')
  await slack.until(() => ben.openViews().length > 0, { what: 'the form for the reason' })
  await ben.fill(undefined, { Reason: 'not during the sale' })
  await ben.submit()
  await untilState(rejected.id, 'rejected')
  const withdrawn = await move(4)
  await ada.click(withdrawn.card, 'Withdraw')
  await untilState(withdrawn.id, 'withdrawn')
  const voided = await move(5)
  assign(5, server('web-3'))
  await ben.click(voided.card, 'Approve')
  await untilState(voided.id, 'voided')
  accountApi.faults.add({
    method: 'PATCH',
    kind: 'status',
    status: 422,
    body: { errors: [{ code: 'x', detail: 'refused', status: '422' }] },
  })
  await approvedMove(6, 'failed')
  const superseded = await approvedMove(7, 'tracking')
  assign(7, elsewhere)
  await untilState(superseded.id, 'superseded')
  const done = await approvedMove(8, 'tracking')
  accountApi.world.endMove(single[8]?.id ?? '')
  await untilState(done.id, 'done')
  const expired = await move(9)
  await stored.shiftTimes(expired.record, 5 * hour)
  await untilState(expired.id, 'expired')
  accountApi.faults.add({ method: 'PATCH', kind: 'drop-before' })
  await approvedMove(10, 'not-started')
  await approvedMove(14, 'tracking')
}

/** Ends a move on a server, as somebody in the dashboard would. */
function assign(index: number, serverId: string): void {
  accountApi.world.moveBehindOurBack(single[index]?.id ?? '', serverId)
}

async function otherKinds() {
  await request('vm rename preview-1 preview-9')
  await approved('vm rename preview-2 preview-8', 'done')
  await request('keys create waiting-key')
  await approved('keys create approved-key', 'approved')
  const created = await approved('keys create created-key', 'approved')
  await slack.until(() => /\*Approved\.\*/.test(cardNow(created.card).text))
  await ada.click(cardNow(created.card), 'Create key')
  await untilState(created.id, 'done')
  await request('keys rotate terraform')
  await request('keys revoke "laptop of ada"')
  await approved('keys revoke "grafana read"', 'done')
}

async function evacuations() {
  await request('evacuate edge-ash-2 web-2')
  accountApi.faults.add({
    method: 'PATCH',
    kind: 'status',
    status: 422,
    body: { errors: [{ code: 'x', detail: 'refused', status: '422' }] },
  })
  accountApi.faults.add({ method: 'PATCH', kind: 'drop-before' })
  const begun = await approved('evacuate web-3 web-2', 'tracking')
  const inState = ({ items = [] }: Request, state: string) => items.filter((item) => item.state === state)
  const record = await untilState(
    begun.id,
    'tracking',
    (now) => inState(now, 'tracking').length >= 4 && inState(now, 'not-started').length === 1,
  )
  const [first, second] = inState(record, 'tracking')
  accountApi.world.endMove(first?.id ?? '')
  accountApi.world.moveBehindOurBack(second?.id ?? '', elsewhere)
  await untilState(begun.id, 'tracking', (record) => inState(record, 'done').length === 1 && inState(record, 'superseded').length === 1)
}

/** Ben approves his own request alone. */
async function emergency() {
  const requested = await request(`ip move ${single[15]?.address} web-2`, ben)
  await ben.click(requested.card, 'Approve')
  const form = await slack.until(() => ben.topView(), { what: 'the form for the emergency' })
  await ben.fill(form, { Reason: 'The site is down', Confirm: 'I approve my own request' })
  await ben.submit()
  await untilState(requested.id, 'tracking')
}

/** An alert requests an evacuation, which nobody has decided yet. */
async function alerts() {
  const status = await post(world.bots[0] ?? {}, JSON.stringify(delivery([nodeDown])))
  if (status !== 200) throw new Error(`the alert got ${status}`)
  await newRequest('the alert')
}

/** What is only there for a moment: approved and not sent, sent without an answer, and a report that Slack does not take. */
async function moments() {
  slack.faults.add({ method: 'chat.postMessage', kind: 'error', error: 'internal_error', times: 1_000 })
  accountApi.world.endMove(single[1]?.id ?? '')
  accountApi.faults.add({ method: 'GET', path: `/elastic_ips/${single[11]?.id}`, kind: 'status', status: 503, times: 1_000 })
}

await moves()
await otherKinds()
await evacuations()
await emergency()
await alerts()
const halfSent = await request('evacuate legacy-cart-1 web-2')
const unread = await move(11)
const unanswered = await move(12)
await move(13)
await moments()
await ben.click(unread.card, 'Approve')
await untilState(unread.id, 'approved')
accountApi.faults.add({ method: 'PATCH', kind: 'late', delayMs: hour, times: 2 })
await ben.click(halfSent.card, 'Approve')
await untilState(halfSent.id, 'tracking', ({ items = [] }) => items.every(({ state }) => state === 'starting'))
accountApi.faults.add({ method: 'PATCH', kind: 'hang' })
await ben.click(unanswered.card, 'Approve')
await untilState(unanswered.id, 'starting')
await oweNotice(redis)
// A tick that was under way would be repeated only half a minute after the start of the next bot.
const data = await until(async () => {
  const read = await readStoredData(redis, storedBy.REDIS_PREFIX)
  return ':ticks:active' in read.keys ? undefined : read
}, 'a moment between two ticks')
// One key in a line, so that a difference shows which keys changed.
const lines = Object.entries(data.keys).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
await writeFile(file, `{\n"writtenAt": ${data.writtenAt},\n"keys": {\n${lines.join(',\n')}\n}\n}\n`)
process.stdout.write(`${Object.keys(data.keys).length} keys in ${file}, ${evacuation.length} items in an evacuation.\n`)
process.exit(0)
