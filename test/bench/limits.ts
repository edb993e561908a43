import { setTimeout as delay } from 'node:timers/promises'
import { manyElasticIps, places, racks } from '../faults/many-elastic-ips.ts'
import { openWorld, type World } from '../journeys/open-world.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import type { Message, Slack } from '../sandbox/slack/slack.ts'
import { type Effort, fixed, judged, table, withRedis } from './measure.ts'

const channel = 'C0OPS00001'
const shipped = { INFRA_READS_PER_MINUTE: '60', INFRA_WRITES_PER_MINUTE: '20', MOVE_POLL_BUDGET: '20', MOVE_POLL_INTERVAL: '3s' }

/** Seconds in which the account's limit alone lets 50 writes through: 20 in each minute. */
const floorOf50 = 120

export async function benchLimits({ quick }: Effort): Promise<string> {
  const [large, small, alone, shared] = await withRedis(({ url }) =>
    Promise.all([quick ? undefined : evacuate(url, 50), evacuate(url, 14), reports(url, 1, quick), reports(url, 2, quick)]),
  )
  const evacuations = [...(large ? [{ of: 50, most: floorOf50 * 1.1, ...large }] : []), { of: 14, most: 20, ...small }]
  const refused = [large, small, alone, shared].reduce((sum, one) => sum + (one?.refused ?? 0), 0)
  const mostReads = Math.max(alone.mostReads, shared.mostReads)
  const rows = [
    ...evacuations.flatMap(({ of, most, seconds, requests, looks }) => [
      [`an evacuation of ${of}: seconds to its last write`, fixed(seconds, 1), ...judged(seconds, most)],
      [`… requests, without ${looks} looks`, `${requests}`, ...judged(requests, of === 14 ? 18 : of + 6)],
    ]),
    ['one to five moves, one process: reported after the end, p99, ms', fixed(alone.p99, 0), ...judged(alone.p99, 4_000)],
    ['… two processes', fixed(shared.p99, 0), ...judged(shared.p99, 4_000)],
    ['… the most reads in any minute', `${mostReads}`, ...judged(mostReads, 60)],
    ['429, in all of it', `${refused}`, ...judged(refused, 0)],
  ]
  return table(['60 reads and 20 writes a minute', 'Lockkeeper', 'target', ''], rows)
}

const refusedBy = ({ accountApi: { limiter } }: World) => limiter.refused('read') + limiter.refused('write')

/** Requests a change, and returns its message. */
export async function requested({ ada, slack }: World, words: string): Promise<Message> {
  const asking = () => slack.messages(channel).findLast(({ isBot, text }) => isBot && /needs approval from/.test(text))
  await ada.command(`/infra ${words}`, { channel })
  return slack.until(asking, { what: words })
}

async function approved(world: World, words: string): Promise<void> {
  await world.ben.click(await requested(world, words), 'Approve')
}

async function evacuate(redisUrl: string, count: number) {
  const { servers, elasticIps } = racks([count])
  const world = await openWorld(redisUrl, {
    account: { data: { servers, elasticIps }, limits: documentedLimits, moveTakes: { min: 20_000, max: 20_000 } },
    env: { ...shipped, REDIS_PREFIX: `bench-evacuate-${count}` },
  })
  const { journal } = world.accountApi
  await approved(world, `evacuate rack-0 ${places.to}`)
  const startedAt = Date.now()
  const from = journal.length
  const writes = () => journal.filter(({ method, refused }) => method === 'PATCH' && !refused)
  while (writes().length < count && Date.now() - startedAt < 200_000) await delay(100)
  const seconds = (Number(writes().at(-1)?.time) - startedAt) / 1_000
  // A look reads the list of Elastic IPs; the checks before writes read it together with the target.
  const checks = journal.slice(from).filter(({ path }) => path.startsWith('/servers/')).length
  const lists = journal.slice(from).filter(({ method, path }) => method === 'GET' && path === '/elastic_ips').length
  const result = { seconds, requests: writes().length + 2 * checks, looks: Math.max(0, lists - checks), refused: refusedBy(world) }
  await world.close()
  return result
}

/** Moves one to five addresses at once, again and again. */
async function reports(redisUrl: string, replicas: number, isQuick: boolean) {
  const [rounds, takes] = isQuick ? [1, { min: 500, max: 500 }] : [3, { min: 15_000, max: 40_000 }]
  const elasticIps = manyElasticIps(5 * rounds)
  const world = await openWorld(redisUrl, {
    account: { data: { elasticIps }, limits: documentedLimits, moveTakes: takes },
    env: { ...shipped, REDIS_PREFIX: `bench-reports-${replicas}` },
    replicas,
  })
  const { slack, accountApi } = world
  const endsAt = new Map<string, number>()
  const afterMs = watchReports(slack, endsAt)
  const starting = setInterval(() => {
    for (const { address, move } of accountApi.world.data.elasticIps) if (move) endsAt.set(address, move.endsAt)
  }, 100)
  for (let round = 0; round < rounds; round += 1) {
    const some = elasticIps.slice(round * 5, round * 5 + (round === 0 ? 1 : 5))
    const before = afterMs.length
    for (const { id } of some) await approved(world, `ip move ${id} ${places.to}`)
    const until = Date.now() + 90_000
    while (afterMs.length - before < some.length && Date.now() < until) await delay(100)
  }
  clearInterval(starting)
  const result = { p99: Math.max(...afterMs), mostReads: accountApi.limiter.most('read'), refused: refusedBy(world) }
  await world.close()
  return result
}

/** Returns how long after its end each of these addresses was first shown as done, in ms. It grows with each of them. */
export function watchReports(slack: Slack, endsAt: Map<string, number>): number[] {
  const afterMs: number[] = []
  const shown = new Set<string>()
  let read = 0
  slack.subscribe(() => {
    for (; read < slack.journal.length; read += 1) {
      const { method, args } = slack.journal[read] ?? {}
      const [, address = ''] = /\*Done.*?(198\.18\.\d+\.\d+)/s.exec(String(args?.text ?? '')) ?? []
      const end = endsAt.get(address)
      // The request message of a move that ended early says it, too.
      if (method !== 'chat.postMessage' || end === undefined || shown.has(address)) continue
      shown.add(address)
      afterMs.push(Date.now() - end)
    }
  })
  return afterMs
}
