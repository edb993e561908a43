import { describe, expect, test } from 'vitest'
import type { ElasticIpState } from '../sandbox/account-api/data.ts'
import { addresses, patched, requestEvacuation, withAddresses } from './evacuations.ts'
import { startWorldUnder } from './policy-world.ts'
import { figure, forgetLists, ops, people, startWorld, untilCard, untilReport, untilShown, type World, type WorldOptions } from './world.ts'

function worldWith(own: ElasticIpState[], options: WorldOptions = {}): Promise<World> {
  return startWorld(withAddresses(own, options))
}

const serverOf = (world: World, id: string) => world.accountApi.world.elasticIp(id)?.serverId
const web2 = (world: World) => world.accountApi.world.movable().target.id

describe('an evacuation', () => {
  test('is one request with one approval: every address is moved once, and one report names all', async () => {
    const own = addresses(14)
    const world = await worldWith(own)
    const card = await requestEvacuation(world)
    const target = web2(world)

    expect(card.text).toContain('Evacuate web-1 → web-2 (14 Elastic IPs)')
    for (const { address } of own) expect(card.text).toContain(`\`${address}\``)
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(patched(world)).toEqual(own.map(({ id }) => id))
    for (const { id } of own) expect(serverOf(world, id)).toBe(target)
    expect(report.text).toContain('14 Elastic IPs are assigned to web-2.')
    expect(report.blocks?.find(({ type }) => type === 'data_table')?.rows).toHaveLength(15)
    for (const { address } of own) expect(report.text).toContain(`\`${address}\`  moved`)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
    expect((await untilCard(world.slack, /\*Done\*/)).text).toContain('14 of 14 moved.')
  })

  test('needs as many people as its rule says, and counts its addresses wherever it is listed', async () => {
    const two = 'rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 } }'
    const world = await startWorldUnder(two, withAddresses(addresses(3), { account: { moveTakes: { min: 4_000, max: 4_000 } } }))
    const { slack, ada, ben, chiara } = world
    const homeOf = (id: string) => slack.until(() => slack.home(id) && JSON.stringify(slack.home(id)?.blocks))
    const card = await requestEvacuation(world)

    await ben.command('/infra pending', { channel: ops })
    expect((await untilShown(slack, people.ben, /1 request needs approval/)).text).toContain('Evacuate web-1 → web-2 (3 Elastic IPs)')
    await chiara.openHome()
    expect(await homeOf(people.chiara)).toMatch(/Needs your approval \(1\).*203\.0\.113\.12/)
    await ben.click(card, 'Approve')
    await untilCard(slack, /1 of 2/)
    expect(patched(world)).toEqual([])
    await chiara.click(card, 'Approve')
    await untilCard(slack, /\*Moving\*/)
    await expect.poll(() => figure(world, 'lockkeeper_moves_in_flight')).toBe(3)

    await ada.command('/infra moves', { channel: ops })
    expect((await untilShown(slack, people.ada, /in progress/)).text).toMatch(/moving, 0 of 3 moved/)
    await ada.openHome()
    expect(await homeOf(people.ada)).toMatch(/Moving, \d of \d+ moved, since </)
    await untilReport(slack, card.ts, /Done/)
    await expect.poll(() => figure(world, 'lockkeeper_moves_in_flight')).toBe(0)
    expect(await figure(world, 'lockkeeper_move_duration_seconds_count', '\\{state="done"\\}')).toBe(3)
  })

  test('updates its message at most every 5 s while they run, and only if it says something else', async () => {
    const world = await worldWith(addresses(12), { account: { moveTakes: { min: 500, max: 6_500 } } })
    const card = await requestEvacuation(world)
    world.accountApi.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 400, times: 12 })
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    const updates = world.slack.calls('chat.update').filter(({ args }) => args.ts === card.ts)
    const shown = updates.map(({ args: { text, blocks } }) => JSON.stringify([text, blocks]))
    expect(shown.filter((each, index) => each === shown[index - 1])).toEqual([])
    const meanwhile = updates.filter(({ args }) => /\*\d+ of 12 moved/.test(String(args.text)))
    expect(meanwhile.length).toBeGreaterThan(0)
    for (const [index, { at }] of meanwhile.entries()) if (index >= 1) expect(at - (meanwhile[index - 1]?.at ?? 0)).toBeGreaterThan(4_500)
  })

  test('goes on if one address fails, and offers to retry the rest and to move back the others', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    const { target, from } = { target: web2(world), from: world.accountApi.world.movable().elasticIp.serverId }
    const card = await requestEvacuation(world)
    world.slack.setNewBlocks('refused')
    world.accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${own[1]?.id}`, kind: 'status', status: 422, times: 1 })

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Partly done/)
    expect(report.text).toContain('(3 Elastic IPs)”. 2 of 3 moved.')
    expect(JSON.stringify(report.blocks)).toMatch(/203\.0\.113\.11` {2}failed\. .*422/)
    const failed = await untilCard(world.slack, /\*Partly done\*/)

    await world.ada.click(failed, 'Retry the rest')
    expect((await world.slack.until(() => world.ada.topView())).title).toBe('Retry the rest')
    await world.ada.submit()
    const rest = await untilCard(world.slack, /\(203\.0\.113\.\d+\)\n.*needs approval from/s)
    expect(rest.text).toMatch(/Repeats <http[^|]+\|request [0-9a-f]{8}>\./)
    await world.ben.click(rest, 'Approve')
    await untilReport(world.slack, rest.ts, /Done/)
    expect(serverOf(world, own[1]?.id ?? '')).toBe(target)

    await world.ada.click(failed, 'Move back')
    expect((await world.slack.until(() => world.ada.topView())).title).toBe('Move back')
    await world.ada.submit()
    const back = await untilCard(world.slack, /^Approval needed: Move back 2 Elastic IPs: web-2 → web-1.*needs approval from/s)
    expect(back.text).toMatch(/Undoes <http[^|]+\|request [0-9a-f]{8}>\./)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)
    expect([own[0], own[2]].map((each) => serverOf(world, each?.id ?? ''))).toEqual([from, from])

    await world.ada.click(failed, 'Move back')
    await untilShown(world.slack, people.ada, /Changed since by <.*: “Move back 2 Elastic IPs/)
  })

  test('leaves out what left the server meanwhile, does not move what came, and names both, also in the audit', async () => {
    const own = addresses(3)
    const world = await startWorldUnder('rules:\n  - { name: one, approve: [S0ONCALL01] }', withAddresses(own))
    const { slack, records, accountApi } = world
    const card = await requestEvacuation(world)
    accountApi.world.moveBehindOurBack(own[0]?.id ?? '', accountApi.world.third(own[0]?.id ?? '').id)
    accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${own[1]?.id}`, kind: 'status', status: 422, times: 1 })
    const source = serverOf(world, own[1]?.id ?? '') ?? ''
    const others = accountApi.world.elasticIps().filter(({ serverId, id }) => serverId !== source && !own.some((each) => each.id === id))
    const cameId = others[0]?.id ?? ''
    accountApi.world.moveBehindOurBack(cameId, source)

    await world.ben.click(card, 'Approve')
    await untilReport(slack, card.ts, /Assigned to web-1 after the request, so not moved/)
    const report = await untilReport(slack, card.ts, /Partly done/)

    expect(report.text).toContain('(3 Elastic IPs)”. 1 of 3 moved, 1 left out.')
    expect(report.text).toMatch(/Not started: `203\.0\.113\.10` is on/)
    expect(patched(world)).toEqual([own[1]?.id, own[2]?.id])
    expect(serverOf(world, cameId)).toBe(source)
    const ends = (await records.audit()).filter(({ act, item }) => item && ['finish', 'fail', 'void'].includes(act))
    expect(ends.map(({ act, item }) => `${act} ${item}`).toSorted()).toEqual(['fail eip_evac001', 'finish eip_evac002', 'void eip_evac000'])
    await world.ada.command('/infra audit 203.0.113.12', { channel: ops })
    const audit = await untilShown(slack, people.ada, /Audit:/)
    expect(audit.text).toContain('|Evacuate web-1 → web-2 (3 Elastic IPs)>*\nOutcome: Partly done, 1 of 3 moved')
    await world.ada.click(audit, 'Steps')
    const steps = (await untilShown(slack, people.ada, /Sending began/)).text.split('\n').filter((line) => /about/.test(line))
    expect(steps.toSorted().map((line) => line.replace(/:.*about/, ' about').slice(0, 70))).toEqual([
      expect.stringMatching(/^Canceled, because the account had changed about “Move 203\.0\.113\.10/),
      expect.stringMatching(/^Done about “Move 203\.0\.113\.12/),
      expect.stringMatching(/^Failed about “Move 203\.0\.113\.11/),
    ])
  })
})

describe('an evacuation and a request that moves to its server', () => {
  const away = [
    'evacuate web-1 web-2',
    /^Approval needed: Evacuate/,
    /Check first\*.*\n• {2}web-1 is being evacuated: “<http[^|]+\|Evacuate web-1 → web-2>” by <.*@ada>\./,
  ] as const
  const here = [
    'ip move 203.0.113.30 web-1',
    /^Approval needed: Move/,
    /Check first\*.*\n• {2}web-1 is also the target of “<http[^|]+\|Move 203\.0\.113\.30: .* → web-1>” by <.*@ada>\./,
  ] as const
  test.each([
    ['the evacuation', away, here, away[2]],
    ['the move', here, away, here[2]],
  ])('can both be open: the second says so first (first: %s)', async (_, [first, posted], [second, alsoPosted], warned) => {
    const [there] = addresses(1, () => ({ id: 'eip_there', address: '203.0.113.30' }))
    const world = await worldWith([...addresses(2), ...(there ? [there] : [])])
    world.accountApi.world.moveBehindOurBack('eip_there', world.accountApi.world.third('eip_there').id)
    await world.ada.command(`/infra ${first}`, { channel: ops })
    await untilCard(world.slack, posted)
    await world.ada.command(`/infra ${second}`, { channel: ops })
    expect((await untilCard(world.slack, alsoPosted)).text).toMatch(warned)
  })
})

describe('the addresses of an evacuation', () => {
  test('are refused with the reasons if one cannot be moved, and can be left out in the form, which lists BGP addresses', async () => {
    const notMoved = 'Not moved: `203.0.113.70` (BGP). If web-1 announces it, close its session.'
    const own = addresses(3, (index) => (index === 1 ? { status: 'error' } : {}))
    const world = await worldWith(own)

    await world.ada.command('/infra evacuate web-1 web-2', { channel: ops })
    const refused = await untilShown(
      world.slack,
      people.ada,
      /^Not requested: 1 of 3 addresses can't move to web-2\. 203\.0\.113\.11 has status/,
    )
    expect(world.slack.messages(ops)).toEqual([])
    await world.ada.click(refused, 'Evacuate')
    await world.ada.close(await world.slack.until(() => world.ada.topView()))

    await world.ada.command('/infra evacuate web-1', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(view.view)).toContain('has status error')
    expect(JSON.stringify(view.view)).toContain(notMoved)
    await world.ada.fill(view, { Target: 'web-2 (Storefront, ASH)' })
    await world.ada.fill(world.ada.topView(), { 'Addresses to move': '203.0.113.10', Reason: 'disk errors' })
    expect((await world.ada.submit()).errors).toBeUndefined()
    const card = await untilCard(world.slack, /\(203\.0\.113\.\d+\)\n/)

    for (const part of ['disk errors', "`203.0.113.12` wasn't chosen.", notMoved]) expect(card.text).toContain(part)
    await world.ben.click(card, 'Approve')
    expect((await untilReport(world.slack, card.ts, /Done/)).text).toContain(notMoved)
    expect(patched(world)).toEqual([own[0]?.id])
  })

  test('of which one has an open request are refused, and the others can be chosen in the form with one press', async () => {
    const world = await worldWith(addresses(2))
    await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
    await untilCard(world.slack, /Move 203\.0\.113\.10/)
    await world.ada.command('/infra evacuate web-1 web-2 because disk errors', { channel: ops })
    const refused = await untilShown(
      world.slack,
      people.ada,
      /you have an open request for .* To move the others, choose them in the form\.$/s,
    )
    await world.ada.click(refused, 'Evacuate')
    const form = JSON.stringify(await world.slack.until(() => world.ada.topView()))
    expect(form).toMatch(/"initial_option":.*web-1.*"initial_option":.*web-2/)
    expect(form).toContain('"initial_value":"disk errors"')
    await world.ada.close(world.ada.topView())

    await world.ada.click(refused, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    await requestEvacuation(world)
    await world.ada.command('/infra evacuate web-1 web-2', { channel: ops })
    const again = await untilShown(world.slack, people.ada, /you have an open request for `?web-1/)
    await world.ben.command('/infra evacuate web-1 web-2', { channel: ops })
    const ofOthers = await untilShown(world.slack, people.ben, /<@U0ADA00001> has an open request for `?web-1/)
    expect([again, ofOthers].map(({ blocks }) => JSON.stringify(blocks).includes('"Withdraw"'))).toEqual([true, false])
  })

  test('are left out by the form if they have an open request, which approvers check first and the result names', async () => {
    const why =
      /left out[^:]*: `203\.0\.113\.11` has an open request: “<http[^|]+\|Move 203\.0\.113\.11[^>]*>” by <[^>]+@ada>\. `203\.0\.113\.12` wasn't chosen\. To move an address now/
    const world = await worldWith(addresses(3))
    await world.ada.command('/infra ip move 203.0.113.11 web-2', { channel: ops })
    await untilCard(world.slack, /Move 203\.0\.113\.11/)
    await world.ada.command('/infra evacuate web-1', { channel: ops })
    await world.ada.fill(await world.slack.until(() => world.ada.topView()), { Target: 'web-2 (Storefront, ASH)' })
    await world.ada.fill(world.ada.topView(), { 'Addresses to move': '203.0.113.10' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /Evacuate .*needs approval from/s)

    expect(card.text.split('Check first')[1]).toMatch(why)
    await world.ben.click(card, 'Approve')
    expect((await untilReport(world.slack, card.ts, /Done/)).text).toMatch(/Left out at the request: `203\.0\.113\.11` has an open request/)
  })

  test('of a dead server are those that Lockkeeper saw there last, and one that moved meanwhile is left out', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    const target = web2(world)
    const third = world.accountApi.world.third(own[2]?.id ?? '').id
    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /203\.0\.113\.10/)
    world.accountApi.world.killServer(world.accountApi.world.movable().elasticIp.serverId ?? '')
    await forgetLists(world)

    const card = await requestEvacuation(world)
    expect(card.text).toContain('The account shows no server for 3 addresses. Last seen on')
    world.accountApi.world.moveBehindOurBack(own[2]?.id ?? '', third)
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Partly done/)

    expect(own.map(({ id }) => serverOf(world, id))).toEqual([target, target, third])
    expect(report.text).toMatch(/Not started: `203\.0\.113\.12` is on/)
    // Nothing of the rest is on the server.
    expect(report.text).toContain('Above: *Move back*.')
    expect(JSON.stringify((await untilCard(world.slack, /\*Partly done\*/)).blocks)).not.toContain('Retry the rest')
  })
})

/** The form that the command without a target opens. */
async function formFor({ slack, ada }: World, server: string) {
  const before = ada.openViews().map(({ id }) => id)
  await ada.command(`/infra evacuate ${server}`, { channel: ops })
  return slack.until(() => ada.openViews().find(({ id }) => !before.includes(id)), { what: 'the form' })
}

test('an address of a stopped evacuation whose write got no answer is refused with when it is free', async () => {
  const world = await worldWith(addresses(2), { env: { MOVE_TIMEOUT: '1s' } })
  const [lost] = addresses(2)
  world.accountApi.faults.add({ method: 'PATCH', path: new RegExp(`elastic_ips/${lost?.id}`), kind: 'drop-before', times: 1_000 })
  await world.ben.click(await requestEvacuation(world), 'Approve')
  await world.ada.click(await untilCard(world.slack, /Slower than usual/), 'Stop tracking')
  await untilCard(world.slack, /No longer tracked/)

  await world.ada.command(`/infra ip move ${lost?.address} web-3`, { channel: ops })

  await untilShown(
    world.slack,
    people.ada,
    /no longer tracked\)\.\nIt was sent without an answer, and may still take effect\. Try again at <!date/,
  )
})

test('an evacuation of a server to which addresses are on their way names what moves them, and moves them once nobody tracks that', async () => {
  const account = { moveTakes: { min: 600_000, max: 600_000 }, movePhases: [{ server: 'none' as const }] }
  const world = await worldWith(addresses(2), { env: { MOVE_TIMEOUT: '1s' }, account })
  const target = web2(world)
  await world.ben.click(await requestEvacuation(world), 'Approve')
  const slow = await untilCard(world.slack, /Slower than usual/)
  const named =
    /he account shows no Elastic IPs on web-2\. “<https:[^|]+\|Evacuate web-1 → web-2>” by .* moves addresses to it \(moving, 0 of 2 moved\)\. To move them elsewhere, press \*Stop tracking\* there once it is offered\. Then evacuate this server\./
  await world.ada.command('/infra evacuate web-2 web-3', { channel: ops })
  expect((await untilShown(world.slack, people.ada, /moving, 0 of 2 moved/)).text).toMatch(named)
  expect(JSON.stringify(await formFor(world, 'web-2'))).toMatch(/Nothing to move\..*Evacuate web-1 → web-2.*press \*Stop tracking\*/)
  await world.ada.click(slow, 'Stop tracking')
  await untilCard(world.slack, /No longer tracked/)
  world.accountApi.world.killServer(target)
  for (const { id } of addresses(2)) world.accountApi.world.endMove(id)
  await forgetLists(world)

  await world.ada.command('/infra web-2', { channel: ops })
  const found = await untilShown(world.slack, people.ada, /No Elastic IPs shown\. Sent here .*203\.0\.113\.10/)
  expect(JSON.stringify(found.blocks)).toContain('Evacuate…')
  const form = JSON.stringify(await formFor(world, 'web-2'))
  expect(form).toContain('Sent here, no longer tracked')
  expect(form).not.toContain('Nothing to move')
  await world.ada.command('/infra evacuate web-2 web-3', { channel: ops })
  const card = await untilCard(world.slack, /Evacuate web-2 → web-3 \(2 Elastic IPs\)/)
  expect(card.text).toMatch(/Check first.*An earlier change may still finish: Evacuate web-1 → web-2.*no longer tracked/s)
  expect(card.text).not.toContain('Last seen')
  await world.ben.click(card, 'Approve')
  await untilCard(world.slack, /Evacuate web-2 → web-3.*Moving/s)
  await expect.poll(() => patched(world)).toHaveLength(4)
})
