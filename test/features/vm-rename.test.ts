import { describe, expect, test } from 'vitest'
import type { VirtualMachine } from '../../src/account/objects.ts'
import { placeFact } from '../../src/domain/account.ts'
import type { Finding, Moment } from '../../src/domain/change.ts'
import { ApiUnreachableError, UserError } from '../../src/domain/errors.ts'
import type { List } from '../../src/domain/list.ts'
import { phraseText } from '../../src/domain/text.ts'
import { observeRename, type RenameFacts, renameChange } from '../../src/features/vm-rename.ts'
import { virtualMachineFor } from '../domain/account-objects.ts'
import { fakeApp } from '../fake-app.ts'
import { wholeList } from '../whole-list.ts'

const machine = virtualMachineFor({ id: 'vm_1zHfNurvp25kg', name: 'web-1' })
const input = { virtualMachineId: 'vm_1zHfNurvp25kg', name: 'web-eu-1' }
const { describe: describeRename, differences, explain, project, subject } = renameChange(fakeApp({}))
const inWords = (finding: Finding) => explain(finding)?.why

interface World {
  get?: () => Promise<VirtualMachine>
  list?: () => Promise<VirtualMachine[]>
  /** What the shared list has. Default: what the account lists. */
  kept?: List<VirtualMachine>
  name?: string
  forRequest?: boolean
}

const away = async () => Promise.reject(new ApiUnreachableError({ operation: 'virtualMachines.get', requestSent: 'no', problem: 'away' }))
/** The preflight check of a rename to `name`. Default: the machine as it is, and no others. */
function preflight({ get = async () => machine, list = async () => [machine], kept, name = input.name, forRequest = true }: World) {
  const whole = async () => wholeList(await list())
  const app = fakeApp({ account: { virtualMachines: { get, list: whole } }, lists: { virtualMachines: async () => kept ?? whole() } })
  return renameChange(app).preflight({ ...input, name }, { forRequest })
}

describe('the preflight check of a rename', () => {
  test('describes a possible rename with all facts', async () => {
    const { facts, ...checked } = await preflight({})

    expect(checked).toEqual({ input, unchecked: [], warnings: [], incomplete: false })
    const { title, ...shown } = describeRename(facts)
    expect({ title: phraseText(title), ...shown }).toEqual({
      title: 'Rename web-1 → web-eu-1',
      facts: [placeFact({ id: 'proj_1', name: 'Storefront' }, 'ASH'), { label: 'Address', value: '192.0.2.110' }],
      ids: [{ label: 'Virtual machine', value: 'vm_1zHfNurvp25kg' }],
      underway: 'being renamed',
    })
  })

  test('refuses the same name, but not another case', async () => {
    await expect(preflight({ name: 'web-1' })).rejects.toThrow(UserError)
    expect((await preflight({ name: 'WEB-1' })).facts.newName).toBe('WEB-1')
  })

  test('lists what the account API does not show, or does not answer, and prevents nothing', async () => {
    const bare = { ...machine, name: undefined, project: undefined, site: undefined, primaryIpv4: undefined }
    expect((await preflight({ get: async () => bare })).unchecked.map(inWords)).toEqual([
      "the current name of vm_1zHfNurvp25kg (the account API doesn't show it)",
    ])
    const { facts, unchecked, warnings, incomplete } = await preflight({ get: away, list: away })
    expect([incomplete, warnings]).toEqual([true, []])
    expect(unchecked.map(inWords)).toEqual([
      "whether virtual machine vm_1zHfNurvp25kg exists, and its current name (the account API didn't answer)",
      "whether another virtual machine is called web-eu-1 (couldn't read all virtual machines)",
    ])
    expect(phraseText(describeRename(facts).title)).toBe('Rename vm_1zHfNurvp25kg → web-eu-1')
  })

  test('shows what an earlier list had of a machine that was not read, with its age, and lets no rule and no write rely on it', async () => {
    const at = Date.parse('2026-11-20T10:00:00Z')
    const kept = { ...wholeList([machine]), readAt: at, old: { agoMs: 76_000 } }
    const { facts, unchecked, incomplete } = await preflight({ get: away, list: away, kept })
    const { title, ...shown } = describeRename(facts)
    expect([phraseText(title), subject(facts)]).toEqual(['Rename web-1 → web-eu-1', 'web-1'])
    expect(shown.facts).toEqual([
      placeFact({ id: 'proj_1', name: 'Storefront' }, 'ASH'),
      { label: 'Address', value: '192.0.2.110' },
      { label: 'As of', value: [{ time: at }] },
    ])
    expect([incomplete, unchecked.map(({ code }) => code)]).toEqual([true, ['virtual-machine-unread', 'names-not-compared']])
    expect(project?.(facts)).toBe('unknown')
    const now = async (is: Partial<VirtualMachine>) =>
      differences(facts, (await preflight({ get: async () => ({ ...machine, ...is }), forRequest: false })).facts).map(inWords)
    expect(await now({})).toEqual([])
    expect(await now({ name: 'db-1' })).toEqual(['web-1 is called db-1 now.'])
    expect(await now({ project: { id: 'proj_2', name: 'Billing' } })).toEqual(['It is in project Billing now, not in Storefront.'])
    expect((await preflight({ get: away, kept, forRequest: false })).facts).not.toHaveProperty('listed.at')
  })

  test('warns of other machines that people see by the new or the old name, and does not search for them before the write', async () => {
    const others = ['WEB-eu-1', 'web\u200b-eu-1', 'web-eu-2'].map((name, index) => ({ ...machine, id: `vm_${index}`, name }))
    const among = async (...all: VirtualMachine[]) => (await preflight({ list: async () => all })).warnings?.map(inWords)
    expect(await among(machine, ...others)).toEqual(['2 other virtual machines (vm_0, vm_1) are also called web-eu-1.'])
    expect(await among({ ...machine, name: 'web-eu-1' })).toEqual([])
    expect(await among(machine, { ...machine, id: 'vm_7' })).toEqual(['Another virtual machine (vm_7) is also called web-1.'])
    expect((await preflight({ list: () => expect.fail('the machines were listed'), forRequest: false })).warnings).toEqual([])
  })
})

test('what has changed since the approval of a rename is another name or project that both reads show', async () => {
  const { facts: approved } = await preflight({})
  const since = (now: Partial<RenameFacts>) => differences(approved, { ...approved, ...now }).map(inWords)

  expect(since({ oldName: 'web-2', project: { id: 'proj_2RBis9AK23gEc', name: 'Billing' } })).toEqual([
    'web-1 is called web-2 now.',
    'It is in project Billing now, not in Storefront.',
  ])
  expect(since({ address: '192.0.2.7', project: { id: 'proj_1oNqx62cx6bn0', name: 'Shop' } })).toEqual([])
  expect(differences({ virtualMachineId: 'vm_1zHfNurvp25kg', newName: 'web-eu-1' }, approved)).toEqual([])
})

describe('what a read of the virtual machine means for a rename', () => {
  const early: Moment = { phase: 'sent', sinceSentMs: 1_000, early: true, isUnsettled: true }
  const later: Moment = { phase: 'sent', sinceSentMs: 900_000, early: false, isUnsettled: false }
  const accepted: Moment = { ...later, phase: 'accepted' }

  test.each<[string, string | undefined, string, string | undefined, Moment, string]>([
    ['the new name', 'web-1', 'web-eu-1', 'web-eu-1', early, 'done'],
    ['the new name in another case, as the account API may write it', 'web-1', 'web-eu-1', 'WEB-EU-1', early, 'done'],
    ['the old name, soon after the write', 'web-1', 'web-eu-1', 'web-1', early, 'unclear'],
    ['the old name, long after a write without an answer', 'web-1', 'web-eu-1', 'web-1', later, 'still-called'],
    ['the old name, long after it was accepted', 'web-1', 'web-eu-1', 'web-1', accepted, 'accepted-without-effect'],
    ['a third name', 'web-1', 'web-eu-1', 'web-us-1', early, 'renamed-by-others'],
    ['no name', 'web-1', 'web-eu-1', undefined, later, 'unclear'],
    ['only another case of it, not changed', 'web-1', 'WEB-1', 'web-1', later, 'still-called'],
    ['a third case of it', 'web-1', 'WEB-1', 'Web-1', early, 'renamed-by-others'],
    ['only another case of it, changed', 'web-1', 'WEB-1', 'WEB-1', later, 'done'],
    ['another name, while the old one is unknown', undefined, 'web-eu-1', 'web-us-1', later, 'still-called'],
  ])('%s', (_, from, to, name, moment, expected) => {
    const observed = observeRename({ id: machine.id, from, to }, { name }, moment)
    expect('cause' in observed ? observed.cause.code : observed.is).toBe(expected)
  })

  test('a missing virtual machine means failed', () => {
    const observed = observeRename({ id: machine.id, from: 'web-1', to: 'web-eu-1' }, 'gone', early)
    expect(observed).toEqual({ is: 'failed', cause: { code: 'virtual-machine-gone', name: 'web-1' } })
  })
})
