import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Request } from '../../src/domain/request.ts'
import { openWorld } from '../journeys/open-world.ts'
import { openStoredRequests } from '../sandbox/breakages.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { accountElasticIps, accountKeys, botEnv, evacuated, fixture, single, storedBy } from './scene.ts'
import { readStoredData } from './stored-data.ts'

// Writes the stored data of this version: the whole bot brings a request of each kind into each state from which it goes on, and what it keeps is
// saved.

const channel = 'C0OPS00001'
const hour = 3_600_000

const database = await startRedis()
const { slack, accountApi, ada, ben } = await openWorld(database.url, {
  env: { ...botEnv, OPEN_REQUESTS_PER_PERSON: '50' },
  account: {
    key: accountKeys.key,
    data: { elasticIps: accountElasticIps, apiKeys: accountKeys.apiKeys },
    moveTakes: { min: hour, max: hour },
  },
})
const stored = openStoredRequests({ REDIS_URL: database.url, INFRA_API_KEY: accountApi.key, ...storedBy })

/** Resolves with what the reads of Redis show, once they show it. */
async function until(fits: (request: Request) => boolean, what: string): Promise<Request> {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(20)) {
    const found = (await stored.all()).find(fits)
    if (found) return found
  }
  throw new Error(`waited 30 s for ${what}`)
}

const untilState = ({ id }: Request, state: Request['state']) => until((request) => request.id === id && request.state === state, state)

/** Presses a button of a request once its message has it. */
async function press(hands: typeof ada, { cardTs }: Request, button: string): Promise<void> {
  const message = () => slack.messages(channel).find(({ ts }) => ts === cardTs)
  await slack.until(() => JSON.stringify(message()?.blocks).includes(`"${button}"`), { what: button })
  await hands.click(message() as Message, button)
}

/** Requests a change, and approves it if it is to get into another state than *waiting*. */
async function request(command: string, state: Request['state'] = 'waiting'): Promise<Request> {
  const before = new Set((await stored.all()).map(({ id }) => id))
  await ada.command(`/infra ${command}`, { channel })
  const made = await until(({ id, cardTs, parent }) => !before.has(id) && cardTs !== undefined && parent === undefined, command)
  if (state === 'waiting') return made
  await press(ben, made, 'Approve')
  return untilState(made, state)
}

const move = (index: number, state?: Request['state']) => request(`ip move ${single[index]?.address} web-2`, state)

await move(0)
await move(1, 'tracking')
await request('vm rename preview-1 preview-9')
await request('vm rename preview-2 preview-8', 'done')
await request('keys create approved-key', 'approved')
await request('keys rotate terraform')
await request('keys revoke "laptop of ada"')
await request('evacuate edge-ash-2 web-2')
accountApi.faults.add({ method: 'PATCH', kind: 'status', status: 422, body: { errors: [{ code: 'x', detail: 'x' }] } })
await request('evacuate web-3 web-2', 'tracking')
accountApi.world.endMove(evacuated[1]?.id ?? '')

// Ben approves his own request alone.
const before = new Set((await stored.all()).map(({ id }) => id))
await ben.command(`/infra ip move ${single[2]?.address} web-2`, { channel })
const own = await until(({ id, cardTs }) => !before.has(id) && cardTs !== undefined, 'the request of an emergency')
await press(ben, own, 'Approve')
await ben.fill(await slack.until(() => ben.topView()), { Reason: 'The site is down', Confirm: 'I approve my own request' })
await ben.submit()
await untilState(own, 'tracking')

// What is only there for a moment: approved and not sent, and sent without an answer.
const [unread, unanswered] = [await move(3), await move(4)]
accountApi.faults.add({ method: 'GET', path: `/elastic_ips/${single[3]?.id}`, kind: 'status', status: 503, times: 1_000 })
await press(ben, unread, 'Approve')
await untilState(unread, 'approved')
accountApi.faults.add({ method: 'PATCH', kind: 'hang' })
await press(ben, unanswered, 'Approve')
await untilState(unanswered, 'starting')

const data = await readStoredData(new Redis(database.url), storedBy.REDIS_PREFIX)
// One key in a line, so that a difference shows which keys changed.
const lines = Object.entries(data.keys).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
await writeFile(fixture, `{\n"writtenAt": ${data.writtenAt},\n"keys": {\n${lines.join(',\n')}\n}\n}\n`)
process.stdout.write(`${lines.length} keys in ${fixture}\n`)
process.exit(0)
