import { describe, expect, test, vi } from 'vitest'
import { ops, people, startWorld, untilCard, untilShown, type World } from './world.ts'

async function openForm(world: World, command: string) {
  await world.ada.command(command, { channel: ops })
  return world.slack.until(() => world.ada.topView())
}

async function search(world: World, element: string, typed: string) {
  const found = await world.ada.search(undefined, element, typed)
  return found.options.map(({ text }) => text.text)
}

/** Waits until the bot has updated the form for the chosen Elastic IP. */
async function untilFormUpdated(world: World, elasticIpId: string) {
  await world.slack.until(() => JSON.parse(String(world.ada.topView().view.private_metadata)).extra === elasticIpId)
}

function byAddress(world: World, address: string) {
  const found = world.accountApi.world.elasticIps().find((one) => one.address === address)
  if (!found) throw new Error(`the stand-in has no Elastic IP ${address}`)
  return found
}

function serverValue(world: World): unknown {
  const { values } = world.ada.topView().view.state as {
    values: Record<string, Record<string, { selected_option?: { value: string } | null }>>
  }
  const [, block] = Object.entries(values).find(([blockId]) => blockId.startsWith('serverId')) ?? []
  return block?.['move-elastic-ip:serverId']?.selected_option?.value
}

describe('the servers for an Elastic IP', () => {
  test('are those of its project and site, without the present one, although Slack does not send what was chosen', async () => {
    const world = await startWorld()
    await openForm(world, '/infra ip move')
    const all = await search(world, 'Server', '')

    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.81 on ingest-dal-1' })
    await untilFormUpdated(world, byAddress(world, '203.0.113.81').id)

    expect(all).toHaveLength(26)
    expect(await search(world, 'Server', '')).toEqual([
      'ingest-dal-2 (Data platform, DAL)',
      'warehouse-1 (Data platform, DAL)',
      'warehouse-2 (Data platform, DAL)',
    ])
    expect(await search(world, 'Server', 'web-2')).toEqual([])
    expect(world.slack.deliveries.filter(({ kind }) => kind === 'block_suggestion').map(({ payload }) => payload.view)).toMatchObject(
      Array(4).fill({ state: { values: {} } }),
    )
  })

  test('are loaded anew when another Elastic IP is chosen: a server that no longer fits goes, and the other fields stay', async () => {
    const world = await startWorld()
    await openForm(world, '/infra ip move')
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.10 on web-1', Reason: 'web-1 is to be rebooted' })
    await untilFormUpdated(world, byAddress(world, '203.0.113.10').id)
    await world.ada.fill(undefined, { Server: 'web-2 (Storefront, ASH)' })

    const fra = byAddress(world, '203.0.113.40')
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.40 on edge-fra-1' })
    await untilFormUpdated(world, fra.id)

    expect(serverValue(world)).toBeUndefined()
    expect(await world.ada.submit()).toMatchObject({
      outcome: 'not-sent',
      errors: { [`serverId:${fra.id}`]: 'Please complete this required field.' },
    })
    await world.ada.fill(undefined, { Server: 'edge-fra-2 (Storefront, FRA)' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain('Move 203.0.113.40: edge-fra-1 → edge-fra-2')
    expect(card.text).toContain('web-1 is to be rebooted')
  })

  test('are checked at submission if the form could not be updated', async () => {
    const world = await startWorld()
    const fault = world.slack.faults.add({ method: 'views.update', kind: 'error', error: 'internal_error', times: 5 })
    await openForm(world, '/infra ip move')
    await world.ada.fill(undefined, { 'Elastic IP': '203.0.113.10 on web-1', Server: 'edge-fra-1 (Storefront, FRA)' })

    const submitted = await world.ada.submit()

    await expect.poll(() => fault.fired).toBe(1)
    expect(submitted.errors?.serverId).toMatch(/can only be moved within its site/)
  })
})

test('a BGP address is neither offered nor filled in, and a command for it is refused before anything is requested', async () => {
  const world = await startWorld()
  await world.ada.command('/infra ip move 203.0.113.70 web-2', { channel: ops })
  const refusal = await untilShown(world.slack, people.ada, /BGP/)
  await openForm(world, '/infra ip move 203.0.113.70')

  expect(refusal.text).toBe(
    "203.0.113.70 is a BGP address: several servers can announce it, so it isn't moved. Nothing was requested. Close or open its BGP sessions in the dashboard.",
  )
  expect(JSON.stringify(world.ada.topView().view)).toContain('203.0.113.70 is a BGP address')
  expect(JSON.stringify(world.ada.topView().view)).not.toContain('initial_option')
  expect(await search(world, 'Elastic IP', '203.0.113.7')).toEqual([])
  expect(world.slack.messages(ops)).toEqual([])
})

describe('a picker', () => {
  test('answers from its copy while the account API hangs', async () => {
    const world = await startWorld()
    await openForm(world, '/infra vm rename')
    await search(world, 'Virtual machine', '')
    world.accountApi.faults.add({ method: 'GET', path: /virtual_machines/, times: 100, kind: 'delay', delayMs: 20_000 })

    const found = await world.ada.search(undefined, 'Virtual machine', 'grafana')

    expect(found.options.map(({ text }) => text.text)).toEqual(['grafana-1 (Internal tools, DAL)'])
    expect(found.ms).toBeLessThan(500)
  })

  test('is filled when its form opens, before anybody types', async () => {
    const world = await startWorld()

    await openForm(world, '/infra ip move')

    await vi.waitFor(() =>
      expect(world.accountApi.journal.map(({ path }) => path)).toEqual(expect.arrayContaining(['/elastic_ips', '/servers'])),
    )
    expect(world.slack.deliveries.filter(({ kind }) => kind === 'block_suggestion')).toEqual([])
  })

  test('shows within 3 s that the account API is slow, and works the next time', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /virtual_machines/, times: 1, kind: 'delay', delayMs: 2_600 })
    await openForm(world, '/infra vm rename')

    const slow = await world.ada.search(undefined, 'Virtual machine', 'grafana')

    expect(slow).toMatchObject({
      outcome: 'acknowledged',
      options: [{ text: { text: 'The account API is slow.' }, description: { text: 'Type again in a moment.' } }],
    })
    expect(slow.ms).toBeLessThan(3_000)
    await vi.waitFor(
      async () => expect(await search(world, 'Virtual machine', 'grafana')).toEqual(['grafana-1 (Internal tools, DAL)']),
      5_000,
    )
  })

  test('shows that a search failed, that nothing fits, and how many more fit', async () => {
    const world = await startWorld()
    const { virtualMachines } = world.accountApi.world.data
    const [one] = virtualMachines
    if (!one) throw new Error('the stand-in has no virtual machines')
    for (let index = 1; index <= 130; index += 1) virtualMachines.push({ ...one, id: `vm_batch${index}`, name: `batch-${index}` })
    const fault = world.accountApi.faults.add({ method: 'GET', path: /virtual_machines/, times: 6, kind: 'status', status: 503 })
    await openForm(world, '/infra vm rename')

    const failed = await world.ada.search(undefined, 'Virtual machine', '')
    world.accountApi.faults.clear()
    const none = await search(world, 'Virtual machine', 'mainframe')
    const many = await world.ada.search(undefined, 'Virtual machine', 'batch')

    expect(fault.fired).toBeGreaterThan(0)
    expect(failed.options).toMatchObject([
      { text: { text: 'The account API returned an error (503).' }, description: { text: 'Try again in a minute.' } },
    ])
    expect(none).toEqual([])
    expect(many.options).toHaveLength(100)
    expect(many.options.every(({ value }) => value !== 'not-a-choice')).toBe(true)
    expect(many.label).toBe('First 100 of 130. Type to narrow it down.')
  })
})
