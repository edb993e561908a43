import { describe, expect, test } from 'vitest'
import {
  approveMove,
  general,
  ops,
  patchesOf,
  people,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
  type World,
} from '../journeys/world.ts'
import type { OtherAnswer } from '../sandbox/account-api/faults.ts'
import { moveInto, patient } from './moves.ts'

const withOperators = { env: { OPS_CHANNEL: general } }
const inviteBot = ({ slack }: Pick<World, 'slack'>) => slack.invite(general)
const alarmsOf = ({ slack }: Pick<World, 'slack'>) => slack.messages(general).filter(({ isBot }) => isBot)

test.each([
  [422, 'ELASTIC_IP_NOT_ACTIVE', "The Elastic IP isn't active, so it can't be moved now. Nothing was changed."],
  [422, 'SERVER_NOT_IN_PROJECT', "Nothing was changed. The server isn't in the same project as the Elastic IP. Choose another server."],
  [422, 'SITE_NOT_SUPPORTED', "Nothing was changed. The site doesn't support Elastic IPs. Ask the provider's support which sites do."],
  [
    422,
    'SERVER_NETWORK_INCOMPATIBLE',
    "Nothing was changed. The target's network configuration is outdated. Contact the provider's support.",
  ],
  [422, 'SITE_MISMATCH', "Nothing was changed. The server isn't in the same site as the Elastic IP. Choose another server."],
  // It was deleted after the preflight check.
  [404, 'not_found', "The account API couldn't find this (404): “no”. Nothing was changed."],
])('a write that is refused with %i %s is explained, ends as failed, and is not sent again', async (status, code, words) => {
  const { slack, report } = await moveInto({ kind: 'status', status, body: { errors: [{ code, detail: 'no' }] } }, /Failed/)

  expect(report.text).toContain(words)
  await untilCard(slack, /\*Failed/)
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
])('a write that is refused with %i is reported to the requester, and once to the channel of operators', async (status, shown, alert) => {
  const refusal = { kind: 'status', status, body: { errors: [{ code: 'of_the_key' }] } } as const
  const { slack, report } = await moveInto(refusal, /Failed/, withOperators, inviteBot)

  expect(report.text).toContain(shown)
  expect(report.text).toContain('Nothing was changed.')
  await untilCard(slack, alert, general)
  expect(alarmsOf({ slack })).toHaveLength(1)
})

describe('a team without the feature flag elastic_ips', () => {
  const body = { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }
  const words = "Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them."

  async function startWithOperators() {
    const world = await startWorld(withOperators)
    inviteBot(world)
    return { world, alarms: () => alarmsOf(world) }
  }

  test('gets that answer at the request, and operators are not notified', async () => {
    const { world, alarms } = await startWithOperators()
    const { elasticIp, target } = world.accountApi.world.movable()
    const fault = world.accountApi.faults.add({ method: 'GET', path: /^\/elastic_ips/, kind: 'status', status: 403, body, times: 100 })

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    expect((await untilShown(world.slack, people.ada, /aren't enabled/)).text).toBe(`Not requested: ${words}`)
    expect(fault.fired).toBeGreaterThan(0)
    expect(alarms()).toEqual([])
  })

  test('gets that answer in the thread if the write is refused, without a second write, and operators are not notified', async () => {
    const { slack, report } = await moveInto({ kind: 'status', status: 403, body }, /Failed/, withOperators, inviteBot)

    expect(report.text).toContain(`Nothing was changed. ${words}`)
    expect(report.text).not.toContain('Request again')
    expect(JSON.stringify((await untilCard(slack, /\*Failed/)).blocks)).not.toContain('Request again')
    expect(alarmsOf({ slack })).toEqual([])
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
