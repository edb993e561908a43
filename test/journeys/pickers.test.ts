import { describe, expect, test } from 'vitest'
import { ops, startWorld, untilCard, type World } from './world.ts'

async function openForm(world: World, command: string) {
  await world.ada.command(command, { channel: ops })
  return world.slack.until(() => world.ada.topView())
}

async function search(world: World, element: string, typed: string) {
  const found = await world.ada.search(undefined, element, typed)
  return found.options.map(({ text }) => text.text)
}

/** Chooses an Elastic IP, and waits until the bot has updated the form for it. */
async function chooseAddress(world: World, text: string): Promise<string> {
  const { id = '' } = world.accountApi.world.elasticIps().find(({ address }) => text.startsWith(`${address} `)) ?? {}
  await world.ada.fill(undefined, { 'Elastic IP': text })
  await world.slack.until(() => JSON.parse(String(world.ada.topView().view.private_metadata)).chosen === id)
  return id
}

describe('the servers for an Elastic IP', () => {
  test('are those of its project and site, without the present one, although Slack does not send what was chosen', async () => {
    const world = await startWorld()
    await openForm(world, '/infra ip move')
    const all = await search(world, 'Server', '')

    await chooseAddress(world, '203.0.113.81 on ingest-dal-1')

    expect(all).toHaveLength(26)
    expect(await search(world, 'Server', '')).toEqual([
      'ingest-dal-2 (Data platform, DAL)',
      'warehouse-1 (Data platform, DAL)',
      'warehouse-2 (Data platform, DAL)',
    ])
    expect(await search(world, 'Server', 'web-2')).toEqual([])
    const views = world.slack.deliveries.filter(({ kind }) => kind === 'block_suggestion').map(({ payload }) => payload.view)
    expect(views.length).toBeGreaterThan(3)
    for (const view of views) expect(view).toMatchObject({ state: { values: {} } })
  })

  test('are loaded anew when another Elastic IP is chosen: a server that no longer fits goes, and the other fields stay', async () => {
    const world = await startWorld()
    await openForm(world, '/infra ip move')
    await chooseAddress(world, '203.0.113.10 on web-1')
    await world.ada.fill(undefined, { Reason: 'web-1 is to be rebooted', Server: 'web-2 (Storefront, ASH)' })

    const id = await chooseAddress(world, '203.0.113.40 on edge-fra-1')

    const errors = { [`serverId:${id}`]: 'Please complete this required field.' }
    expect(await world.ada.submit()).toMatchObject({ outcome: 'not-sent', errors })
    await world.ada.fill(undefined, { Server: 'edge-fra-2 (Storefront, FRA)' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /Move 203\.0\.113\.40: edge-fra-1 → edge-fra-2/)
    expect(card.text).toContain('web-1 is to be rebooted')
  })

  test('are checked at submission if the form could not be updated', async () => {
    const world = await startWorld()
    const fault = world.slack.faults.add({ method: 'views.update', kind: 'error', error: 'internal_error', times: 5 })
    await openForm(world, '/infra ip move')
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.10 on web-1', Server: 'edge-fra-1 (Storefront, FRA)' })

    const submitted = await world.ada.submit()

    await expect.poll(() => fault.fired).toBe(1)
    expect(submitted.errors?.serverId).toMatch(/can't leave its site/)
  })
})

describe('a picker', () => {
  test('is filled when its form opens, before anybody types, and answers from its copy while the account API hangs', async () => {
    const world = await startWorld()
    await openForm(world, '/infra vm rename')
    await expect.poll(() => world.accountApi.journal.map(({ path }) => path)).toContain('/virtual_machines')
    expect(world.slack.deliveries.filter(({ kind }) => kind === 'block_suggestion')).toEqual([])
    await search(world, 'Virtual machine', '')
    world.accountApi.faults.add({ method: 'GET', path: /virtual_machines/, times: 100, kind: 'delay', delayMs: 20_000 })

    const found = await world.ada.search(undefined, 'Virtual machine', 'grafana')

    expect(found.options.map(({ text }) => text.text)).toEqual(['grafana-1 (Internal tools, DAL)'])
  })
})
