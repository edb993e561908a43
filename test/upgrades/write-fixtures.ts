import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Request } from '../../src/domain/request.ts'
import { openWorld } from '../journeys/open-world.ts'
import { openStoredRequests } from '../sandbox/breakages.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { accountElasticIps, accountKeys, envOf, evacuated, server, single, storedBy } from './scene.ts'
import { readStoredData } from './stored-data.ts'

// Writes the stored data of this version: the whole bot brings requests of each kind into each state, and all that it keeps is saved.

const release = process.argv[2] ?? '0.1'
const channel = 'C0OPS00001'
const hour = 3_600_000

const database = await startRedis()
const { slack, accountApi, ada, ben } = await openWorld(database.url, {
  env: { ...envOf(release), OPEN_REQUESTS_PER_PERSON: '50' },
  account: {
    key: accountKeys.key,
    data: { elasticIps: accountElasticIps, apiKeys: accountKeys.apiKeys },
    moveTakes: { min: hour, max: hour },
  },
  timings: { graceMs: 1_500, unsettledMs: 1_500, handoverMs: 5_000 },
})
const redis = new Redis(database.url)
const stored = openStoredRequests({ REDIS_URL: database.url, INFRA_API_KEY: accountApi.key, ...storedBy })

/** Resolves with what the reads of Redis show, once they show it. */
async function until<T>(read: () => Promise<T | undefined>, what: string): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(20)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`waited 30 s for ${what}`)
}

const untilState = (id: string, state: Request['state'], fits: (request: Request) => boolean = () => true) =>
  until(async () => (await stored.all()).find((request) => request.id === id && request.state === state && fits(request)), `${id} ${state}`)

const messageOf = ({ cardTs }: Request) => slack.messages(channel).find(({ ts }) => ts === cardTs)

/** Presses a button of a request once its message has it. */
async function press(hands: typeof ada, request: Request, button: string): Promise<void> {
  await slack.until(() => JSON.stringify(messageOf(request)?.blocks).includes(`"${button}"`), { what: button })
  await hands.click(messageOf(request) ?? '', button)
}

/** Requests a change, and approves it if it is to get into another state than *waiting*. */
async function request(command: string, state: Request['state'] = 'waiting', by = ada): Promise<Request> {
  const before = new Set((await stored.all()).map(({ id }) => id))
  await by.command(`/infra ${command}`, { channel })
  const made = await until(async () => (await stored.all()).find(({ id, cardTs }) => !before.has(id) && cardTs), command)
  if (state !== 'waiting') await press(ben, made, 'Approve')
  return state === 'waiting' || by === ben ? made : untilState(made.id, state)
}

const move = (index: number, state?: Request['state'], by = ada) => request(`ip move ${single[index]?.address} web-2`, state, by)
const movedElsewhere = (index: number) => accountApi.world.moveBehindOurBack(single[index]?.id ?? '', server('orders-db-1'))
const refuse = () => accountApi.faults.add({ method: 'PATCH', kind: 'status', status: 422, body: { errors: [{ code: 'x', detail: 'x' }] } })

async function moves(): Promise<void> {
  await move(0)
  await move(1, 'tracking')
  const stopped = await move(2, 'tracking')
  await press(ben, stopped, 'Stop tracking')
  await untilState(stopped.id, 'untracked')
  const rejected = await move(3)
  await press(ben, rejected, 'Reject')
  await slack.until(() => ben.openViews().length > 0, { what: 'the form for the reason' })
  await ben.fill(undefined, { Reason: 'not during the sale' })
  await ben.submit()
  await untilState(rejected.id, 'rejected')
  const withdrawn = await move(4)
  await press(ada, withdrawn, 'Withdraw')
  await untilState(withdrawn.id, 'withdrawn')
  const voided = await move(5)
  accountApi.world.moveBehindOurBack(single[5]?.id ?? '', server('web-3'))
  await press(ben, voided, 'Approve')
  await untilState(voided.id, 'voided')
  refuse()
  await move(6, 'failed')
  const superseded = await move(7, 'tracking')
  movedElsewhere(7)
  await untilState(superseded.id, 'superseded')
  const done = await move(8, 'tracking')
  accountApi.world.endMove(single[8]?.id ?? '')
  await untilState(done.id, 'done')
  const expired = await move(9)
  await stored.shiftTimes(expired, 5 * hour)
  await untilState(expired.id, 'expired')
  accountApi.faults.add({ method: 'PATCH', kind: 'drop-before' })
  await move(10, 'not-started')
}

async function otherKinds(): Promise<void> {
  await request('vm rename preview-1 preview-9')
  await request('vm rename preview-2 preview-8', 'done')
  await request('keys create approved-key', 'approved')
  const created = await request('keys create created-key', 'approved')
  await press(ada, created, 'Create key')
  await untilState(created.id, 'done')
  await request('keys rotate terraform')
  await request('keys revoke "laptop of ada"')
  await request('evacuate edge-ash-2 web-2')
  refuse()
  await request('evacuate web-3 web-2', 'tracking')
  accountApi.world.endMove(evacuated[1]?.id ?? '')
}

/** Ben approves his own request alone. */
async function emergency(): Promise<void> {
  const { id } = await move(15, 'tracking', ben)
  await ben.fill(await slack.until(() => ben.topView()), { Reason: 'The site is down', Confirm: 'I approve my own request' })
  await ben.submit()
  await untilState(id, 'tracking')
}

await moves()
await otherKinds()
await emergency()
// What is only there for a moment: approved and not sent, and sent without an answer.
const [unread, unanswered] = [await move(11), await move(12)]
accountApi.faults.add({ method: 'GET', path: `/elastic_ips/${single[11]?.id}`, kind: 'status', status: 503, times: 1_000 })
await press(ben, unread, 'Approve')
await untilState(unread.id, 'approved')
accountApi.faults.add({ method: 'PATCH', kind: 'hang' })
await press(ben, unanswered, 'Approve')
await untilState(unanswered.id, 'starting')
// A tick that was under way would be repeated only half a minute after the start of the next bot.
const data = await until(async () => {
  const read = await readStoredData(redis, storedBy.REDIS_PREFIX)
  return ':ticks:active' in read.keys ? undefined : read
}, 'a moment between two ticks')
// One key in a line, so that a difference shows which keys changed.
const lines = Object.entries(data.keys).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
const file = join(import.meta.dirname, release, 'redis.json')
await writeFile(file, `{\n"writtenAt": ${data.writtenAt},\n"keys": {\n${lines.join(',\n')}\n}\n}\n`)
process.stdout.write(`${lines.length} keys in ${file}\n`)
process.exit(0)
