import { describe, expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

function machine(world: World, name: string) {
  const found = world.accountApi.world.data.virtualMachines.find((one) => one.name === name)
  if (!found) throw new Error(`the stand-in has no virtual machine called ${name}`)
  return { ...found }
}

function patches(world: World) {
  return world.accountApi.journal.writes().filter(({ path }) => path.startsWith('/virtual_machines/'))
}

async function requestRename(world: World) {
  await world.ada.command('/infra vm rename preview-1 preview-eu-1', { channel: ops })
  return untilCard(world.slack, /needs approval from/)
}

describe('a rename', () => {
  test('is requested by name, approved by another person, sent with nothing but the name, and renamed back on request', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')

    const card = await requestRename(world)
    expect(card.text).toMatch(/^Approval needed: Rename preview-1 → preview-eu-1\n/)
    expect(patches(world)).toEqual([])
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(report.text).toBe('<@U0ADA00001> :large_green_circle: *Done.* preview-1 is now called preview-eu-1.')
    const body = { data: { type: 'virtual_machines', id, attributes: { name: 'preview-eu-1' } } }
    expect(patches(world)).toMatchObject([{ method: 'PATCH', path: `/virtual_machines/${id}`, body }])

    await world.ben.click(await untilCard(world.slack, /\*Done/), 'Rename back')
    await world.slack.until(() => world.ben.topView())
    await world.ben.submit()
    const back = await untilCard(world.slack, /needs approval from/)
    expect(back.text).toContain('Rename preview-eu-1 → preview-1')
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)
    expect(world.accountApi.world.virtualMachine(id)).toMatchObject({ name: 'preview-1', status: 'Running' })
  })

  test('of one of several machines of that name is offered as a choice, and no forged choice renames', async () => {
    const world = await startWorld()
    const [first, second] = [machine(world, 'preview-1'), machine(world, 'airflow-1')]
    world.accountApi.world.changeVirtualMachine(second.id, { name: 'preview-1' })
    await world.ada.command('/infra vm rename preview-1 "preview-eu-1"', { channel: ops })
    const choice = await untilShown(world.slack, people.ada, /^2 virtual machines are called preview-1\. Which one should be renamed/)
    const blockId = String(choice.blocks?.find((block) => JSON.stringify(block).includes(second.id))?.block_id)
    for (const value of ['{"id":7}', '{"version":2,"input":{"name":7},"command":"/infra"}']) {
      await world.ada.click(choice, 'rename-virtual-machine:this-one', { blockId, action: { value } })
      const refused = await untilShown(world.slack, people.ada, /This button is out of date/)
      world.slack.removeMessage(ops, refused.ts)
    }
    expect(world.slack.messages(ops)).toEqual([])

    await world.ada.click(choice, 'rename-virtual-machine:this-one', { blockId })
    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(`Another virtual machine (\`${first.id}\`) is also called preview-1.`)
    expect((await untilShown(world.slack, people.ada, /Posted in|Recorded:/)).ts).toBe(choice.ts)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toMatchObject([{ path: `/virtual_machines/${second.id}` }])
  })

  test('is tracked until the machine shows the new name', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    const body = { data: { id, type: 'virtual_machines', attributes: {} } }
    world.accountApi.faults.add({ method: 'PATCH', path: /virtual_machines/, kind: 'status', status: 200, body })
    const card = await requestRename(world)

    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Being renamed\*/)
    world.accountApi.world.changeVirtualMachine(id, { name: 'preview-eu-1' })

    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toHaveLength(1)
  })
})
