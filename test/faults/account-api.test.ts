import { expect, test } from 'vitest'
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

const notEnabled = "Elastic IPs aren't enabled for this team (feature flag elastic_ips). Ask the provider's support to enable them."

// What each code means is in slack/errors.answers.md.
test.each<[status: number, code: string, words: string, alarm?: RegExp]>([
  [422, 'SITE_MISMATCH', "Nothing was changed. The server isn't in the same site as the Elastic IP. Choose another server."],
  // It was deleted after the preflight check.
  [404, 'not_found', "The account API couldn't find this (404): “no”. Nothing was changed."],
  [403, 'FEATURE_NOT_ENABLED', `Nothing was changed. ${notEnabled}`],
  [
    401,
    'of_the_key',
    "The account API rejects Lockkeeper's API key (401).",
    /rejects Lockkeeper's API key \(401, elasticIps\.move\).*must be requested again/,
  ],
  // A key with fewer rights: the other operations go on, and the message does not say that nothing works.
  [
    403,
    'of_the_key',
    "Lockkeeper's API key isn't allowed to do this (403)",
    /doesn't let Lockkeeper's API key do this \(403, elasticIps\.move\).*Everything else works/,
  ],
])(
  'a write that is refused with %i %s ends as failed, is not sent again, and operators are notified once if the key is refused',
  async (status, code, words, alarm) => {
    const refusal = { kind: 'status', status, body: { errors: [{ code, detail: 'no' }] } } as const
    const { slack, report } = await moveInto(refusal, /Failed/, withOperators, inviteBot)

    expect(report.text).toContain(words)
    expect(report.text).toContain('Nothing was changed.')
    const card = await untilCard(slack, /\*Failed/)
    if (code === 'FEATURE_NOT_ENABLED') expect(report.text + JSON.stringify(card.blocks)).not.toContain('Request again')
    if (alarm) await untilCard(slack, alarm, general)
    expect(alarmsOf({ slack })).toHaveLength(alarm ? 1 : 0)
  },
)

test('a team without the feature flag elastic_ips gets that answer at the request, and operators are not notified', async () => {
  const world = await startWorld(withOperators)
  inviteBot(world)
  const { elasticIp, target } = world.accountApi.world.movable()
  const body = { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }
  const fault = world.accountApi.faults.add({ method: 'GET', path: /^\/elastic_ips/, kind: 'status', status: 403, body, times: 100 })

  const typed = `/infra ip move ${elasticIp.id} ${target.id}`
  await world.ada.command(typed, { channel: ops })

  expect((await untilShown(world.slack, people.ada, /aren't enabled/)).text).toBe(`Not requested: ${notEnabled}\nYou typed: \`${typed}\``)
  expect(fault.fired).toBeGreaterThan(0)
  expect(alarmsOf(world)).toEqual([])
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
