import { describe, expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

/** Short enough for a test to see the end of a write without an effect. */
const impatient = { graceMs: 300, unsettledMs: 300, handoverMs: 45_000 }

function machine(world: World, name: string) {
  const found = world.accountApi.world.data.virtualMachines.find((one) => one.name === name)
  if (!found) throw new Error(`the stand-in has no virtual machine called ${name}`)
  return { ...found }
}

function patches(world: World) {
  return world.accountApi.journal.writes().filter(({ path }) => path.startsWith('/virtual_machines/'))
}

async function requestRename(world: World, text = 'preview-1 preview-eu-1') {
  await world.ada.command(`/infra vm rename ${text}`, { channel: ops })
  return untilCard(world.slack, /needs approval from/)
}

async function _openForm(world: World) {
  await world.ada.command('/infra vm rename', { channel: ops })
  return world.slack.until(() => world.ada.topView())
}

describe('a rename, from command to report', () => {
  test('is requested by name, approved by another person, sent with nothing but the name, and reported in the thread', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')

    const card = await requestRename(world)
    expect(patches(world)).toEqual([])
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(card.text.replace(/<!date[^>]*>/g, 'soon').replace(/`[0-9a-f]{8}`/, '`7f3a9c12`')).toMatchInlineSnapshot(`
      "Rename preview-1 → preview-eu-1
      <@U0ADA00001> needs approval from <!subteam^S0ONCALL01> by soon (4 h after the request).
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
      *Address:* \`192.0.2.110\`
      Virtual machine \`vm_ZFEDO0BjxL3u7\`  ·  Request \`7f3a9c12\`"
    `)
    expect(report.text).toMatchInlineSnapshot(`"<@U0ADA00001> :large_green_circle: *Done.* \`preview-1\` is now called \`preview-eu-1\`."`)
    expect(patches(world)).toMatchObject([
      {
        method: 'PATCH',
        path: `/virtual_machines/${id}`,
        body: { data: { type: 'virtual_machines', id, attributes: { name: 'preview-eu-1' } } },
      },
    ])
    expect(world.accountApi.world.virtualMachine(id)).toMatchObject({ name: 'preview-eu-1', status: 'Running' })
    await untilCard(world.slack, /\*Done/)
  })

  test('offers to rename back, as a new request', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    await world.ben.click(await requestRename(world), 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.ben.click(done, 'Rename back')
    await world.slack.until(() => world.ben.topView())
    await world.ben.submit()
    const back = await untilCard(world.slack, /needs approval from/)
    expect(back.text).toContain('Rename preview-eu-1 → preview-1')
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)

    expect(world.accountApi.world.virtualMachine(id)?.name).toBe('preview-1')
  })
})

describe('several machines with one name', () => {
  async function withTwins() {
    const world = await startWorld()
    const [first, second] = [machine(world, 'preview-1'), machine(world, 'airflow-1')]
    world.accountApi.world.changeVirtualMachine(second.id, { name: 'preview-1' })
    await world.ada.command('/infra vm rename preview-1 "preview-eu-1"', { channel: ops })
    return { world, first, second, choice: await untilShown(world.slack, people.ada, /Which one/) }
  }

  test('are offered as a choice, and the chosen one is renamed', async () => {
    const { world, first, second, choice } = await withTwins()
    expect(choice.text).toMatchInlineSnapshot(`
      "2 virtual machines are called \`preview-1\`. Which one should be renamed to \`preview-eu-1\`?
      *\`preview-1\`*  ·  \`vm_ZFEDO0BjxL3u7\`
      Storefront, ASH  ·  192.0.2.110  ·  Running
      *\`preview-1\`*  ·  \`vm_hVVGmUlGrjySO\`
      Data platform, DAL  ·  192.0.2.122  ·  Running"
    `)
    const button = JSON.stringify({ version: 2, input: { virtualMachineId: second.id, name: 'preview-eu-1' }, command: '/infra' })
    const blockId = String(choice.blocks?.find((block) => JSON.stringify(block).includes(second.id))?.block_id)

    await world.ada.click(choice, 'rename-virtual-machine:this-one', { blockId })

    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(second.id)
    expect(card.text).toContain(`Another virtual machine (\`${first.id}\`) is also called \`preview-1\`.`)
    expect(JSON.stringify(choice.blocks)).toContain(JSON.stringify(button))
    const replaced = await untilShown(world.slack, people.ada, /Request posted/)
    expect(replaced.ts).toBe(choice.ts)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toMatchObject([{ path: `/virtual_machines/${second.id}` }])
  })

  test('are not renamed by a forged choice', async () => {
    const { world, choice } = await withTwins()
    const blockId = String(choice.blocks?.find((block) => block.accessory)?.block_id)

    for (const value of ['{"id":7}', '{"version":2,"input":{"name":7},"command":"/infra"}']) {
      await world.ada.click(choice, 'rename-virtual-machine:this-one', { blockId, action: { value } })
      const refused = await untilShown(world.slack, people.ada, /This button is out of date/)
      world.slack.removeMessage(ops, refused.ts)
    }

    expect(world.slack.messages(ops)).toEqual([])
  })
})

describe('a rename that cannot be made', () => {
  test.each([
    ['a machine that does not exist', 'nowhere-1 preview-eu-1', /No virtual machine `nowhere-1`\. See `\/infra vms`/],
    ['an id that does not exist', 'vm_0000000000 preview-eu-1', /No virtual machine `vm_0000000000`/],
    ['an impossible id', '../servers/1 preview-eu-1', /No virtual machine `\.\.\/servers\/1`/],
    ['the name it has', 'preview-1 preview-1', /is already called preview-1/],
    ['a name that is no hostname', 'preview-1 preview_1', /This one has an underscore/],
    ['a mistyped name', 'preveiw-1 preview-eu-1', /Did you mean `preview-1`/],
    [
      'a name in two words',
      'preview-1 preview eu',
      /^Nothing was requested\. A name can't contain spaces\. Did you mean `\/infra vm rename preview-1 preview-eu`\?$/,
    ],
    [
      'a name with a space',
      'preview-1 "preview eu"',
      /^Nothing was requested\. A name can't contain spaces\. Did you mean `\/infra vm rename preview-1 preview-eu`\?$/,
    ],
    [
      'a name in two words, with a reason',
      'preview-1 to preview eu because OPS-1',
      /Did you mean `\/infra vm rename preview-1 preview-eu because OPS-1`\?$/,
    ],
    [
      'a machine in several words',
      'the old wiki to wiki-2',
      /Not understood: `wiki to wiki-2`\. Usage: .* Put names with spaces in quotes/,
    ],
    ['two words that are no hostname', 'preview-1 preview_1 eu', /Not understood: `eu`\. Usage: /],
  ])('%s', async (_, words, refusal) => {
    const world = await startWorld()

    await world.ada.command(`/infra vm rename ${words}`, { channel: ops })

    await untilShown(world.slack, people.ada, refusal)
    expect(world.slack.messages(ops)).toEqual([])
    expect(patches(world)).toEqual([])
  })
})

describe('a rename without a usable answer', () => {
  test.each(['drop-after', 'html', 'truncate'] as const)('is resolved by reading: %s', async (kind) => {
    const world = await startWorld()
    const fault = world.accountApi.faults.add({ method: 'PATCH', path: /virtual_machines/, kind })
    const card = await requestRename(world)

    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(fault.fired).toBe(1)
    expect(patches(world)).toHaveLength(1)
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

  test('is reported as not started if it never arrived, and is not sent again', async () => {
    const world = await startWorld({ timings: impatient })
    const fault = world.accountApi.faults.add({ method: 'PATCH', path: /virtual_machines/, kind: 'drop-before' })
    const card = await requestRename(world)

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Not started/)

    expect(report.text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :red_circle: *Not started:* “Rename \`preview-1\` → \`preview-eu-1\`”. The virtual machine is still called \`preview-1\`. The rename had no effect and nothing was changed. Still wanted? Press *Request again* above."`,
    )
    expect(fault.fired).toBe(1)
    expect(patches(world)).toHaveLength(1)
  })
})
