import { setTimeout as delay } from 'node:timers/promises'
import { racks } from '../faults/many-elastic-ips.ts'
import { openWorld, people, type World } from '../journeys/open-world.ts'
import { elasticIps } from '../sandbox/account-api/data.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import { requested } from './limits.ts'
import { judged, table, withRedis } from './measure.ts'

const channel = 'C0OPS00001'

interface Step {
  name: string
  mostReads: number
  run: (world: World) => Promise<unknown>
}

const scenarios: Step[][] = [
  [
    { name: '`ip list`', mostReads: 1, run: (world) => list(world, 'ip list') },
    { name: '`ip list` again, within 10 s', mostReads: 0, run: (world) => list(world, 'ip list') },
  ],
  [{ name: '`servers`, with their addresses', mostReads: 2, run: (world) => list(world, 'servers') }],
  [{ name: '`ip list` by three people at once', mostReads: 1, run: (world) => list(world, 'ip list', ['ada', 'ben', 'chiara']) }],
  [
    { name: 'a move by ids: request', mostReads: 2, run: (world) => requested(world, moveOf(world, 'id')) },
    { name: 'a move by ids: from the approval to the write', mostReads: 2, run: approve },
  ],
  [
    { name: 'a move by names: request', mostReads: 3, run: (world) => requested(world, moveOf(world, 'name')) },
    { name: 'a move by names: from the approval to the write', mostReads: 2, run: approve },
  ],
  [
    { name: 'an evacuation of 14 addresses: request', mostReads: 4, run: (world) => requested(world, 'evacuate rack-0 web-2') },
    { name: 'an evacuation of 14 addresses: from the approval to the last write', mostReads: 2, run: approve },
  ],
]

async function list({ slack }: World, words: string, by: (keyof typeof people)[] = ['ada']): Promise<void> {
  const shown = () => by.map((name) => slack.ephemerals(people[name]).length)
  const before = shown()
  await Promise.all(by.map((name) => slack.as(people[name]).command(`/infra ${words}`, { channel })))
  await slack.until(() => shown().every((count, index) => count > (before[index] ?? 0)), { what: words })
}

function moveOf({ accountApi }: World, by: 'id' | 'name'): string {
  const { elasticIp, target } = accountApi.world.movable()
  return by === 'id' ? `ip move ${elasticIp.id} ${target.id}` : `ip move ${elasticIp.address} ${target.hostname}`
}

const requestMessage = ({ slack }: World) => slack.messages(channel).find(({ isBot, text }) => isBot && /needs approval from/.test(text))

async function approve(world: World): Promise<void> {
  const { accountApi, ben } = world
  const message = requestMessage(world)
  if (!message) throw new Error('there is no request message')
  const writes = message.text.includes('Evacuate') ? 14 : 1
  await ben.click(message, 'Approve')
  const until = Date.now() + 30_000
  while (accountApi.journal.writes().length < writes && Date.now() < until) await delay(50)
  if (accountApi.journal.writes().length < writes) throw new Error(`${accountApi.journal.writes().length} of ${writes} writes were sent`)
}

/** Counts what is sent to an account that enforces its documented limits, and has fewer servers and Elastic IPs than fill a page. */
export const benchRequests = () => withRedis(({ url }) => count(url))

async function count(redisUrl: string): Promise<string> {
  const { servers, elasticIps: onRack } = racks([14])
  const projectId = onRack[0]?.projectId
  const rows: string[][] = []
  for (const [index, steps] of scenarios.entries()) {
    const data = { servers: servers.filter((server) => server.projectId === projectId), elasticIps: [...elasticIps.slice(0, 4), ...onRack] }
    const world = await openWorld(redisUrl, {
      account: { data: structuredClone(data), limits: documentedLimits, moveTakes: { min: 60_000, max: 60_000 } },
      env: { MOVE_POLL_INTERVAL: '60s', REDIS_PREFIX: `bench-${index}` },
    })
    const { journal } = world.accountApi
    for (const { name, mostReads, run } of steps) {
      const before = journal.length
      await run(world)
      // What is sent after the last write belongs to the tracking.
      if (run !== approve) await delay(300)
      const sent = journal.slice(before, run === approve ? journal.findLastIndex(({ method }) => method !== 'GET') + 1 : undefined)
      const reads = sent.filter(({ method }) => method === 'GET').length
      rows.push([
        name,
        `${reads}`,
        ...judged(reads, mostReads),
        `${sent.length - reads}`,
        `${sent.filter(({ refused }) => refused).length}`,
      ])
    }
    await world.close()
  }
  return table(['', 'reads', 'target', '', 'writes', 'refused'], rows)
}
