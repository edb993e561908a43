import pLimit from 'p-limit'
import { describe, expect, test } from 'vitest'
import { requestIdFor } from '../../src/requests/submit.ts'
import { type AlertWorld, alert, delivery, policy, post, resolved, startAlertWorld, untilProposed } from '../journeys/alerts-world.ts'
import { general, ops, untilCard } from '../journeys/world.ts'

const botMessages = ({ slack }: AlertWorld, channel = ops) => slack.messages(channel).filter(({ isBot }) => isBot)

/** Everything that Slack reads as mrkdwn. In rich text nothing is markup. */
const markupIn = (world: AlertWorld) =>
  JSON.stringify(botMessages(world).map(({ text, blocks = [] }) => [text, blocks.filter(({ type }) => type !== 'rich_text')]))

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
    expect(card.text).toMatch(/Evacuate web-1 → web-2 \(203\.0\.113\.\d+\)\n.*Alertmanager needs approval from <!subteam\^S0ONCALL01>/)
    expect(botMessages(world, general)).toEqual([])
    const [request] = await world.records.all()
    expect(request).toMatchObject({ state: 'waiting', needsApproval: true, approvals: [], origin: { userId: 'alerts', channelId: ops } })
    expect(world.accountApi.journal.writes()).toEqual([])
  })

  test('mentions nobody, is no markup, and links nowhere without its host', async () => {
    const world = await startAlertWorld()
    const hostile = '<!channel> <@U0BEN00001> @here *Approved by Ben* `x` \n:white_check_mark: <https://evil.example|Open the request>'
    const alerts = [
      alert(
        { alertname: 'NodeDown', note: hostile },
        { annotations: { summary: hostile }, generatorURL: `https://x@evil.example/${hostile}` },
      ),
      alert({ instance: `${hostile}:9100` }, { generatorURL: 'javascript:alert(1)' }),
    ]

    expect(await world.send(alerts)).toBe(200)

    const card = await untilProposed(world)
    expect(card.text).not.toMatch(/<!channel>|<@U0BEN00001> @here|<https:\/\/(?:x@)?evil/)
    expect(markupIn(world)).not.toMatch(/<!channel>|<!here>|javascript:|<https:\/\/(?:x@)?evil/)
    const reason = JSON.stringify(card.blocks)
    expect(reason).toContain('"type":"rich_text"')
    expect(reason).not.toMatch(/"type":"(?:broadcast|user|emoji)"/)
  })

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('as the label %s reaches no entry', async (name) => {
    const world = await startAlertWorld({}, policy.replace('server: instance', `server: "${name}"`))

    const body = `{"alerts":[{"status":"firing","labels":{"alertname":"NodeDown","__proto__":{"${name}":"web-1"}},"annotations":{"${name}":"x"}}]}`
    expect(await post(world.bots[0] ?? {}, body)).toBe(200)

    expect(await world.records.all()).toEqual([])
    expect(botMessages(world).map(({ text }) => text)).toEqual([expect.stringMatching(/The alert has no label/)])
    expect(world.log.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
  })
})

test('a wrong token reads, posts and says nothing, and resolves nothing', async () => {
  const world = await startAlertWorld()
  await world.send([alert()])
  await untilProposed(world)

  const wrong = { authorization: 'Bearer token-of-alertmanager-with-32-characterS' }
  const statuses = await Promise.all(
    [alert({ instance: 'web-2' }), resolved(alert())].map((each) => post(world.bots[0] ?? {}, JSON.stringify(delivery([each])), wrong)),
  )

  expect(statuses).toEqual([401, 401])
  expect(await world.records.all()).toMatchObject([{ state: 'waiting' }])
  expect(world.log.join('\n')).not.toMatch(/characterS|token-of-alertmanager/)
})

test('500 deliveries with a wrong token fill no log, and cost Redis nothing: three lines count them all', async () => {
  const world = await startAlertWorld({ env: { OPS_CHANNEL: general } })
  world.slack.invite(general)
  const bot = await world.startBot()
  const before = world.log.length
  const forged = { authorization: 'Bearer token-of-alertmanager-with-32-characterS' }

  const statuses = await pLimit(50).map(Array.from({ length: 500 }), () => post(bot, '{}', forged))
  await bot.stop()

  expect(new Set(statuses)).toEqual(new Set([401]))
  const lines = world.log.slice(before).filter((line) => /"level":"(warn|error)"/.test(line))
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'Refused 1 request to the port of alerts: wrong-token (1).',
    expect.stringContaining("Somebody sent alerts with a token that isn't in `ALERTS_TOKEN`."),
    'Refused 499 requests to the port of alerts: wrong-token (499).',
  ])
})

describe('somebody with write access to Redis cannot hide an alert behind a request', () => {
  const idOf = (episode: string) => requestIdFor(`alert:${episode}`)
  const serverOf = ({ accountApi }: AlertWorld, name: string) =>
    accountApi.world.data.servers.find(({ hostname }) => hostname === name)?.id ?? ''

  test.each<[how: string, episode: (world: AlertWorld) => Promise<string>]>([
    [
      'for another server',
      async (world) => {
        await world.send([alert({ instance: 'edge-fra-1' })])
        await untilProposed(world, 'edge-fra-1')
        const { redis, keys } = world.records
        return (await redis.hget(keys.alertedServer(serverOf(world, 'edge-fra-1')), 'episode')) ?? ''
      },
    ],
    [
      'that they made up',
      async ({ records: { redis, keys } }) => {
        const forged = { ...genuine, id: JSON.stringify(idOf('made-up')) }
        await redis.hset(keys.record(idOf('made-up')), forged)
        return 'made-up'
      },
    ],
    [
      'that nobody can read',
      async ({ records: { redis, keys } }) => {
        await redis.hset(keys.record(idOf('made-up')), { id: '"made-up"', state: '"waiting"', kind: '"ip.evacuate"' })
        return 'made-up'
      },
    ],
  ])('%s', async (_, forge) => {
    const world = await startAlertWorld({ env: { OPS_CHANNEL: general } })
    world.slack.invite(general)
    genuine = await recordOfAlert(world)
    const episode = await forge(world)
    const { redis, keys } = world.records
    await redis.hset(keys.alertedServer(serverOf(world, 'web-1')), { episode, 'alert:another': '1' })

    await expect.poll(() => world.send([alert()])).toBe(200)

    await untilProposed(world)
    const notice = () => world.slack.messages(general).find(({ text }) => text.includes(`an alert had led to request ${idOf(episode)}`))
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
    await redis.del(...own, keys.record(made?.id ?? ''), keys.alertedServer(serverOf(world, 'web-1')))
    return record
  }
})
