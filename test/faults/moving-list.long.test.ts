import { expect, test } from 'vitest'
import { patchesOf, startWorld } from '../journeys/world.ts'
import { collectEarlyReports, manyElasticIps } from './many-elastic-ips.ts'
import { moveAll, patient, reportsOf } from './moves.ts'

const count = 120

test('a list that shifts while it is read hides moves that are still running, and none of them is reported as done', async () => {
  // Enough moves for two pages. No end may be reported unless the account shows it.
  const world = await startWorld({
    env: { NO_APPROVAL: 'ip.move', OPEN_REQUESTS_PER_PERSON: '9999' },
    account: { data: { elasticIps: manyElasticIps(count) }, moveTakes: { min: 600_000, max: 600_000 } },
  })
  const { slack, accountApi } = world
  await moveAll(world)
  const tooEarly = collectEarlyReports(slack, accountApi)
  const stillMoving = () => accountApi.world.elasticIps().filter(({ status }) => status === 'moving')
  const end = (ended: { id: string }[]) => ended.map(({ id }) => accountApi.world.endMove(id)).length
  let ended = 0
  // Two moves end before the second page is read, and five of its rows have moved up to the first page, past the reader.
  const shift = accountApi.faults.add({
    method: 'GET',
    path: '/elastic_ips',
    when: ({ query }) => query['page[number]'] === '2',
    times: 8,
    kind: 'instead',
    instead: ({ body }) => ({ body: { data: (body as { data: unknown[] }).data.slice(5) } }),
    meanwhile() {
      ended += end(stillMoving().slice(0, 2))
    },
  })
  accountApi.journal.clear()
  await expect.poll(() => shift.fired, patient).toBe(8)
  // The hidden ones were read one by one, and were still moving.
  const read = new Set(accountApi.journal.filter(({ method }) => method === 'GET').map(({ path }) => path))
  expect(ended).toBeGreaterThanOrEqual(10)
  expect(stillMoving().filter(({ id }) => read.has(`/elastic_ips/${id}`)).length).toBeGreaterThan(0)
  expect(tooEarly()).toEqual([])

  end(stillMoving())
  await slack.until(() => reportsOf(world).filter((text) => /Done/.test(text)).length === count)
  expect(tooEarly()).toEqual([])
  expect(patchesOf(world).length).toBeLessThanOrEqual(count)
})
