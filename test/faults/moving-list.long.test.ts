import { describe, expect, test } from 'vitest'
import { patchesOf, startWorld } from '../journeys/world.ts'
import { collectEarlyReports, manyElasticIps } from './many-elastic-ips.ts'
import { moveAll, patient, reportsOf } from './moves.ts'

describe('the list that shows many moves', () => {
  const count = 120

  /** Starts enough moves for two pages. No end may be reported unless the account shows it. */
  async function startMany() {
    const world = await startWorld({
      env: { NO_APPROVAL: 'ip.move', OPEN_REQUESTS_PER_PERSON: '9999' },
      account: { data: { elasticIps: manyElasticIps(count) }, moveTakes: { min: 600_000, max: 600_000 } },
    })
    await moveAll(world)
    const tooEarly = collectEarlyReports(world.slack, world.accountApi)
    const lists = (page: number) => ({
      method: 'GET',
      path: '/elastic_ips',
      when: ({ query }: { query: Record<string, string> }) => query['page[number]'] === String(page),
    })
    const singleReads = () => world.accountApi.journal.filter(({ method, path }) => method === 'GET' && /^\/elastic_ips\/./.test(path))
    const allDone = () => world.slack.until(() => reportsOf(world).filter((text) => /Done/.test(text)).length === count)
    const endAll = () => {
      for (const { id, status } of world.accountApi.world.elasticIps()) if (status === 'moving') world.accountApi.world.endMove(id)
    }
    return { ...world, tooEarly, lists, singleReads, allDone, endAll }
  }

  test('that shifts while it is read hides moves that are still running, and none of them is reported as done', async () => {
    const world = await startMany()
    let ended = 0
    // Two moves end before the second page is read, and five of its rows have moved up to the first page, past the reader.
    const shift = world.accountApi.faults.add({
      ...world.lists(2),
      times: 8,
      kind: 'instead',
      instead: ({ body }) => ({ body: { data: (body as { data: unknown[] }).data.slice(5) } }),
      meanwhile: () => {
        for (const { id } of world.accountApi.world
          .elasticIps()
          .filter(({ status }) => status === 'moving')
          .slice(0, 2)) {
          ended += 1
          world.accountApi.world.endMove(id)
        }
      },
    })
    world.accountApi.journal.clear()
    await expect.poll(() => shift.fired, patient).toBe(8)
    // The hidden ones were read one by one, and were still moving.
    const read = new Set(world.singleReads().map(({ path }) => path))
    const stillMoving = world.accountApi.world.elasticIps().filter(({ status }) => status === 'moving')
    expect(ended).toBeGreaterThanOrEqual(10)
    expect(stillMoving.filter(({ id }) => read.has(`/elastic_ips/${id}`)).length).toBeGreaterThan(0)
    expect(world.tooEarly()).toEqual([])

    world.endAll()
    await world.allDone()
    expect(world.tooEarly()).toEqual([])
    expect(patchesOf(world).length).toBeLessThanOrEqual(count)
  })

  test('is read completely with repeated rows', async () => {
    const world = await startMany()
    const twice = world.accountApi.faults.add({
      method: 'GET',
      path: '/elastic_ips',
      times: 16,
      kind: 'instead',
      instead: ({ body }) => ({ body: { data: (body as { data: unknown[] }).data.flatMap((row) => [row, row]) } }),
    })
    // An earlier read may still be running.
    await expect.poll(() => twice.fired, patient).toBeGreaterThanOrEqual(4)
    world.accountApi.journal.clear()
    await expect.poll(() => twice.fired, patient).toBe(16)

    // Both pages were read, so no Elastic IP had to be read alone.
    expect(world.singleReads()).toEqual([])
    expect(reportsOf(world)).toEqual([])
    world.endAll()
    await world.allDone()
    expect(world.tooEarly()).toEqual([])
  })

  test('of which a page fails means nothing, and the Elastic IPs are read one by one', async () => {
    const world = await startMany()
    const broken = world.accountApi.faults.add({ ...world.lists(2), times: 10_000, kind: 'status', status: 502 })
    world.accountApi.journal.clear()
    await expect.poll(() => new Set(world.singleReads().map(({ path }) => path)).size, patient).toBe(count)
    expect(reportsOf(world)).toEqual([])

    world.endAll()
    await world.allDone()

    expect(broken.fired).toBeGreaterThan(0)
    expect(world.tooEarly()).toEqual([])
  })
})
