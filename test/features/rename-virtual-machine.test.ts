import { describe, expect, test } from 'vitest'
import type { VirtualMachine } from '../../src/domain/account.ts'
import type { Finding } from '../../src/domain/change.ts'
import { UserError } from '../../src/domain/errors.ts'
import { phrase, phraseText } from '../../src/domain/text.ts'
import {
  checkRename,
  chooseMachine,
  createRenameChange,
  describeRename,
  differencesOf,
  namesakesAmong,
  type RenameFacts,
  RenameFinding,
  renameWords,
  virtualMachineChoices,
  whichMachine,
} from '../../src/features/vm-rename.ts'
import { readableBlocks } from '../messages/readable.ts'

const machine: VirtualMachine = {
  id: 'vm_1zHfNurvp25kg',
  name: 'web-1',
  status: 'Running',
  createdAt: undefined,
  primaryIpv4: '192.0.2.110',
  site: 'ASH',
  billing: 'hourly',
  operatingSystem: undefined,
  plan: undefined,
  specs: { vcpuCount: 2, ram: '4 GB', storage: undefined, nic: undefined, gpu: undefined },
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  pendingRestart: false,
}
const input = { virtualMachineId: 'vm_1zHfNurvp25kg', name: 'web-eu-1' }

const inWords = (finding: Finding) => renameWords(RenameFinding.parse(finding)).why

describe('the preflight of a rename', () => {
  test('describes a possible rename with all facts', () => {
    const { facts, unchecked, incomplete } = checkRename(input, machine)
    expect(unchecked).toEqual([])
    expect(incomplete).toBe(false)
    expect(describeRename(facts)).toEqual({
      title: phrase`Rename ${'web-1'} → ${'web-eu-1'}`,
      facts: [
        { label: 'Project', value: 'Storefront' },
        { label: 'Site', value: 'ASH' },
        { label: 'Address', value: '192.0.2.110' },
      ],
      ids: [{ label: 'Virtual machine', value: 'vm_1zHfNurvp25kg' }],
      underway: 'being renamed',
    })
  })

  test('refuses the same name, but not another case', () => {
    expect(() => checkRename({ ...input, name: 'web-1' }, machine)).toThrow(UserError)
    expect(checkRename({ ...input, name: 'WEB-1' }, machine).facts.newName).toBe('WEB-1')
  })

  test('lists a name that the account API does not show', () => {
    const value = { ...machine, name: undefined, project: undefined, site: undefined, primaryIpv4: undefined }
    const { facts, unchecked } = checkRename(input, value)
    expect(unchecked.map(inWords)).toEqual(["the current name of vm_1zHfNurvp25kg (the account API doesn't show it)"])
    expect(facts).toEqual({ virtualMachineId: 'vm_1zHfNurvp25kg', newName: 'web-eu-1' })
  })

  test('lists what is unknown if the account API does not answer', () => {
    const { facts, unchecked, incomplete } = checkRename(input, undefined)
    expect(incomplete).toBe(true)
    expect(unchecked.map(inWords)).toEqual([
      "whether virtual machine vm_1zHfNurvp25kg exists, and its current name (the account API didn't answer)",
    ])
    expect(phraseText(describeRename(facts).title)).toBe('Rename vm_1zHfNurvp25kg → web-eu-1')
  })
})

describe('a new name that another virtual machine already has', () => {
  const others = ['WEB-eu-1', 'web\u200b-eu-1', 'web-eu-2'].map((name, index) => ({ ...machine, id: `vm_${index}`, name }))

  const amongAll = (items: VirtualMachine[]) => namesakesAmong({ items, cut: undefined }, { ...input, oldName: 'web-1' }).warnings

  test('is found by the name that people see', () => {
    expect(amongAll([machine, ...others]).map(inWords)).toEqual(['2 other virtual machines (vm_0, vm_1) are already called web-eu-1.'])
    expect(amongAll([{ ...machine, name: 'web-eu-1' }])).toEqual([])
  })

  test('is found for the old name as well, because approvers could mistake one machine for the other', () => {
    const twin = { ...machine, id: 'vm_7' }
    expect(amongAll([machine, twin]).map(inWords)).toEqual(['Another virtual machine (vm_7) is also called web-1.'])
  })

  function preflightOf(list: () => Promise<VirtualMachine[]>, forRequest: boolean) {
    const change = createRenameChange({ virtualMachines: { get: async () => machine, list } } as never)
    return change.preflight(input, { forRequest })
  }

  test('is a warning when the rename is requested, and not searched for again before the write', async () => {
    const listed = async () => [machine, ...others]

    expect((await preflightOf(listed, true)).warnings).toMatchObject([{ code: 'name-taken', count: 2 }])
    expect((await preflightOf(() => expect.fail('the machines were listed'), false)).warnings).toBeUndefined()
  })

  test('stays unchecked if the machines cannot be listed, and prevents nothing', async () => {
    const { unchecked, warnings } = await preflightOf(async () => Promise.reject(new Error('away')), true)

    expect(unchecked.map(inWords)).toEqual(["whether another virtual machine is called web-eu-1 (couldn't read all virtual machines)"])
    expect(warnings).toEqual([])
  })
})

describe('a difference since the approval of a rename', () => {
  const approved: RenameFacts = checkRename(input, machine).facts

  test('is another name or project', () => {
    expect(differencesOf(approved, { ...approved, oldName: 'web-2' }).map(inWords)).toEqual([
      'It was called web-1 when this was requested, and is called web-2 now.',
    ])
    expect(differencesOf(approved, { ...approved, project: { id: 'proj_2RBis9AK23gEc', name: 'Billing' } }).map(inWords)).toEqual([
      'It was in project Storefront when this was requested, and is in Billing now.',
    ])
  })

  test('is not another address, or another name of the project', () => {
    expect(differencesOf(approved, { ...approved, address: '192.0.2.7', project: { id: 'proj_1oNqx62cx6bn0', name: 'Shop' } })).toEqual([])
  })

  test('is not a member that was unknown at the approval', () => {
    expect(differencesOf({ virtualMachineId: 'vm_1zHfNurvp25kg', newName: 'web-eu-1' }, approved)).toEqual([])
  })
})

describe('a virtual machine by its name', () => {
  const twin = { ...machine, id: 'vm_2sMUCJzOnrmNC', project: { id: 'proj_2RBis9AK23gEc', name: 'Billing', slug: 'billing' }, site: 'FRA' }

  test('is found without regard to case', () => {
    expect(chooseMachine('WEB-1', [machine])).toEqual({ is: 'one', id: 'vm_1zHfNurvp25kg' })
  })

  test('is refused if there is none, and is a choice if there are two', () => {
    expect(() => chooseMachine('web-9', [machine])).toThrowErrorMatchingInlineSnapshot(`[UnknownName: No virtual machine web-9.]`)
    expect(chooseMachine('web-1', [machine, twin])).toEqual({ is: 'several', machines: [machine, twin] })
  })

  test('has a button for each choice, with only the arguments', () => {
    const { blocks } = whichMachine([machine, twin], { typed: 'web-1', name: 'web-eu-1', command: '/infra' })
    expect(readableBlocks(blocks.slice(1))).toMatchInlineSnapshot(`
      "*\`web-1\`*  ·  \`vm_1zHfNurvp25kg\`
      Storefront, ASH  ·  192.0.2.110  ·  Running
      [This one]
      *\`web-1\`*  ·  \`vm_2sMUCJzOnrmNC\`
      Billing, FRA  ·  192.0.2.110  ·  Running
      [This one]"
    `)
    expect(blocks.flatMap((block) => (block.type === 'section' && block.accessory) || [])).toMatchObject(
      [machine, twin].map(({ id }) => ({
        action_id: 'rename-this-one',
        value: JSON.stringify({ version: 2, input: { virtualMachineId: id, name: 'web-eu-1' }, command: '/infra' }),
      })),
    )
  })

  test('has no button if its id does not fit into one', () => {
    const { text, blocks } = whichMachine([machine, { ...twin, id: 'x'.repeat(2_000) }], {
      typed: 'web-1',
      name: 'web-eu-1',
      command: '/infra',
    })
    expect(blocks.filter((block) => block.type === 'section' && block.accessory)).toHaveLength(1)
    expect(text).toContain("1 more isn't shown")
  })
})

describe('the picker of virtual machines', () => {
  const other = { ...machine, id: 'vm_9nRm45pQIB1kZ', name: 'db-1', primaryIpv4: '192.0.2.7', site: 'FRA' }

  test.each([
    ['name', 'DB'],
    ['id', 'vm_9nRm45pQIB1kZ'],
    ['address', '192.0.2.7'],
    ['site', 'fra'],
    ['site and project', 'fra store'],
  ])('is searched by %s', (_, typed) => {
    expect(virtualMachineChoices([machine, other], typed).options.map(({ value }) => value)).toEqual(['vm_9nRm45pQIB1kZ'])
  })

  test('shows what distinguishes two of one name', () => {
    const { options } = virtualMachineChoices([machine, other], '')

    expect(options.map(({ text, description, value }) => [text.text, description?.text, value])).toEqual([
      ['db-1 (Storefront, FRA)', '192.0.2.7 · vm_9nRm45pQIB1kZ', 'vm_9nRm45pQIB1kZ'],
      ['web-1 (Storefront, ASH)', '192.0.2.110 · vm_1zHfNurvp25kg', 'vm_1zHfNurvp25kg'],
    ])
  })
})
