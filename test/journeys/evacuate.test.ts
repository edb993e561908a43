import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ElasticIpState } from '../sandbox/account-api/data.ts'
import { addresses, patched, requestEvacuation, withAddresses } from './evacuations.ts'
import { forgetLists, ops, people, startWorld, untilCard, untilReport, untilShown, type World, type WorldOptions } from './world.ts'

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
    for (const { address, id } of own) expect(card.text).toContain(`\`${address}\`  ${id}`)
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(patched(world)).toEqual(own.map(({ id }) => id))
    for (const { id } of own) expect(serverOf(world, id)).toBe(target)
    expect(report.text).toContain('14 Elastic IPs are assigned to `web-2`.')
    expect(report.blocks?.find(({ type }) => type === 'data_table')?.rows).toHaveLength(15)
    for (const { address } of own) expect(report.text).toContain(`:large_green_circle: \`${address}\`  moved`)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
    const done = await untilCard(world.slack, /\*Done\*/)
    expect(done.text).toContain('14 of 14 moved.')
  })

  test('sends at most five writes at once, and updates its message at most every 5 s while they run, and only if it says something else', async () => {
    const world = await worldWith(addresses(12), { account: { moveTakes: { min: 500, max: 9_000 } } })
    const card = await requestEvacuation(world)
    world.accountApi.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 400, times: 12 })
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    const sent = world.accountApi.journal.writes().map(({ time }) => time)
    expect(sent).toHaveLength(12)
    for (const [index, time] of sent.entries()) if (index >= 5) expect(time - (sent[index - 5] ?? 0)).toBeGreaterThan(380)
    const updates = world.slack.calls('chat.update').filter(({ args }) => args.ts === card.ts)
    const shown = updates.map(({ args: { text, blocks } }) => JSON.stringify([text, blocks]))
    expect(shown.filter((each, index) => each === shown[index - 1])).toEqual([])
    const meanwhile = updates.filter(({ args }) => /\*\d+ of 12 moved/.test(String(args.text)))
    expect(meanwhile.length).toBeGreaterThan(0)
    for (const [index, { at }] of meanwhile.entries()) if (index >= 1) expect(at - (meanwhile[index - 1]?.at ?? 0)).toBeGreaterThan(4_500)
  })

  test('is followed by lists as single moves are, and not address by address', async () => {
    const env = { MOVE_POLL_INTERVAL: '500ms', MOVE_POLL_BUDGET: '600' }
    const own = addresses(20)
    const world = await worldWith(own, { env, account: { moveTakes: { min: 600_000, max: 600_000 } } })
    const { journal } = world.accountApi
    const card = await requestEvacuation(world)
    await world.ben.click(card, 'Approve')
    await world.slack.until(() => journal.writes().length === 20, { what: '20 writes' })

    journal.clear()
    await expect.poll(() => journal.length).toBeGreaterThan(1)

    const reads = journal.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(reads)).toEqual(new Set(['GET /elastic_ips']))
    for (const { id } of own) world.accountApi.world.endMove(id)
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('goes on if one address fails, and offers to retry the rest and to move back the others', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    const { target, from } = { target: web2(world), from: world.accountApi.world.movable().elasticIp.serverId }
    const card = await requestEvacuation(world)
    world.slack.setTables('refused')
    world.accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${own[1]?.id}`, kind: 'status', status: 422, times: 1 })

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Partly done/)

    expect(report.text).toContain('(3 Elastic IPs)”. 2 of 3 moved.')
    expect(report.text).toContain('Above, you can press *Retry the rest*, or *Move back* to undo what was moved.')
    expect(JSON.stringify(report.blocks)).toMatch(/203\.0\.113\.11` {2}failed\. .*422/)
    const failed = await untilCard(world.slack, /\*Partly done\*/)
    expect(failed.text).toContain(`:red_circle: \`${own[1]?.address}\`  failed`)

    await world.ada.click(failed, 'Retry the rest')
    expect((await world.slack.until(() => world.ada.topView())).title).toBe('Retry the rest')
    await world.ada.submit()
    const rest = await untilCard(world.slack, /\(203\.0\.113\.\d+\)\n.*needs approval from/s)
    expect(rest.text).toMatch(
      /\*Check first\*\n• {2}The last try, less than a minute before this request, failed\. .*422.* 203\.0\.113\.11 wasn't changed\./,
    )
    expect(rest.text).toMatch(/Repeats <http[^|]+\|request [0-9a-f]{8}>\./)
    await world.ben.click(rest, 'Approve')
    await untilReport(world.slack, rest.ts, /Done/)
    expect(serverOf(world, own[1]?.id ?? '')).toBe(target)

    await world.ada.click(failed, 'Move back')
    const form = await world.slack.until(() => world.ada.topView())
    expect(form.title).toBe('Move back')
    await world.ada.submit()
    const back = await untilCard(world.slack, /^Move back 2 Elastic IPs: web-2 → web-1.*needs approval from/s)
    expect(back.text).toMatch(/Undoes <http[^|]+\|request [0-9a-f]{8}>\./)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)
    expect([own[0], own[2]].map((each) => serverOf(world, each?.id ?? ''))).toEqual([from, from])

    await forgetLists(world)
    const again: string[] = []
    for (const press of ['Retry the rest', 'Move back']) {
      await world.ada.click(failed, press)
      const nothing = await world.slack.until(() => (world.ada.topView().title === 'Nothing to move' ? world.ada.topView() : undefined))
      again.push(
        JSON.stringify(nothing.view).match(/No address[^.]*?anymore:.*?\(on [\w-]+\)(?=\\nLast)/)?.[0] ?? JSON.stringify(nothing.view),
      )
      await world.ada.close()
    }
    expect(again).toMatchInlineSnapshot(`
      [
        "No address of this request is on \`web-1\` anymore:\\n•  203.0.113.11 (on web-2)",
        "No address of this request is on \`web-2\` anymore:\\n•  203.0.113.10 (on web-1)\\n•  203.0.113.12 (on web-1)",
      ]
    `)
  })

  test('leaves out what left the server meanwhile, does not move what came, and names both', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    const card = await requestEvacuation(world)
    const { world: account } = world.accountApi
    const third = account.third(own[0]?.id ?? '').id
    account.moveBehindOurBack(own[0]?.id ?? '', third)
    const source = account.elasticIp(own[1]?.id ?? '')?.serverId ?? ''
    const cameId = account.elasticIps().find(({ serverId, id }) => serverId !== source && !own.some((each) => each.id === id))?.id ?? ''
    account.moveBehindOurBack(cameId, source)

    await world.ben.click(card, 'Approve')
    const remark = await untilReport(world.slack, card.ts, /was assigned to web-1 after the request/)
    const report = await untilReport(world.slack, card.ts, /Partly done/)

    expect(remark.text).toContain("so it isn't moved")
    expect(report.text).toContain('(3 Elastic IPs)”. 2 of 3 moved.')
    expect(report.text).toMatch(/`203\.0\.113\.10` {2}not started\. .*is on/)
    expect(patched(world)).toEqual([own[1]?.id, own[2]?.id])
    expect(serverOf(world, cameId)).toBe(source)
  })

  test('sends nothing more once its tracking is stopped, and the rest when it is tracked again', async () => {
    const own = addresses(12)
    const world = await worldWith(own, { env: { MOVE_POLL_INTERVAL: '500ms' } })
    const { journal, faults } = world.accountApi
    const card = await requestEvacuation(world)
    faults.add({ method: 'PATCH', kind: 'delay', delayMs: 700, times: 12 })
    await world.ben.click(card, 'Approve')
    const moving = await untilCard(world.slack, /\*Moving\*/)

    await world.ada.click(moving, 'Stop tracking')
    const stopped = await untilCard(world.slack, /\*No longer tracked\*/)
    const sent = journal.writes().length
    await pause(1_000)
    expect(sent).toBeLessThan(12)
    expect(journal.writes()).toHaveLength(sent)
    await world.ada.click(stopped, 'Track again')

    await untilReport(world.slack, card.ts, /Done/)
    expect(patched(world)).toEqual(own.map(({ id }) => id))
  })
})

describe('the addresses of an evacuation', () => {
  test('are refused with the reasons if one cannot be moved, and can be left out in the form', async () => {
    const own = addresses(3, (index) => (index === 1 ? { status: 'error' } : {}))
    const world = await worldWith(own)

    await world.ada.command('/infra evacuate web-1 web-2', { channel: ops })
    const refusal = await untilShown(world.slack, people.ada, /can't be moved/)
    expect(refusal.text).toMatchInlineSnapshot(
      `"1 of 3 addresses of web-1 can't be moved to web-2, so nothing was requested. 203.0.113.11 has status error. Only active Elastic IPs can be moved. To move the others, leave out the target and choose them in the form."`,
    )
    expect(world.slack.messages(ops)).toEqual([])

    await world.ada.command('/infra evacuate web-1', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(view.view)).toContain('has status error')
    await world.ada.fill(view, { Target: 'web-2 (Storefront, ASH)' })
    await world.ada.fill(world.ada.topView(), { 'Addresses to move': '203.0.113.10', Reason: 'disk errors' })
    const submitted = await world.ada.submit()
    expect(submitted.errors).toBeUndefined()
    const card = await untilCard(world.slack, /\(203\.0\.113\.\d+\)\n/)

    expect(card.text).toContain('disk errors')
    expect(card.text).toContain(
      "2 addresses are left out. `203.0.113.11` has status `error`. Only active Elastic IPs can be moved. `203.0.113.12` isn't part of this request.",
    )
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patched(world)).toEqual([own[0]?.id])
  })

  test('are locked: an evacuation and a move never have the same address at once', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    await world.ada.command(`/infra ip move ${own[0]?.address} web-3`, { channel: ops })
    const move = await untilCard(world.slack, /Move .*needs approval from/s)

    await world.ben.command('/infra evacuate web-1 web-2', { channel: ops })
    const refusal = await untilShown(world.slack, people.ben, /other requests are open/)
    expect(refusal.text.replace(/p\d{16}/, 'p1')).toMatchInlineSnapshot(`
      "Nothing was requested, because other requests are open for some of these addresses:
      •  \`203.0.113.10\`: a request of <@U0ADA00001> (waiting for approval), <https://nimbus-works.slack.com/archives/C0OPS00001/p1|open it>
      Wait until these requests end, or have them withdrawn or rejected. To leave these addresses out, name only the server: the form opens."
    `)
    await world.ada.click(move, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    await requestEvacuation(world)

    await world.ben.command(`/infra ip move ${own[2]?.address} web-3`, { channel: ops })
    await untilShown(world.slack, people.ben, /has an open request for/)
    await world.ben.command('/infra evacuate web-1 web-3', { channel: ops })
    await untilShown(world.slack, people.ben, /has an open request for/)
  })

  test('are all shown on one message, also 50, and are read with one list right before their writes', async () => {
    const own = addresses(50)
    const world = await worldWith(own)

    const card = await requestEvacuation(world)

    expect(JSON.stringify(card.blocks)).toContain(own[49]?.address)
    const target = `/servers/${web2(world)}`
    world.accountApi.journal.clear()
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patched(world)).toHaveLength(50)
    const { journal } = world.accountApi
    const firstWrite = journal.findIndex(({ method }) => method === 'PATCH')
    const reads = journal.filter(({ method, path }, index) => method === 'GET' && (index < firstWrite || path.startsWith('/servers')))
    expect(reads.map(({ path }) => path).toSorted()).toEqual(['/elastic_ips', '/elastic_ips', target])
  })
})

describe('BGP addresses', () => {
  const notMoved = '`203.0.113.70` not moved: BGP, may be announced by `web-1`. Close its session by hand.'
  const _bgpAddress = ({ data }: World['accountApi']['world']) => data.elasticIps.find(({ mode }) => mode === 'bgp')

  test('of the same project and site are listed as not moved in the form, the message and the report', async () => {
    const world = await worldWith(addresses(2))

    await world.ada.command('/infra evacuate web-1', { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(form.view)).toContain(notMoved)
    await world.ada.fill(form, { Target: 'web-2 (Storefront, ASH)' })
    expect((await world.ada.submit()).errors).toBeUndefined()
    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(notMoved)
    expect(card.text).not.toContain('Check first')
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect([report.text, JSON.stringify(report.blocks)]).toEqual([expect.stringContaining(notMoved), expect.stringContaining(notMoved)])
    expect(patched(world)).toHaveLength(2)
  })
})

describe('the addresses of a dead server', () => {
  const dead = (world: World) => world.accountApi.world.killServer(world.accountApi.world.movable().elasticIp.serverId ?? '')

  test('are those that Lockkeeper saw there last, and one that moved meanwhile is left out', async () => {
    const own = addresses(3)
    const world = await worldWith(own)
    const target = web2(world)
    const third = world.accountApi.world.third(own[2]?.id ?? '').id
    await world.ada.command('/infra ip list', { channel: ops })
    await untilShown(world.slack, people.ada, /203\.0\.113\.10/)
    dead(world)
    await forgetLists(world)

    const card = await requestEvacuation(world)
    expect(card.text).toContain('The account shows no server for 3 addresses. Lockkeeper saw all of them on')
    expect(card.text).not.toContain('last seen on')
    world.accountApi.world.moveBehindOurBack(own[2]?.id ?? '', third)
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Partly done/)

    expect(own.map(({ id }) => serverOf(world, id))).toEqual([target, target, third])
    expect(report.text).toContain('(3 Elastic IPs)”. 2 of 3 moved.')
    expect(report.text).toMatch(/`203\.0\.113\.12` {2}not started\. .*is on/)
  })
})
