import { describe, expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import {
  approveMove,
  forgetLists,
  general,
  ops,
  patchesOf,
  people,
  requestMove,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
} from './world.ts'

test('a request is voided, and the difference is shown, because the account changed after its card was posted', async () => {
  const world = await startWorld()
  const { elasticIp, card } = await requestMove(world)
  world.accountApi.world.moveBehindOurBack(elasticIp.id, world.accountApi.world.third(elasticIp.id).id)

  await world.ben.click(card, 'Approve')

  await untilReport(world.slack, card.ts, /\*Canceled:.* is on .* now\./)
  expect(patchesOf(world)).toEqual([])
})

describe('a request that does not succeed', () => {
  test('because the move ends in an error and the answer was lost is reported with the advice to contact the provider', async () => {
    const world = await startWorld()
    world.accountApi.world.nextMove({ takesMs: 200, endsIn: 'error' })
    const lost = world.accountApi.faults.add({ method: 'PATCH', kind: 'drop-after' })
    const { card } = await approveMove(world)

    await untilReport(world.slack, card.ts, /Failed.*with status error\. Contact the provider's support\./)
    expect(lost.fired).toBe(1)
  })

  test('because the account put the Elastic IP back is reported at the second look that shows it, and not as late', async () => {
    const world = await startWorld({ timings: { ...usualTimings, graceMs: 1_500 } })
    world.accountApi.world.nextMove({ takesMs: 300, endsIn: 'returned' })
    const { card } = await approveMove(world)

    const report = await untilReport(world.slack, card.ts, /Failed/)

    expect(report.text).toMatch(
      /The account accepted the move, but left .* on web-1\. Nothing moved\. Check the account before you request it again\./,
    )
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('because somebody else moves the Elastic IP on is reported as superseded', async () => {
    const timings = { ...usualTimings, graceMs: 500, unsettledMs: 500 }
    const world = await startWorld({ account: { moveTakes: { min: 5_000, max: 5_000 } }, timings })
    const { elasticIp, card } = await approveMove(world)
    await untilCard(world.slack, /\*Moving\*/)

    world.accountApi.world.moveBehindOurBack(elasticIp.id, world.accountApi.world.third(elasticIp.id).id)

    await untilReport(world.slack, card.ts, /Superseded/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('in time is reported as late with the status that was read, and its end is reported too', async () => {
    const account = { moveTakes: { min: 60_000, max: 60_000 }, movePhases: [{ server: 'from' as const }] }
    const world = await startWorld({ env: { MOVE_TIMEOUT: '400ms' }, account })
    const { elasticIp, card } = await approveMove(world)

    await untilReport(world.slack, card.ts, /Late:.*The account shows status moving, on web-1\./)
    world.accountApi.world.endMove(elasticIp.id)
    await untilReport(world.slack, card.ts, /Done/)

    const thread = world.slack.thread(ops, card.ts).slice(1)
    expect(thread.map(({ text }) => /Late:|Done\./.exec(text)?.[0])).toEqual(['Late:', 'Done.'])
  })
})

describe('a service that the bot needs is away', () => {
  test('the account API does not answer: people get an answer that says so, and a request by ids shows what was not checked', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    world.accountApi.faults.add({ method: 'GET', path: /./, times: 1_000, kind: 'status', status: 503 })

    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /returned an error \(503\)\. Try again in a minute\./)
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilShown(world.slack, people.ada, /Not requested: the account API returned an error \(503\)\. Try again in a minute\./)
    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    expect((await untilCard(world.slack, /needs approval from/)).text).toContain('Not checked:')
  })

  test('requests made meanwhile show what the last lists had, and when, and are sent only once the account shows the same', async () => {
    const world = await startWorld()
    const { ada, ben, slack, accountApi } = world
    for (const list of ['keys', 'vms', 'servers', 'ip list']) {
      await ada.command(`/infra ${list}`, { channel: ops })
      await untilShown(
        slack,
        people.ada,
        new RegExp({ keys: 'terraform', vms: 'preview-1', servers: 'web-2', 'ip list': '203' }[list] ?? ''),
      )
    }
    await forgetLists(world)
    accountApi.faults.add({ method: 'GET', path: /./, times: 1_000, kind: 'status', status: 503 })
    const { elasticIp, target } = accountApi.world.movable()
    const asOf = /As of <!date/

    await ada.command('/infra vm rename preview-1 preview-eu-1', { channel: ops })
    const rename = await untilCard(slack, /Rename preview-1 → preview-eu-1/)
    expect(rename.text).toMatch(asOf)
    expect(rename.text).toContain('Storefront')
    await ada.command('/infra keys rotate terraform', { channel: ops })
    expect((await untilCard(slack, /Rotate API key terraform/)).text).toMatch(asOf)
    await ben.command('/infra keys revoke terraform', { channel: ops })
    await untilShown(slack, people.ben, /terraform has an open request|open request for terraform/)
    await ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
    expect((await untilCard(slack, /Move 203\.0\.113\.10: web-1 → web-2/)).text).toMatch(/Not checked:[\s\S]*As of <!date/)

    await ben.click(rename, 'Approve')
    accountApi.faults.clear()
    await untilReport(slack, rename.ts, /Done/)
    expect((await untilCard(slack, /\*Done\*/)).text).toContain('Rename preview-1 → preview-eu-1')
  })

  test('the account API hangs: an interim message comes, and the answer replaces it', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /elastic_ips/, times: 1, kind: 'delay', delayMs: 3_500 })

    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /Slower than usual/)
    await untilShown(world.slack, people.ada, /Elastic IPs/)
    expect(world.slack.ephemerals(people.ada)).toHaveLength(1)
  })

  test('Slack is slow to update the request message: an approval that was taken gets no interim message, and the move is sent', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 60_000, max: 60_000 } } })
    const { card } = await requestMove(world)
    world.slack.faults.add({ method: 'chat.update', times: 10, kind: 'delay', delayMs: 2_600 })

    await world.ben.click(card, 'Approve')
    await expect.poll(() => patchesOf(world)).toHaveLength(1)
    expect(world.slack.messages(ops).find(({ ts }) => ts === card.ts)?.text).toMatch(/needs approval from/)
    await untilCard(world.slack, /\*Moving\*/)

    expect(world.slack.ephemerals(people.ben)).toEqual([])
  })
})

test('Slack is slow to say who is an approver: the form of a decision opens by what is known, and what is sent is judged again', async () => {
  const world = await startWorld()
  const { card } = await requestMove(world)
  await world.chiara.command('/infra freeze because the sale', { channel: ops })
  await world.ben.command('/infra pending', { channel: ops })
  await untilShown(world.slack, people.ben, /You can approve 1/)
  const slow = ['users.info', 'usergroups.users.list', 'conversations.info'].map((method) =>
    world.slack.faults.add({ method, kind: 'delay', delayMs: 3_500, times: 100 }),
  )

  await world.ben.click(card, 'Approve')
  await expect.poll(() => world.ben.openViews()).toHaveLength(1)
  expect(slow.map(({ fired }) => fired)).toEqual([0, 0, 0])
  for (const fault of slow) fault.remove()
  const group = world.slack.workspace.userGroups.find(({ id }) => id === 'S0ONCALL01')
  if (group) group.members = group.members.filter((id) => id !== people.ben)
  await world.ben.submit()

  await world.slack.until(() => JSON.stringify(world.ben.openViews()).includes("aren't an approver"))
  expect((await untilCard(world.slack, /needs approval from/)).text).not.toMatch(/Approved/)
})

test('the operators are notified once that the account rejects the key, even if only a person finds it', async () => {
  const world = await startWorld({ env: { OPS_CHANNEL: general } })
  world.slack.invite(general)
  world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 401, times: 1_000 })
  const notices = () => world.slack.messages(general).filter(({ text }) => text.includes('api-key-rejected'))

  for (const each of [world.ada, world.chiara]) await each.command('/infra ip list', { channel: ops })
  for (const id of [people.ada, people.chiara]) await untilShown(world.slack, id, /rejects Lockkeeper's API key/)

  await expect.poll(() => notices().length).toBe(1)
  expect(notices()[0]?.text).toMatch(/^:warning: The account API rejects Lockkeeper's API key \(401, elasticIps\.list\)\./)
})
