import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { elasticIps, servers } from '../sandbox/account-api/data.ts'
import { addresses } from './evacuations.ts'
import { openRecords } from './records.ts'
import { type AccountApi, forgetLists, ops, people, startWorld, untilCard, untilShown, type World, type WorldOptions } from './world.ts'

/** Starts a world with fewer servers and Elastic IPs than fill a page, whose lists nobody has read. */
async function startSmall(options: WorldOptions = {}) {
  const few = { servers: servers.slice(0, 12), elasticIps: [...elasticIps.slice(0, 4), ...addresses(14).slice(1)] }
  const world = await startWorld({ ...options, account: { data: structuredClone(few), ...options.account } })
  // What the start reads is not counted.
  await world.slack.until(() => world.accountApi.journal.length >= 2, { what: 'the reads at the start' })
  world.accountApi.journal.clear()
  return world
}

async function list(world: World, words: string, person: 'ada' | 'ben' | 'chiara' = 'ada'): Promise<string> {
  const before = world.slack.ephemerals(people[person]).length
  await world.slack.as(people[person]).command(`/infra ${words}`, { channel: ops })
  const shown = () => world.slack.ephemerals(people[person])[before]
  return (await world.slack.until(shown, { what: words })).text
}

const reads = ({ accountApi }: World) => accountApi.journal.filter(({ method }) => method === 'GET').map(({ path }) => path)
const limitReads = (world: World) =>
  world.accountApi.faults.add({
    method: 'GET',
    kind: 'status',
    status: 429,
    body: { errors: [{ code: 'RATE_LIMIT_EXCEEDED', meta: { retry_after: 2 } }] },
    times: 100,
  })

/** Has Ben approve, and returns what is read before the first write. A machine that stalls for 2 s lets the turn of the write pass, and reads all of it again. */
async function readsBeforeWrite(world: World): Promise<string[]> {
  const { journal } = world.accountApi
  const card = await untilCard(world.slack, /needs approval from/)
  journal.clear()
  await world.ben.click(card, 'Approve')
  await world.slack.until(() => journal.writes().length > 0, { what: 'the write' })
  const firstWrite = journal.findIndex(({ method }) => method === 'PATCH')
  return [...new Set(journal.slice(0, firstWrite).map(({ path }) => path))].toSorted()
}

/** How long each answer of the account API takes while round trips are counted. It is much longer than the bot needs between two requests. */
const answerMs = 150

/**
 * Counts how many reads of the account API wait for one another while `action` runs. Reads that are sent together count once.
 */
async function countRoundTrips(accountApi: AccountApi, action: () => Promise<unknown>): Promise<number> {
  const before = accountApi.journal.length
  const fault = accountApi.faults.add({ method: 'GET', kind: 'late', delayMs: answerMs, times: 1_000 })
  await action()
  fault.times = fault.fired
  const reads = accountApi.journal.slice(before)
  const depths: { endsAt: number; depth: number }[] = []
  for (const { method, time } of reads) {
    if (method !== 'GET') continue
    const earlier = depths.filter(({ endsAt }) => endsAt <= time + answerMs / 10)
    depths.push({ endsAt: time + answerMs, depth: 1 + Math.max(0, ...earlier.map(({ depth }) => depth)) })
  }
  return Math.max(0, ...depths.map(({ depth }) => depth))
}

describe('the requests to the account API', () => {
  test('of lists are one for each list, also for three people at once, and none within 10 s', async () => {
    const world = await startSmall({ replicas: 2 })

    await list(world, 'ip list')
    expect(reads(world)).toEqual(['/elastic_ips'])
    const everybody = ['ada', 'ben', 'chiara'] as const
    await Promise.all([list(world, 'ip list'), ...everybody.map((person) => list(world, 'servers', person))])
    expect(reads(world)).toEqual(['/elastic_ips', '/servers'])
    for (const words of ['vms', 'plans', 'baselines', 'keys', 'vms', 'plans', 'baselines', 'keys']) await list(world, words)
    expect(reads(world).slice(2).toSorted()).toEqual(['/auth/api_keys', '/baselines', '/plans/virtual_machines', '/virtual_machines'])
    const { redis, keys } = openRecords(world)
    const copy = JSON.stringify(await redis.hgetall(keys.list('apiKeys').copy))
    expect(copy).toContain('terraform')
    for (const { token } of world.accountApi.world.data.apiKeys) expect(copy).not.toContain(token)
  })

  test.each<[by: string, most: number]>([
    ['ids', 2],
    ['names', 3],
  ])('of a move by %s are at most %i, as many one behind the other, and two again before its write', async (by, most) => {
    const world = await startSmall()
    const { elasticIp, target } = world.accountApi.world.movable()
    const move = by === 'ids' ? `${elasticIp.id} ${target.id}` : `${elasticIp.address} ${target.hostname}`

    const trips = await countRoundTrips(world.accountApi, async () => {
      await world.ada.command(`/infra ip move ${move}`, { channel: ops })
      const card = await untilCard(world.slack, /needs approval from/)
      expect(card.text).not.toContain('Check first')
    })

    expect(trips).toBeLessThanOrEqual(most)
    expect(reads(world).length).toBeLessThanOrEqual(most)
    expect(await readsBeforeWrite(world)).toEqual([`/elastic_ips/${elasticIp.id}`, `/servers/${target.id}`])
  })

  test('of an evacuation are at most four, and two again before its writes', async () => {
    const world = await startSmall()

    await world.ada.command('/infra evacuate web-1 web-2', { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    expect(reads(world).length).toBeLessThanOrEqual(4)
    expect(await readsBeforeWrite(world)).toEqual(['/elastic_ips', expect.stringMatching(/^\/servers\/sv_/)])
  })

  test('of a list of several pages are sent together, because its end is read together with its beginning', async () => {
    const world = await startWorld({ env: { MOVE_POLL_INTERVAL: '60s' } })

    expect(await countRoundTrips(world.accountApi, () => list(world, 'ip list'))).toBe(1)
  })
})

describe('while the limit of reads is reached', () => {
  test('the last list is shown with its age, and read again by a button', async () => {
    const world = await startSmall()
    await list(world, 'ip list')
    await forgetLists(world)
    limitReads(world)

    const text = await list(world, 'ip list')
    expect(text).toContain('203.0.113.10')
    expect(text).toMatch(/\*As of \d.s ago\.\* The account allows 99999 reads a minute\. Try again in 2.s\./)
    const shown = await untilShown(world.slack, people.ada, /As of/)
    world.accountApi.faults.clear()
    await pause(2_500)
    await world.ada.click(shown, 'Refresh')
    await world.slack.until(() => !/As of/.test(world.slack.ephemerals(people.ada).at(-1)?.text ?? 'As of'), { what: 'the list' })
  })

  test('without an earlier list, lists, pickers and commands say how long it lasts', async () => {
    const world = await startSmall()
    limitReads(world)

    for (const words of ['servers', 'ip move 203.0.113.10 web-2', 'keys revoke terraform'])
      expect(await list(world, words)).toMatch(/^(Not requested: t|T)he account allows 99999 reads a minute\..* Try again in \d+.s\./)
  })
})
