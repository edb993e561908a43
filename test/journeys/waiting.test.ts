import { describe, expect, onTestFinished, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { countRoundTrips } from './round-trips.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

/** Every background read of the account comes at an interval of a minute, so that only the reads of the action are counted. */
const quiet = { env: { MOVE_POLL_INTERVAL: '60s' } }

function patchOf({ accountApi }: World) {
  return accountApi.journal.writes().find(({ method, path }) => method === 'PATCH' && path.startsWith('/elastic_ips/'))
}

async function requestMove(world: World) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
  return untilCard(world.slack, /needs approval from/)
}

describe('a request message is sent', () => {
  test('after two reads one behind the other, if ids are given', async () => {
    const world = await startWorld(quiet)

    expect(await countRoundTrips(world.accountApi, () => requestMove(world))).toBe(2)
  })

  test('after three, if an address and a hostname are given', async () => {
    const world = await startWorld(quiet)
    const { elasticIp, target } = world.accountApi.world.movable()

    const trips = await countRoundTrips(world.accountApi, async () => {
      await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
      await untilCard(world.slack, /needs approval from/)
    })

    expect(trips).toBe(3)
  })
})

test('a list is answered after one read, because its end is read together with its beginning', async () => {
  const world = await startWorld(quiet)

  const trips = await countRoundTrips(world.accountApi, async () => {
    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /Elastic IPs/)
  })

  expect(trips).toBe(1)
})

describe('an approved move is sent', () => {
  test('after at most two reads one behind the other', async () => {
    const world = await startWorld(quiet)
    const card = await requestMove(world)

    const trips = await countRoundTrips(world.accountApi, async () => {
      await world.ben.click(card, 'Approve')
      await world.slack.until(() => patchOf(world))
    })

    expect(trips).toBeLessThanOrEqual(2)
  })
})

describe('the end of a move', () => {
  test('is reported although one read a minute is all that tracking may spend', async () => {
    const world = await startWorld({
      env: { MOVE_POLL_INTERVAL: '2s', MOVE_POLL_BUDGET: '1' },
      account: { moveTakes: { min: 100, max: 100 } },
    })
    const card = await requestMove(world)

    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(world.log.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
  })
})

test('without a worker an approved change says so, the operators are told once, and it starts when a worker runs', async () => {
  const timings = { ...usualTimings, workerCheckMs: 200 }
  const world = await startWorld({ env: { ROLE: 'web', OPS_CHANNEL: general }, timings })
  const { slack } = world
  const card = await requestMove(world)
  slack.invite(general)
  await world.ben.click(card, 'Approve')

  await slack.until(() => slack.messages(ops).find(({ text }) => /Not started yet: no worker/.test(text)))
  await slack.until(() => slack.messages(general).find(({ text }) => text.includes('`no-worker`')))
  const worker = await world.startBot({ ROLE: 'worker' })
  onTestFinished(() => worker.stop())
  await untilReport(slack, card.ts, /Done/)

  expect(slack.messages(general).filter(({ text }) => /No worker of Lockkeeper is running.*`no-worker`/.test(text))).toHaveLength(1)
})
