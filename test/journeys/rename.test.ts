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

async function openForm(world: World) {
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

  test('works by id, and by a name with spaces in quotes', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    world.accountApi.world.changeVirtualMachine(machine(world, 'wiki-1').id, { name: 'The old wiki' })

    await world.ada.command(`/infra vm rename ${id} preview-eu-1`, { channel: ops })
    await untilCard(world.slack, /Rename preview-1 → preview-eu-1/)
    await world.ada.command('/infra vm rename “the old wiki” wiki-2', { channel: ops })

    await untilCard(world.slack, /Rename “The old wiki” → wiki-2/)
  })

  test('works with the form, and the card shows the reason', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')

    const view = await openForm(world)
    expect(view.title).toBe('Rename a virtual machine')
    await world.ada.fill(view, { 'Virtual machine': id, 'New name': ' preview-eu-1 ', Reason: 'it has moved to Europe' })
    const submitted = await world.ada.submit()

    expect(submitted.errors).toBeUndefined()
    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain('Rename preview-1 → preview-eu-1')
    expect(card.text).toContain('it has moved to Europe')
    expect(world.ada.openViews()).toEqual([])
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
    ['a name that is no hostname', 'preview-1 preview_1', /A hostname has only letters/],
    ['a mistyped name', 'preveiw-1 preview-eu-1', /Did you mean `preview-1`/],
    ['a name in two words', 'preview-1 preview eu', /Not understood: `eu`\. Usage: .* Put names with spaces in quotes/],
    ['a name with a space', 'preview-1 "preview eu"', /A hostname has only letters/],
    [
      'a machine in several words',
      'the old wiki to wiki-2',
      /Not understood: `wiki to wiki-2`\. Usage: .* Put names with spaces in quotes/,
    ],
  ])('%s', async (_, words, refusal) => {
    const world = await startWorld()

    await world.ada.command(`/infra vm rename ${words}`, { channel: ops })

    await untilShown(world.slack, people.ada, refusal)
    expect(world.slack.messages(ops)).toEqual([])
    expect(patches(world)).toEqual([])
  })

  test.each([
    ['preview_1', /A hostname has only letters/],
    ['preview eu', /A hostname has only letters/],
    ['-preview', /begins and ends with a letter or digit/],
    ['preview-1', /is already called preview-1/],
    ['*', /A hostname has only letters/],
  ])('is refused at the field of the form, and the other fields stay: %j', async (name, refusal) => {
    const world = await startWorld()
    const view = await openForm(world)

    await world.ada.fill(view, { 'Virtual machine': machine(world, 'preview-1').id, 'New name': name })
    const submitted = await world.ada.submit()

    expect(submitted.errors?.name).toMatch(refusal)
    expect(world.ada.openViews()).toHaveLength(1)
    expect(world.slack.messages(ops)).toEqual([])
  })

  test('is refused at its field in the form, because the machine no longer exists', async () => {
    const world = await startWorld()
    const view = await openForm(world)
    const { id } = machine(world, 'preview-1')
    await world.ada.fill(view, { 'Virtual machine': id, 'New name': 'preview-eu-1' })
    world.accountApi.world.data.virtualMachines.splice(0, 1)

    const submitted = await world.ada.submit()

    expect(submitted.errors).toEqual({ virtualMachineId: `No virtual machine ${id} on the account. Check the account.` })
  })

  test('is requested by id even while the account API does not answer, and shows what was not checked', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    world.accountApi.faults.add({ method: 'GET', path: /virtual_machines/, times: 1_000, kind: 'status', status: 503 })

    await world.ada.command('/infra vm rename preview-1 preview-eu-1', { channel: ops })
    await untilShown(world.slack, people.ada, /returned an error \(503\)/)
    await world.ada.command(`/infra vm rename ${id} preview-eu-1`, { channel: ops })

    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(`Not checked: whether virtual machine \`${id}\` exists, and its current name`)
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

  test('is superseded if somebody else gave the machine a third name', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    world.accountApi.faults.add({ method: 'PATCH', path: /virtual_machines/, kind: 'drop-before' })
    const card = await requestRename(world)
    await world.ben.click(card, 'Approve')
    await world.slack.until(() => patches(world).length === 1)

    world.accountApi.world.changeVirtualMachine(id, { name: 'preview-apac-1' })

    const report = await untilReport(world.slack, card.ts, /Superseded/)
    expect(report.text).toContain('`preview-1` is now called `preview-apac-1`. Another change renamed it.')
  })
})

describe('a rename that does not succeed', () => {
  test('because the machine is being resized is refused with the reason', async () => {
    const world = await startWorld()
    const { id } = machine(world, 'preview-1')
    world.accountApi.world.changeVirtualMachine(id, { status: 'Resizing' })
    const card = await requestRename(world)

    await world.ben.click(card, 'Approve')

    expect((await untilReport(world.slack, card.ts, /Failed/)).text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :red_circle: *Failed:* “Rename \`preview-1\` → \`preview-eu-1\`”. The account API is busy with another change of this resource (409). It says: “The virtual machine is being resized”. Try again when that change has ended. Nothing was changed. Still wanted? Press *Request again* above."`,
    )
    expect(patches(world)).toHaveLength(1)
  })

  test('because the account API rejects the name is reported as failed', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({
      method: 'PATCH',
      path: /virtual_machines/,
      kind: 'status',
      status: 422,
      body: { errors: [{ code: 'VALIDATION_ERROR', status: '422', title: 'Unprocessable', detail: 'Name is reserved' }] },
    })
    const card = await requestRename(world)

    await world.ben.click(card, 'Approve')

    expect((await untilReport(world.slack, card.ts, /Failed/)).text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :red_circle: *Failed:* “Rename \`preview-1\` → \`preview-eu-1\`”. The account API refused this (422, VALIDATION_ERROR). It says: “Name is reserved”. Nothing was changed. Still wanted? Press *Request again* above."`,
    )
    expect(patches(world)).toHaveLength(1)
  })

  test('because the machine was renamed after the request is voided, and the difference is shown', async () => {
    const world = await startWorld()
    const card = await requestRename(world)
    world.accountApi.world.changeVirtualMachine(machine(world, 'preview-1').id, { name: 'preview-apac-1' })

    await world.ben.click(card, 'Approve')

    const report = await untilReport(world.slack, card.ts, /\*Canceled:/)
    expect(report.text).toContain('It was called `preview-1` when this was requested, and is called `preview-apac-1` now.')
    expect(patches(world)).toEqual([])
  })
})
