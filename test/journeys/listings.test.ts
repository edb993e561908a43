import { describe, expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilShown } from './world.ts'

describe('the listings', () => {
  test('help marks what the person may not request', async () => {
    const world = await startWorld({ env: { OPERATORS: people.chiara } })
    await world.ada.command('/infra help', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /What you can do/)).text).toMatch(/Not available to you here:_ `\/infra ip move`/)
    await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
    await untilShown(world.slack, people.ada, /You can't request this here/)
  })

  test('cities find servers and Elastic IPs, and a list that shows only the codes of sites names them', async () => {
    const world = await startWorld()
    for (const [command, found] of [
      ['servers dallas', /\b[1-9]\d* servers? matching `dallas`/],
      ['ip list dallas', /\b[1-9]\d* Elastic IPs? matching `dallas`/],
      ['vms narnia', /match `narnia`\. Use another word\. Sites in this list: ASH, /],
      ['plans narnia', /match `narnia`\. Use another word\. Sites in this list: ASH, DAL, FRA, SAO, TYO\./],
    ] as const) {
      await world.ada.command(`/infra ${command}`, { channel: ops })
      await untilShown(world.slack, people.ada, found)
    }
  })

  test('moves in flight, waiting and ended', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 60_000, max: 60_000 } } })
    await world.ada.command('/infra moves', { channel: ops })
    await untilShown(world.slack, people.ada, /No moves/)
    const [done, flying, waiting] = [0, 1, 2].map((index) => world.accountApi.world.movable(index))
    if (!done || !flying || !waiting) throw new Error('the stand-in has too few')

    world.accountApi.world.nextMove({ takesMs: 100 })
    await world.ada.command(`/infra ip move ${done.elasticIp.id} ${done.target.id}`, { channel: ops })
    const first = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(first, 'Approve')
    await untilReport(world.slack, first.ts, /Done/)
    await world.ada.command(`/infra ip move ${flying.elasticIp.id} ${flying.target.id}`, { channel: ops })
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    await world.ada.command(`/infra ip move ${waiting.elasticIp.id} ${waiting.target.id}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    await world.ada.command('/infra moves', { channel: ops })
    const { text } = await untilShown(world.slack, people.ada, /1 in progress/)
    expect(text).toMatch(/1 in progress, 1 waiting for approval, 1 ended lately/)
    expect(text).toMatch(/moving {2}· {2}(\d+\ss|less than a second) so far/)
  })
})

describe('baselines', () => {
  test('are shown', async () => {
    const world = await startWorld()
    await world.ada.command('/infra baselines kafka', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /baseline/)).text).toMatch(/4 disks for storage, RAID 0, ext4 on `\/var\/lib\/kafka`/)
  })

  test.each([
    [403, { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }],
    [404, undefined],
  ])('are explained to a team without the feature flag, with whom to ask (%i)', async (status, body) => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /baselines/, kind: 'status', status, body })
    await world.ada.command('/infra baselines', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /baselines_api/)).text).toMatch(/preview/)
  })

  test('are not explained by the feature flag if the key may not read them', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /baselines/, kind: 'status', status: 403 })
    await world.ada.command('/infra baselines', { channel: ops })
    const { text } = await untilShown(world.slack, people.ada, /403/)
    expect(text).toContain("Lockkeeper's API key isn't allowed to do this (403)")
    expect(text).not.toContain('baselines_api')
  })
})
