import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { App } from '../../../src/app.ts'
import type { Change } from '../../../src/domain/change.ts'
import { renameChange, renameFindings, renameVirtualMachine } from '../../../src/features/vm-rename.ts'
import { changeFeature } from '../../../src/kit/change-feature.ts'
import { pick, text } from '../../../src/kit/change-form.ts'
import { findTyped, optionOf } from '../../../src/kit/thing.ts'
import { virtualMachines } from '../../../src/kit/things.ts'
import { mrkdwn } from '../../../src/slack/text.ts'
import { ops, people, untilCard, untilShown } from '../../journeys/world.ts'
import { connect, startMachineWorld, textOf } from './machines-world.ts'

const Input = z.object({ virtualMachineId: z.string(), rack: z.string(), name: z.string() })
type Input = z.infer<typeof Input>

const Facts = z.looseObject({ rack: z.string(), virtualMachineId: z.string(), oldName: z.string().optional(), newName: z.string() })
type Facts = z.infer<typeof Facts>

function changeWithRack(app: App): Change<Input, Facts> {
  const rename = renameChange(app)
  return {
    ...(rename as unknown as Change<Input, Facts>),
    input: Input,
    facts: Facts,
    async preflight(input, options) {
      const checked = await rename.preflight(input, options)
      return { ...checked, input, facts: { ...checked.facts, rack: input.rack } }
    },
    describe(facts) {
      const described = rename.describe(facts)
      return { ...described, facts: [...described.facts, { label: 'Rack', value: facts.rack }] }
    },
    reverse: ({ virtualMachineId, rack }, facts) => ({
      input: { virtualMachineId, rack, name: facts.oldName ?? '' },
      facts: { ...facts, oldName: facts.newName },
      label: 'Rename back',
    }),
  }
}

/** A kind of change with a text between its two other names. */
const renameWithRack = changeFeature<Input, Facts, keyof Input, keyof Input>({
  kind: 'vm.rename',
  change: changeWithRack,
  findings: renameFindings,
  form: {
    callbackId: 'rename-virtual-machine',
    title: 'Rename with a rack',
    about: 'virtualMachineId',
    fields: {
      virtualMachineId: pick(virtualMachines, { label: 'Virtual machine' }),
      rack: text({ label: 'Rack' }),
      name: text({ label: 'New name' }),
    },
    filled: ({ virtualMachineId: id }, { oldName }) => ({ virtualMachineId: optionOf(virtualMachines, { id, name: oldName }) }),
  },
  command: {
    words: 'vm rename',
    usage: '[<vm> <rack> <new name>]',
    group: 'Change',
    summary: 'Rename a virtual machine',
    examples: ['preview-1 OPS-1 preview-eu-1'],
  },
  read: {
    names: {
      virtualMachineId: { called: 'vm', member: 'virtual_machine', description: 'The virtual machine' },
      rack: { called: 'rack', member: 'rack', description: 'Its rack' },
      name: { called: 'new name', member: 'name', description: 'The new name' },
    },
    find: async (app, { virtualMachineId, ...others }, signal) => ({
      thing: virtualMachines,
      typed: virtualMachineId,
      found: await findTyped(app, virtualMachines, virtualMachineId, signal),
      inputOf: (id) => ({ virtualMachineId: id, ...others }),
      ask: mrkdwn`Which one?`,
      byId: `vm rename <id> ${others.rack} ${others.name}`,
    }),
    machines: { tool: 'propose_rename', title: 'Propose a rename', description: 'Requests a new name for a virtual machine.' },
  },
  item: { of: 'virtual-machine', label: 'Rename…' },
})

async function start() {
  vi.spyOn(renameVirtualMachine, 'create').mockImplementation(renameWithRack.create)
  return startMachineWorld()
}

const formOf = ({ view }: { view: Record<string, unknown> }) =>
  (view.blocks as { block_id: string; element?: { initial_value?: string; initial_option?: unknown } }[]).map(({ block_id, element }) => [
    block_id,
    element?.initial_value ?? JSON.stringify(element?.initial_option),
  ])

test('people name them in their order, the usage names them all, and a form has each by its name', async () => {
  const world = await start()
  const { ada, ben, slack } = world
  await ada.command('/infra vm rename preview-1 OPS-7 preview-eu-1 now', { channel: ops })
  await untilShown(slack, people.ada, /vm rename &lt;vm&gt; &lt;rack&gt; &lt;new name&gt;` .*leave the new name out to open a form/)
  await ada.command('/infra vm rename preview-2 OPS-7', { channel: ops })
  const form = await slack.until(() => ada.topView())
  expect(formOf(form).slice(0, 3)).toEqual([
    ['virtualMachineId', expect.stringContaining('preview-2')],
    ['rack', 'OPS-7'],
    ['name', undefined],
  ])
  await ada.fill(undefined, { 'New name': 'preview-eu-2' })
  await ada.submit()
  expect((await untilCard(slack, /Rename preview-2 → preview-eu-2/)).text).toMatch(/Rack OPS-7/)

  await ada.command('/infra vm rename preview-1 OPS-7 to preview-eu-1', { channel: ops })
  const card = await untilCard(slack, /Rename preview-1 → preview-eu-1/)
  expect(card.text).toMatch(/Rack OPS-7/)
  await ben.click(card, 'Approve')
  await ben.click(await untilCard(slack, /\*Done\*.*preview-eu-1/s), 'Rename back')
  const back = await slack.until(() => ben.topView())
  expect(formOf(back)).toEqual(
    expect.arrayContaining([
      ['rack', 'OPS-7'],
      ['name', 'preview-1'],
    ]),
  )
})

test('a machine must send all three over HTTP and over MCP, and each arrives', async () => {
  const world = await start()
  const [two, rack] = [{ virtual_machine: 'preview-1', name: 'preview-eu-1' }, 'OPS-7']
  const missing = await world.call('POST /v1/requests', { body: { change: 'vm.rename', ...two }, key: 'k-1' })
  expect(missing).toMatchObject({ status: 400, json: { detail: expect.stringContaining('rack: is missing') } })
  const { json } = await world.call('GET /v1/openapi.json')
  expect(JSON.stringify(json)).toContain('"required":["change","virtual_machine","rack","name"]')
  const requested = await world.call('POST /v1/requests', { body: { change: 'vm.rename', rack, ...two }, key: 'k-2' })
  expect(requested).toMatchObject({ status: 201, json: { subject: 'preview-1' } })
  expect((await untilCard(world.slack, /preview-1/)).text).toMatch(/Rack OPS-7/)

  const client = await connect(world)
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'propose_rename')?.inputSchema.required).toEqual(['virtual_machine', 'rack', 'name'])
  const refused = await client.callTool({ name: 'propose_rename', arguments: two })
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('rack')])
  const args = { virtual_machine: 'preview-2', rack, name: 'preview-eu-2' }
  expect(await client.callTool({ name: 'propose_rename', arguments: args })).toMatchObject({ structuredContent: { subject: 'preview-2' } })
  expect((await untilCard(world.slack, /preview-2/)).text).toMatch(/Rack OPS-7/)
})
