import { describe, expect, test } from 'vitest'
import { addresses, patched, requestEvacuation, withAddresses } from './evacuations.ts'
import { startWorldUnder } from './policy-world.ts'
import { ops, people, untilCard, untilReport, untilShown, type World } from './world.ts'

const two = 'rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 }, self_approval: break-glass }'

async function figure(world: World, name: string, labels = ''): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${world.bots[0]?.opsPort}/metrics`)).text()
  return Number(new RegExp(`^${name}${labels} (\\d+)$`, 'm').exec(page)?.[1])
}

async function openHome({ slack }: World, user: string): Promise<string> {
  const event = { type: 'app_home_opened', user, channel: `D${user.slice(1)}`, tab: 'home', event_ts: '1.1' }
  const body = {
    type: 'event_callback',
    team_id: 'T0NIMBUS01',
    api_app_id: 'A0LOCKKEEP',
    event_id: `Ev${Math.random()}`,
    event_time: 1,
    event,
  }
  await slack.sendRaw({ body: JSON.stringify(body), contentType: 'application/json' })
  return slack.until(() => slack.home(user) && JSON.stringify(slack.home(user)?.blocks))
}

describe('an evacuation, like every other request,', () => {
  test('needs as many people as its rule says, and counts its addresses wherever it is listed', async () => {
    const world = await startWorldUnder(two, withAddresses(addresses(3), { account: { moveTakes: { min: 4_000, max: 4_000 } } }))
    const { slack, ada, ben, chiara } = world
    const card = await requestEvacuation(world)

    await ben.command('/infra pending', { channel: ops })
    expect((await untilShown(slack, people.ben, /1 request needs approval/)).text).toContain('Evacuate web-1 → web-2 (3 Elastic IPs)')
    expect(await openHome(world, people.chiara)).toMatch(/Needs your approval \(1\).*203\.0\.113\.12/)
    await ben.click(card, 'Approve')
    await untilCard(slack, /1 of 2/)
    expect(patched(world)).toEqual([])
    await chiara.click(card, 'Approve')
    await untilCard(slack, /\*Moving\*/)
    await expect.poll(() => figure(world, 'lockkeeper_moves_in_flight')).toBe(3)

    await ada.command('/infra moves', { channel: ops })
    expect((await untilShown(slack, people.ada, /in progress/)).text).toMatch(/moving, 0 of 3 moved/)
    expect(await openHome(world, people.ada)).toMatch(/moving, \d of \d+ moved, since </)
    await untilReport(slack, card.ts, /Done/)

    await expect.poll(() => figure(world, 'lockkeeper_moves_in_flight')).toBe(0)
    expect(await figure(world, 'lockkeeper_move_duration_seconds_count', '\\{state="done"\\}')).toBe(3)
    const { text } = await untilCard(slack, /\*Done\*/)
    expect(text).toContain(`approved by <@${people.ben}> and <@${people.chiara}>`)
  })

  test('needs the approvals of the rule that names it and of the rule for moves, and says so', async () => {
    const policy = `rules:
  - { name: failover, changes: ip.evacuate, approve: [U0CHI00001] }
  - { name: moves, changes: ip.move, approve: [U0BEN00001] }`
    const world = await startWorldUnder(policy, withAddresses(addresses(2)))
    const card = await requestEvacuation(world)
    expect(card.text).toMatch(/needs approval from <@U0CHI00001>, and also <@U0BEN00001> by /)

    await world.ben.click(card, 'Approve')
    await world.slack.until(() => world.slack.ephemerals(people.ben).find(({ text }) => /One more needed/.test(text)))
    expect(patched(world)).toEqual([])
    await world.chiara.click(card, 'Approve')

    await untilReport(world.slack, card.ts, /Done/)
    expect(patched(world)).toHaveLength(2)
    const [request] = await world.records.all()
    expect(request).toMatchObject({ rule: 'failover', otherRules: [{ name: 'moves', approvals: 1 }], decision: { counted: [1, 1] } })
  })

  test('reminds its approvers, expires, and can be requested again with the same addresses', async () => {
    const policy = 'rules:\n  - { name: soon, approve: [S0ONCALL01], expires: 3s }'
    const world = await startWorldUnder(policy, withAddresses(addresses(3)))
    await world.ada.command('/infra evacuate web-1', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(view, { Target: 'web-2 (Storefront, ASH)' })
    await world.ada.fill(world.ada.topView(), { 'Addresses to move': '203.0.113.10' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /web-2 \(203\.0\.113\.\d+\)\n.*needs approval from/s)

    const reminder = await untilReport(world.slack, card.ts, /still needs approval/)
    expect(reminder.text).toContain('“Evacuate `web-1` → `web-2` (`203.0.113.10`)” still needs approval')
    const expired = await untilCard(world.slack, /\*Expired\*/)
    await world.ada.click(expired, 'Request again')
    await world.slack.until(() => world.ada.topView())
    await world.ada.submit()

    await untilCard(world.slack, /web-2 \(203\.0\.113\.\d+\)\n.*needs approval from/s)
    expect((await world.records.all()).map(({ input }) => input)).toEqual(
      Array(2).fill(expect.objectContaining({ elasticIpIds: ['eip_evac000'] })),
    )
    expect(patched(world)).toEqual([])
  })

  test('says where its only address is by now, and offers no second request that would find nothing', async () => {
    const [own] = addresses(1)
    const world = await startWorldUnder(two.replace('approvals: 2', 'approvals: 1'), withAddresses(addresses(1)))
    const card = await requestEvacuation(world)
    world.accountApi.world.moveBehindOurBack(own?.id ?? '', world.accountApi.world.third(own?.id ?? '').id)

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Canceled/)

    expect(report.text).toMatch(
      /Nothing was done\. `203\.0\.113\.10` is on `[\w-]+`, not on `web-1`\. To move it from there, request its move\.$/,
    )
    expect(JSON.stringify(await untilCard(world.slack, /Canceled/))).not.toContain('Request again')
  })

  test('is in the audit with the outcome of each address, and as one row', async () => {
    const own = addresses(3)
    const world = await startWorldUnder(two.replace('approvals: 2', 'approvals: 1'), withAddresses(own))
    const { slack, ada, ben, accountApi, records } = world
    const card = await requestEvacuation(world)
    accountApi.world.moveBehindOurBack(own[0]?.id ?? '', accountApi.world.third(own[0]?.id ?? '').id)
    accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${own[1]?.id}`, kind: 'status', status: 422, times: 1 })
    await ben.click(card, 'Approve')
    await untilReport(slack, card.ts, /Partly done/)

    const ends = (await records.audit()).filter(({ act, item }) => item && ['finish', 'fail', 'void'].includes(act))
    expect(ends.map(({ act, item }) => [act, item]).toSorted()).toEqual([
      ['fail', 'eip_evac001'],
      ['finish', 'eip_evac002'],
      ['void', 'eip_evac000'],
    ])
    await ada.command('/infra audit 203.0.113.12', { channel: ops })
    const audit = await untilShown(slack, people.ada, /Audit:/)
    expect(audit.text).toContain('|Evacuate web-1 → web-2 (3 Elastic IPs)>*  ·  Partly done, 1 of 3 moved')
    expect(audit.text).toContain('Event of the account: `update.elastic_ip`')
    await ada.click(audit, 'Steps of a request', { choose: (await records.all())[0]?.id ?? '' })

    const steps = (await untilShown(slack, people.ada, /Sending began/)).text.replace(/<!date\^[^>]*>/g, '(time)').split('\n')
    expect(steps.filter((line) => /about/.test(line)).toSorted()).toEqual([
      expect.stringMatching(
        /^Canceled, because the account had changed: \(time\) {2}· {2}about “Move 203\.0\.113\.10: .*203\.0\.113\.10 is on/,
      ),
      expect.stringMatching(/^Done: \(time\) {2}· {2}about “Move 203\.0\.113\.12: web-1 → web-2”/),
      expect.stringMatching(/^Failed: \(time\) {2}· {2}about “Move 203\.0\.113\.11: web-1 → web-2”.*422/),
    ])
  })

  test('waits with all its writes while the account API asks to slow down', async () => {
    const own = addresses(12)
    const world = await startWorldUnder(two.replace('approvals: 2', 'approvals: 1'), withAddresses(own))
    const card = await requestEvacuation(world)
    const { faults, journal } = world.accountApi
    const limited = { kind: 'status', status: 429, headers: { 'retry-after': '2' } } as const
    faults.add({ method: 'PATCH', path: `/elastic_ips/${own[2]?.id}`, ...limited })
    faults.add({ method: 'PATCH', kind: 'delay', delayMs: 100, times: 20 })

    await world.ben.click(card, 'Approve')
    await world.slack.until(() => journal.writes().length === 12 || undefined, { what: '12 writes' })

    const slowed = journal.writes().find(({ path }) => path.endsWith(own[2]?.id ?? ''))?.time ?? 0
    expect(journal.writes().filter(({ time }) => time < slowed + 1_950).length).toBeLessThanOrEqual(5)
  })

  test('reports each address that takes longer than MOVE_TIMEOUT, in one report that names them', async () => {
    const own = addresses(3)
    const env = { MOVE_TIMEOUT: '1s' }
    const world = await startWorldUnder(two.replace('approvals: 2', 'approvals: 1'), withAddresses(own, { env }))
    world.accountApi.world.nextMove({ takesMs: 200 })
    for (const _ of [1, 2]) world.accountApi.world.nextMove({ takesMs: 2_500 })
    const card = await requestEvacuation(world)
    await world.ben.click(card, 'Approve')

    const late = await untilReport(world.slack, card.ts, /Late/)
    expect(late.text).toMatch(/1 of 3 moved after .* \(expected within 1\ss each\)\. Still under way: `203\.0\.113\.\d+`/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(world.slack.thread(ops, card.ts).filter(({ text }) => /Late/.test(text))).toHaveLength(1)
  })
})
