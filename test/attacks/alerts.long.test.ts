import { describe, expect, test } from 'vitest'
import { readPayload } from '../../src/features/alerts/payload.ts'
import { requestIdFor } from '../../src/life/submit.ts'
import { type AlertWorld, alert, delivery, post, resolved, startAlertWorld, untilProposed } from '../journeys/alerts-world.ts'
import { general, ops, untilCard } from '../journeys/world.ts'

const botMessages = ({ slack }: AlertWorld, channel = ops) => slack.messages(channel).filter(({ isBot }) => isBot)

describe('what an alert says', () => {
  test('names no target, channel, rule, requester or approval', async () => {
    const world = await startAlertWorld()
    world.slack.invite(general)
    const chosen = {
      to: 'web-3',
      target: 'web-3',
      channel: general,
      channelId: general,
      rule: 'moves',
      userId: 'U0BEN00001',
      approvals: '1',
      approved: 'true',
      elasticIpIds: 'eip_x',
    }

    await post(world.bots[0] ?? {}, JSON.stringify({ ...delivery([{ ...alert(chosen), ...chosen }]), ...chosen }))

    const card = await untilProposed(world)
    expect(card.text).toMatch(/Evacuate web-1 → web-2 \(203\.0\.113\.\d+\)\?\nAlertmanager needs approval from <!subteam\^S0ONCALL01>/)
    expect(botMessages(world, general)).toEqual([])
    const [request] = await world.records.all()
    expect(request).toMatchObject({ state: 'waiting', needsApproval: true, approvals: [], origin: { userId: 'alerts', channelId: ops } })
    expect(world.accountApi.journal.writes()).toEqual([])
  })
})

describe('somebody with write access to Redis cannot hide an alert behind a request', () => {
  const serverOf = ({ accountApi }: AlertWorld, name: string) =>
    accountApi.world.data.servers.find(({ hostname }) => hostname === name)?.id ?? ''

  test.each<[how: string, forge: (world: AlertWorld) => Promise<string>]>([
    [
      'for another server',
      async (world) => {
        await world.send([alert({ instance: 'edge-fra-1' })])
        await untilProposed(world, 'edge-fra-1')
        return (await world.records.all()).find(({ state }) => state === 'waiting')?.id ?? ''
      },
    ],
    [
      'that they made up',
      async ({ records: { redis, keys } }) => {
        await redis.hset(keys.record('made-up'), { ...genuine, id: '"made-up"' })
        return 'made-up'
      },
    ],
    [
      'that nobody can read',
      async ({ records: { redis, keys } }) => {
        await redis.hset(keys.record(requestIdFor('alert:made-up')), { id: '"made-up"', state: '"waiting"', kind: '"ip.evacuate"' })
        return requestIdFor('alert:made-up')
      },
    ],
  ])('%s', async (_, forge) => {
    const world = await startAlertWorld({ env: { OPS_CHANNEL: general } })
    world.slack.invite(general)
    genuine = await recordOfAlert(world)
    const request = await forge(world)
    const { redis, keys } = world.records
    const known = { server: serverOf(world, 'web-1'), request, made: 'made-up' }
    const read = readPayload(JSON.stringify(delivery([alert()])))
    const [{ key, startsAt } = { key: '', startsAt: 0 }] = read.is === 'read' ? read.alerts : []
    await redis.hset(keys.alert(key), String(startsAt), JSON.stringify(known))

    await expect.poll(() => world.send([alert()])).toBe(200)

    await untilProposed(world)
    const notice = () => world.slack.messages(general).find(({ text }) => text.includes(`an alert had led to request ${request}`))
    await expect.poll(notice).toBeDefined()
  })

  /** The fields of a request that an alert led to, which has ended and is gone. */
  let genuine: Record<string, string> = {}

  async function recordOfAlert(world: AlertWorld) {
    const { redis, keys, all } = world.records
    await world.send([alert()])
    await untilProposed(world)
    const [made] = await all()
    const record = await redis.hgetall(keys.record(made?.id ?? ''))
    await world.send([resolved(alert())])
    await untilCard(world.slack, /\*Withdrawn\*/)
    const own = await redis.keys(keys.alert('*'))
    await redis.del(...own, keys.record(made?.id ?? ''))
    return record
  }
})
