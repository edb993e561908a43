import { openWorld, people, type World } from '../journeys/open-world.ts'
import { countRoundTrips } from '../journeys/round-trips.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { table } from './table.ts'

const channel = 'C0OPS00001'

interface Action {
  name: string
  mostReads: number
  mostSlackCalls: number
  /** What has to happen before. It does not count. */
  before: (world: World) => Promise<unknown>
  run: (world: World) => Promise<unknown>
}

const actions: Action[] = [
  {
    name: 'a request message, by ids',
    mostReads: 2,
    mostSlackCalls: 2,
    before: askForRights,
    run: (world) => requestMove(world, ({ elasticIp, target }) => `${elasticIp.id} ${target.id}`),
  },
  {
    name: 'a request message, by address and hostname',
    mostReads: 3,
    mostSlackCalls: 2,
    before: askForRights,
    run: (world) => requestMove(world, ({ elasticIp, target }) => `${elasticIp.address} ${target.hostname}`),
  },
  {
    name: 'the answer of `ip list`',
    mostReads: 1,
    mostSlackCalls: 1,
    before: askForRights,
    run: async ({ ada, slack }) => {
      await ada.command('/infra ip list', { channel })
      await slack.until(() => slack.ephemerals(people.ada).length > 1)
    },
  },
  {
    name: 'the write, after the approval',
    mostReads: 2,
    mostSlackCalls: 1,
    before: async (world) => {
      await requestMove(world, ({ elasticIp, target }) => `${elasticIp.id} ${target.id}`)
      await world.slack.until(() => world.slack.ephemerals(people.ada).length > 0)
    },
    run: async ({ ben, slack, accountApi }) => {
      const card = slack.messages(channel).find(({ isBot }) => isBot)
      if (!card) throw new Error('there is no request message')
      await ben.click(card, 'Approve')
      await slack.until(() => accountApi.journal.writes().length > 0)
    },
  },
]

/** Lets the bot read who the people are and what the channel is. It remembers that for a minute. */
async function askForRights({ ada, slack }: World): Promise<void> {
  await ada.command('/infra whoami', { channel })
  await slack.until(() => slack.ephemerals(people.ada).length > 0)
}

async function requestMove(
  { ada, slack, accountApi }: World,
  words: (pair: ReturnType<World['accountApi']['world']['movable']>) => string,
) {
  await ada.command(`/infra ip move ${words(accountApi.world.movable())}`, { channel })
  await slack.until(() => slack.messages(channel).some(({ isBot }) => isBot))
}

/** Counts what people wait for: reads of the account that wait for one another, and requests to Slack's Web API. It measures no time. */
export async function benchRoundTrips(): Promise<string> {
  // The Redis process does not keep this process alive.
  const alive = setInterval(() => {}, 1_000)
  const redis = await startRedis({ appendonly: true })
  const rows: string[][] = []
  for (const { name, mostReads, mostSlackCalls, before, run } of actions) {
    const world = await openWorld(redis.url, { env: { MOVE_POLL_INTERVAL: '60s', REDIS_PREFIX: `bench-${rows.length}` } })
    await before(world)
    const earlier = world.slack.journal.length
    const reads = await countRoundTrips(world.accountApi, () => run(world))
    // What Slack shows meanwhile keeps nobody waiting.
    const calls = world.slack.journal.slice(earlier).filter(({ method }) => method !== 'chat.update')
    rows.push([name, ...judged(reads, mostReads), ...judged(calls.length, mostSlackCalls)])
    await world.close()
  }
  await redis.stop()
  clearInterval(alive)
  return table(['until', 'reads', 'target', '', 'calls to Slack', 'target', ''], rows)
}

function judged(value: number, most: number): string[] {
  return [String(value), `≤ ${most}`, value <= most ? 'met' : 'missed']
}
