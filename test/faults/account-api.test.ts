import { describe, expect, test } from 'vitest'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import type { OtherAnswer } from '../sandbox/account-api/faults.ts'
import { approveMove, patchesOf } from './moves.ts'

/** Changes on the account cause no event at the stand-in Slack, so they are polled. */
const patient = { timeout: 15_000, interval: 20 }
const thePatch = { method: 'PATCH', path: /^\/elastic_ips\// }

describe('a write that is refused', () => {
  test.each([
    ['ELASTIC_IP_NOT_ACTIVE', "The Elastic IP isn't active, so it can't be moved now. Nothing was changed."],
    ['SERVER_NOT_IN_PROJECT', "Nothing was changed. The server isn't in the same project as the Elastic IP. Choose another server."],
    ['SITE_NOT_SUPPORTED', "Nothing was changed. The site doesn't support Elastic IPs. Ask the provider's support which sites do."],
    ['SERVER_NETWORK_INCOMPATIBLE', "Nothing was changed. The target's network configuration is outdated. Contact the provider's support."],
    ['SITE_MISMATCH', "Nothing was changed. The server isn't in the same site as the Elastic IP. Choose another server."],
  ])('with %s is explained, ends as failed, and is not sent again', async (code, words) => {
    const world = await startWorld()
    const fault = world.accountApi.faults.add({ ...thePatch, kind: 'status', status: 422, body: { errors: [{ code, message: 'no' }] } })

    const { card } = await approveMove(world)
    const report = await untilReport(world.slack, card.ts, /Failed/)

    expect(fault.fired).toBe(1)
    expect(report.text).toContain(words)
    await untilCard(world.slack, /\*Failed/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('with 404, because the Elastic IP was deleted after the preflight check, says so', async () => {
    const world = await startWorld()
    const fault = world.accountApi.faults.add({
      ...thePatch,
      kind: 'status',
      status: 404,
      body: { errors: [{ code: 'not_found', detail: 'The Elastic IP does not exist' }] },
    })

    const { card } = await approveMove(world)
    const report = await untilReport(world.slack, card.ts, /Failed/)

    expect(fault.fired).toBe(1)
    expect(report.text).toContain(
      "The account API couldn't find this (404). It says: “The Elastic IP does not exist”. Nothing was changed.",
    )
    expect(patchesOf(world)).toHaveLength(1)
  })

  test.each([
    [
      401,
      "The account API rejects Lockkeeper's API key (401).",
      /rejects Lockkeeper's API key \(401, elasticIps\.move\).*must be requested again/,
    ],
    // A key with fewer rights: the other operations go on, and the message does not say that nothing works.
    [
      403,
      "Lockkeeper's API key isn't allowed to do this (403)",
      /doesn't let Lockkeeper's API key do this \(403, elasticIps\.move\).*Everything else works/,
    ],
  ])('with %i is reported to the requester, and once to the channel of operators', async (status, shown, alert) => {
    const world = await startWorld({ env: { OPS_CHANNEL: general } })
    world.slack.invite(general)
    const fault = world.accountApi.faults.add({ ...thePatch, kind: 'status', status, body: { errors: [{ code: 'of_the_key' }] } })

    const { card } = await approveMove(world)
    const report = await untilReport(world.slack, card.ts, /Failed/)

    expect(fault.fired).toBe(1)
    expect(report.text).toContain(shown)
    expect(report.text).toContain('Nothing was changed.')
    await untilCard(world.slack, alert, general)
    expect(world.slack.messages(general).filter(({ isBot }) => isBot)).toHaveLength(1)
    expect(patchesOf(world)).toHaveLength(1)
  })
})

describe('a team without the feature flag elastic_ips', () => {
  const body = { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }
  const words = "Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them."

  async function startWithOperators() {
    const world = await startWorld({ env: { OPS_CHANNEL: general } })
    world.slack.invite(general)
    return { world, alarms: () => world.slack.messages(general).filter(({ isBot }) => isBot) }
  }

  test('gets that answer at the request, and operators are not notified', async () => {
    const { world, alarms } = await startWithOperators()
    const { elasticIp, target } = world.accountApi.world.movable()
    const fault = world.accountApi.faults.add({ method: 'GET', path: /^\/elastic_ips/, kind: 'status', status: 403, body, times: 100 })

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    expect((await untilShown(world.slack, people.ada, /aren't enabled/)).text).toBe(words.replace('. Ask', '. Nothing was requested. Ask'))
    expect(fault.fired).toBeGreaterThan(0)
    expect(alarms()).toEqual([])
  })

  test('gets that answer in the thread if the write is refused, without a second write, and operators are not notified', async () => {
    const { world, alarms } = await startWithOperators()
    const fault = world.accountApi.faults.add({ ...thePatch, kind: 'status', status: 403, body })

    const { card } = await approveMove(world)
    const report = await untilReport(world.slack, card.ts, /Failed/)

    expect(fault.fired).toBe(1)
    expect(report.text).toContain(`Nothing was changed. ${words}`)
    expect(report.text).not.toContain('Request again')
    expect(JSON.stringify((await untilCard(world.slack, /\*Failed/)).blocks)).not.toContain('Request again')
    expect(alarms()).toEqual([])
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('that loses it while a move is tracked settles nothing, and its end is reported without a notice to operators', async () => {
    const { world, alarms } = await startWithOperators()
    world.accountApi.world.nextMove({ endsIn: 'never' })
    const { elasticIp, card } = await approveMove(world)
    await untilCard(world.slack, /\*Moving\*/)

    const fault = world.accountApi.faults.add({ method: 'GET', path: /^\/elastic_ips/, kind: 'status', status: 403, body, times: 3 })
    await expect.poll(() => fault.fired, patient).toBe(3)
    expect(world.slack.thread(ops, card.ts).slice(1)).toEqual([])
    world.accountApi.world.endMove(elasticIp.id)
    await untilReport(world.slack, card.ts, /Done/)

    expect(alarms()).toEqual([])
  })
})

test('answers with missing, additional or unknown fields settle nothing, and stop nothing', async () => {
  const world = await startWorld()
  world.accountApi.world.nextMove({ endsIn: 'never' })
  const { elasticIp, card } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)

  const odd: ((data: Wire) => unknown)[] = [
    (data) => ({ data: { ...data, attributes: { ...data.attributes, status: 'active', server: null } } }),
    (data) => ({ data: { ...data, attributes: { ...data.attributes, status: 'quiescing', server: null } } }),
    (data) => ({ data: { ...data, attributes: { ...data.attributes, status: 'teleported' } } }),
    (data) => ({ data: { ...data, relationships: { more: [1] }, attributes: { ...data.attributes, weight: { in: 'kg' } } }, jsonapi: {} }),
    () => ({ data: { id: elasticIp.id, type: 'elastic_ips', attributes: {} } }),
    () => ({ data: null }),
    () => ({}),
    () => [],
  ]
  const faults = odd.map((change) =>
    world.accountApi.faults.add({
      method: 'GET',
      path: `/elastic_ips/${elasticIp.id}`,
      kind: 'instead',
      instead: ({ body }): OtherAnswer => ({ body: change((body as { data: Wire }).data) }),
    }),
  )

  await expect.poll(() => faults.map(({ fired }) => fired), patient).toEqual(odd.map(() => 1))
  expect(world.slack.thread(ops, card.ts).slice(1)).toEqual([])
  world.accountApi.world.endMove(elasticIp.id)
  await untilReport(world.slack, card.ts, /Done/)

  expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
  expect(patchesOf(world)).toHaveLength(1)
})

interface Wire {
  attributes: Record<string, unknown>
}
