import { describe, expect, test } from 'vitest'
import { connectTestStore } from '../given/redis.ts'
import { minutes, newRequestFor } from '../given/request.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'

const ofBen = { teamId: 'T0NIMBUS01', channelId: ops, userId: people.ben, command: '/infra' }
const notPosted = { code: 'not-posted', error: 'is_archived' }

function setUp() {
  const { redis, keys, store } = connectTestStore()
  let count = 0
  const ask = (more: Parameters<typeof newRequestFor>[0] = {}) => {
    count += 1
    return store.create(newRequestFor({ resource: `elastic_ip:${count}`, ...more }), { mostUndecided: 10 })
  }
  return { store, ask, redis, keys }
}

async function askForMove(world: World, skip: number): Promise<void> {
  const { elasticIp, target } = world.accountApi.world.movable(skip)
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.id}`, { channel: ops })
}

describe('a person who asks for more and more', () => {
  test('reads that there are too many, and nothing is posted; a decided request makes room', async () => {
    const world = await startWorld({ env: { OPEN_REQUESTS_PER_PERSON: '2' } })
    for (const skip of [0, 1]) {
      await askForMove(world, skip)
      await world.slack.until(() => world.slack.messages(ops).length === skip + 1)
    }

    await askForMove(world, 2)
    await untilShown(world.slack, people.ada, /^Not requested: you have 2 requests waiting for approval, the limit\./)
    expect(world.slack.messages(ops)).toHaveLength(2)

    await world.ada.click(await untilCard(world.slack, /needs approval from/), 'Withdraw')
    await untilCard(world.slack, /Withdrawn/)
    await askForMove(world, 2)
    await world.slack.until(() => world.slack.messages(ops).length === 3)
  })

  test('has at most 10 that wait, however many are asked for at the same moment', async () => {
    const { ask, store } = setUp()

    const outcomes = await Promise.all(Array.from({ length: 40 }, () => ask()))

    expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(10)
    expect(outcomes.filter(({ outcome }) => outcome === 'too-many')).toHaveLength(30)
    expect((await store.findOpen()).requests).toHaveLength(10)
  })

  test.each(['approve', 'expire'] as const)('can ask again after a step such as %s', async (step) => {
    const { ask, store } = setUp()
    const [first] = await Promise.all(Array.from({ length: 10 }, () => ask()))
    expect(await ask()).toMatchObject({ outcome: 'too-many' })

    const request = await store.find(first?.id ?? '')
    if (!request) throw new Error('it is gone')
    await store.take(request, step)

    expect(await ask()).toMatchObject({ outcome: 'created' })
    expect(await ask()).toMatchObject({ outcome: 'too-many' })
  })

  test('makes at most 20 in 10 minutes, whatever became of them', async () => {
    const { ask, store, redis, keys } = setUp()
    const startedAt = await store.now()
    for (let made = 0; made < 20; made += 1) {
      const { id } = await ask()
      const request = await store.find(id)
      if (request) await (made % 2 === 0 ? store.take(request, 'withdraw') : store.discard(request, notPosted))
    }

    const refused = await Promise.all([ask(), ask({ needsApproval: false })])
    for (const { outcome, retryAt = 0 } of refused) {
      expect(outcome).toBe('too-often')
      expect(retryAt).toBeGreaterThanOrEqual(startedAt + 10 * minutes)
      expect(retryAt).toBeLessThan((await store.now()) + 10 * minutes)
    }
    expect((await store.findOpen()).requests).toEqual([])
    expect(await ask({ origin: ofBen })).toMatchObject({ outcome: 'created' })

    const [first = ''] = await redis.zrange(keys.requested(people.ada), '0', '0')
    await redis.zadd(keys.requested(people.ada), startedAt - 10 * minutes, first)
    expect(await ask()).toMatchObject({ outcome: 'created' })
    expect(await ask()).toMatchObject({ outcome: 'too-often' })
  })
})

test('a person who is refused again and again makes one entry of the audit for each act and reason, and the write reads no more', async () => {
  const world = await startWorld()
  const records = openRecords(world)
  await askForMove(world, 0)
  const card = await untilCard(world.slack, /needs approval from/)

  for (let count = 0; count < 30; count += 1) await world.dov.command(`/infra servers web-${count}`, { channel: ops })
  for (let count = 0; count < 10; count += 1) await world.ada.click(card, 'Approve')
  await world.slack.until(() => world.slack.ephemerals(people.dov).length === 30)
  await world.slack.until(() => world.slack.ephemerals(people.ada).length === 10)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)

  const acts = (await records.audit()).map(({ act, by }) => `${act}${act === 'refused' ? ` ${by}` : ''}`)
  expect(acts).toEqual(['request', `refused ${people.dov}`, `refused ${people.ada}`, 'approve', 'send', 'accept', 'finish'])
})
