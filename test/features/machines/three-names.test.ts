import { beforeEach, expect, test, vi } from 'vitest'
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
import { connect, type MachineWorld, startMachineWorld, textOf } from './machines-world.ts'

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

let world: MachineWorld
beforeEach(async () => {
  vi.spyOn(renameVirtualMachine, 'create').mockImplementation(renameWithRack.create)
  world = await startMachineWorld()
})

const body = { virtual_machine: 'preview-1', rack: 'OPS-7', name: 'preview-eu-1' }

test('a command takes them in their order, and its usage names them all', async () => {
  await world.ada.command('/infra vm rename preview-1 OPS-7 to preview-eu-1', { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  expect(card.text).toContain('Rename preview-1 → preview-eu-1')
  expect(card.text).toMatch(/Rack OPS-7/)

  await world.ada.command('/infra vm rename preview-1 OPS-7 preview-eu-1 now', { channel: ops })
  await untilShown(world.slack, people.ada, /vm rename &lt;vm&gt; &lt;rack&gt; &lt;new name&gt;` .*leave the new name out to open a form/)
})

test('an incomplete command fills the form by name, and the form requests what is entered there', async () => {
  await world.ada.command('/infra vm rename preview-1 OPS-7', { channel: ops })
  const { view } = await world.slack.until(() => world.ada.topView())
  const blocks = (view.blocks as { block_id: string; element: { initial_value?: string; initial_option?: unknown } }[]).slice(0, 3)
  expect(blocks.map(({ block_id }) => block_id)).toEqual(['virtualMachineId', 'rack', 'name'])
  expect(JSON.stringify(blocks[0]?.element.initial_option)).toContain('preview-1')
  expect(blocks.map(({ element }) => element.initial_value)).toEqual([undefined, 'OPS-7', undefined])

  await world.ada.fill(undefined, { 'New name': 'preview-eu-1' })
  await world.ada.submit()
  const card = await untilCard(world.slack, /needs approval from/)
  expect(card.text).toContain('Rename preview-1 → preview-eu-1')
  expect(card.text).toMatch(/Rack OPS-7/)
})

test('a form that undoes the change has all of its values', async () => {
  await world.ada.command('/infra vm rename preview-1 OPS-7 preview-eu-1', { channel: ops })
  await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
  await world.ben.click(await untilCard(world.slack, /\*Done/), 'Rename back')
  const { view } = await world.slack.until(() => world.ben.topView())
  const values = (view.blocks as { block_id: string; element?: { initial_value?: string } }[]).map(({ block_id, element }) => [
    block_id,
    element?.initial_value,
  ])
  expect(values).toEqual(
    expect.arrayContaining([
      ['rack', 'OPS-7'],
      ['name', 'preview-1'],
    ]),
  )
})

test('a machine must send all three over HTTP, each arrives, and OpenAPI has them', async () => {
  const { rack, ...two } = body
  const missing = await world.call('POST /v1/requests', { body: { change: 'vm.rename', ...two }, key: 'k-1' })
  expect(missing).toMatchObject({ status: 400, json: { detail: expect.stringContaining('rack: is missing') } })

  const requested = await world.call('POST /v1/requests', { body: { change: 'vm.rename', rack, ...two }, key: 'k-2' })
  expect(requested).toMatchObject({ status: 201, json: { subject: 'preview-1' } })
  expect((await untilCard(world.slack, /needs approval from/)).text).toMatch(/Rack OPS-7/)
  const { json } = await world.call('GET /v1/openapi.json')
  expect(JSON.stringify(json)).toContain('"required":["change","virtual_machine","rack","name"]')
})

test('a machine must send all three over MCP, and each arrives', async () => {
  const client = await connect(world)
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'propose_rename')?.inputSchema.required).toEqual(['virtual_machine', 'rack', 'name'])
  const { rack: _, ...two } = body
  const missing = await client.callTool({ name: 'propose_rename', arguments: two })
  expect(missing.isError).toBe(true)
  expect(textOf(missing)).toContain('rack')

  const proposed = await client.callTool({ name: 'propose_rename', arguments: body })
  expect(proposed).toMatchObject({ structuredContent: { change: 'vm.rename', subject: 'preview-1' } })
  expect((await untilCard(world.slack, /needs approval from/)).text).toMatch(/Rack OPS-7/)
})
