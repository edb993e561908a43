import { z } from 'zod'
import type { VirtualMachine } from '../account/objects.ts'
import { listNow, nothingIfAbsent, readOrRefuse } from '../account/resource.ts'
import type { App } from '../app.ts'
import { findNamesakes, placeFact } from '../domain/account.ts'
import type { Change, Description, Moment, Observation, Preflight, PreflightOptions } from '../domain/change.ts'
import { hostnameProblem, phrase } from '../domain/text.ts'
import { changeFeature, type Named } from '../kit/change-feature.ts'
import { type Form, pick, text } from '../kit/change-form.ts'
import {
  changedSince,
  finding,
  findings,
  idDifference,
  nameDifference,
  namesakes,
  ProjectFacts,
  projectDifference,
} from '../kit/findings.ts'
import { findListed, listedFact, shownFacts, withListed } from '../kit/listed.ts'
import { findTyped, optionOf, readBriefly } from '../kit/thing.ts'
import { virtualMachines } from '../kit/things.ts'
import { mrkdwn, nameWords } from '../slack/text.ts'

const RenameInput = z.object({ virtualMachineId: z.string(), name: z.string() })
type RenameInput = z.infer<typeof RenameInput>

/** What the account shows about a virtual machine. Members that could not be read are absent. */
const RenameFacts = withListed(
  z.object({
    virtualMachineId: z.string(),
    oldName: z.string().optional(),
    newName: z.string(),
    project: ProjectFacts.optional(),
    site: z.string().optional(),
    address: z.string().optional(),
  }),
)
export type RenameFacts = z.infer<typeof RenameFacts>

export const renameFindings = findings({
  'no-virtual-machine': finding('No virtual machine {virtualMachineId} on the account.', { next: '' }),
  'not-a-hostname': finding({ problem: z.string() }, ({ problem }) => problem, { next: 'Choose another name.', field: 'name' }),
  'same-name': finding('The virtual machine is already called {name}.', { next: '', field: 'name' }),

  'virtual-machine-unread': finding(
    "whether virtual machine {virtualMachineId} exists, and its current name (the account API didn't answer)",
  ),
  'name-not-shown': finding("the current name of {virtualMachineId} (the account API doesn't show it)"),
  'names-not-compared': finding("whether another virtual machine is called {name} (couldn't read all virtual machines)"),

  /** Of the new name or of the old one: approvers could mistake one machine for the other. */
  namesakes: namesakes(virtualMachines),

  ...changedSince,
  /** `name`: the old name, or the id if the account API showed no name. */
  'virtual-machine-gone': finding('{name} no longer exists on the account.', { next: '' }),
  'renamed-by-others': finding('{name} is now called {now}. Another change renamed it.'),
  'accepted-without-effect': finding('The account API accepted the new name, but the virtual machine is still called {now}.'),
  'still-called': finding('The virtual machine is still called {now}. The rename had no effect and nothing was changed.'),
})
const { refuse } = renameFindings
type RenameFinding = z.infer<typeof renameFindings.schema>

const form: Form<RenameInput, RenameFacts> = {
  callbackId: 'rename-virtual-machine',
  title: 'Rename a virtual machine',
  about: 'virtualMachineId',
  fields: {
    virtualMachineId: pick(virtualMachines, { label: 'Virtual machine', hint: 'Search by name, id, address, project or site.' }),
    name: text({
      label: 'New name',
      hint: 'Also its hostname: letters (a–z, A–Z), digits, hyphens and dots.',
    }),
  },
  filled: ({ virtualMachineId: id }, facts) => {
    const { oldName, address, project, site } = shownFacts(facts)
    return { virtualMachineId: optionOf(virtualMachines, { id, name: oldName, primaryIpv4: address, project, site }) }
  },
}

export const renameVirtualMachine = changeFeature({
  kind: 'vm.rename',
  change: renameChange,
  findings: renameFindings,
  form,
  command: {
    words: 'vm rename',
    usage: '[<vm> <new name>]',
    group: 'Change',
    summary: 'Rename a virtual machine',
    details: mrkdwn`The machine by name or id. The new name is also its hostname: letters (a–z, A–Z), digits, hyphens and dots. An incomplete command opens a form.`,
    examples: ['preview-1 preview-eu-1', 'preview-1 to preview-eu-1', 'preview-1'],
    button: 'Rename VM',
  },
  read: {
    names: {
      virtualMachineId: { called: 'vm', member: 'virtual_machine', description: 'The virtual machine, by its name or id' },
      name: { called: 'new name', member: 'name', description: 'The new name: letters (a–z, A–Z), digits, hyphens and dots' },
    },
    find: findNamed,
    machines: {
      tool: 'propose_rename',
      title: 'Propose to rename a virtual machine',
      description: 'Requests a new name for a virtual machine. The new name is also its hostname.',
    },
  },
  item: { of: 'virtual-machine', label: 'Rename…' },
})

async function findNamed(
  app: App,
  { virtualMachineId, name }: Pick<RenameInput, 'virtualMachineId' | 'name'>,
  signal: AbortSignal,
): Promise<Named<RenameInput>> {
  return {
    thing: virtualMachines,
    typed: virtualMachineId,
    found: await findTyped(app, virtualMachines, virtualMachineId, signal),
    inputOf: (virtualMachineId) => ({ virtualMachineId, name }),
    ask: mrkdwn`Which one should be renamed to ${nameWords(name)}?`,
    byId: `vm rename <id> ${name}`,
  }
}

/** The change that renames a virtual machine (interface specification, "PATCH /virtual_machines/{virtual_machine_id}"). */
export function renameChange(app: App): Change<RenameInput, RenameFacts> {
  const subject = (facts: RenameFacts) => shownFacts(facts).oldName ?? facts.virtualMachineId
  return {
    kind: 'vm.rename',
    label: 'renaming a virtual machine',
    input: RenameInput,
    facts: RenameFacts,
    resource: ({ virtualMachineId }) => `virtual_machine:${virtualMachineId}`,
    project: ({ project }) => project ?? 'unknown',
    preflight: (input, options) => preflight(app, input, options),
    differences,
    explain: renameFindings.explain,
    subject,
    describe,
    send: async ({ virtualMachineId, name }, _, { onAnswer }) => {
      const renamed = await app.account.virtualMachines.rename(virtualMachineId, name, { onAnswer })
      return renamed.name === name ? 'done' : 'tracking'
    },
    observe: async ({ virtualMachineId: id, name: to }, { oldName: from }, moment, { signal }) => {
      const seen = (await app.account.virtualMachines.get(id, { signal }).catch(nothingIfAbsent)) ?? 'gone'
      return observeRename({ id, from, to }, seen, moment)
    },
    doneSentence: (facts) => phrase`${subject(facts)} is now called ${facts.newName}.`,
    reverse: (_, facts) => {
      const { virtualMachineId, oldName, newName } = facts
      if (oldName === undefined || hostnameProblem(oldName) !== undefined) return undefined
      return { input: { virtualMachineId, name: oldName }, facts: { ...facts, oldName: newName, newName: oldName }, label: 'Rename back' }
    },
  }
}

async function preflight(
  app: App,
  { virtualMachineId, name: newName }: RenameInput,
  { signal, forRequest }: PreflightOptions,
): Promise<Preflight<RenameFacts, RenameInput>> {
  const problem = hostnameProblem(newName)
  if (problem !== undefined) refuse({ code: 'not-a-hostname', problem })
  const { virtualMachines: api } = app.account
  const listing = forRequest ? app.lists.virtualMachines() : undefined
  const [machine, list] = await Promise.all([
    readOrRefuse(
      () => api.get(virtualMachineId, { signal }),
      () => refuse({ code: 'no-virtual-machine', virtualMachineId }),
    ),
    listing &&
      readBriefly(
        listNow(
          () => listing,
          () => api.list({ signal }),
        ),
      ),
  ])
  const read = factsOf(machine ?? { id: virtualMachineId }, newName)
  const { virtualMachineId: id, oldName } = read
  if (oldName === newName) refuse({ code: 'same-name', name: newName })
  const unchecked: RenameFinding[] = []
  if (!machine) unchecked.push({ code: 'virtual-machine-unread', virtualMachineId })
  else if (oldName === undefined) unchecked.push({ code: 'name-not-shown', virtualMachineId: id })

  const named = (list?.items ?? []).map(({ id, name = '' }) => ({ id, name }))
  const [taken, shared] = [newName, oldName].map((name) => {
    const found = name === undefined ? undefined : findNamesakes(name, named, id)
    return found && { code: 'namesakes' as const, name: name ?? '', ...found }
  })
  if (forRequest && !taken && (!list || list.cut)) unchecked.push({ code: 'names-not-compared', name: newName })
  const listed = machine ? undefined : await findListed(listing, id)
  return {
    facts: { ...read, listed: listed && { ...factsOf(listed.item, newName), at: listed.at } },
    input: { virtualMachineId: id, name: newName },
    unchecked,
    warnings: [taken, shared].filter((warning) => warning !== undefined),
    incomplete: machine === undefined,
  }
}

function factsOf({ id, name, project, site, primaryIpv4 }: Partial<VirtualMachine> & { id: string }, newName: string): RenameFacts {
  return { virtualMachineId: id, newName, oldName: name, project, site, address: primaryIpv4 }
}

function differences(approved: RenameFacts, now: RenameFacts): RenameFinding[] {
  return [
    ...idDifference(approved.virtualMachineId, now.virtualMachineId),
    ...nameDifference(shownFacts(approved).oldName, now.oldName),
    ...projectDifference(shownFacts(approved).project, now.project),
  ]
}

function describe(facts: RenameFacts): Description {
  const { virtualMachineId, oldName, newName, project, site, address } = shownFacts(facts)
  return {
    title: phrase`Rename ${oldName ?? virtualMachineId} → ${newName}`,
    facts: [
      ...(oldName === undefined ? [{ label: 'Old name', value: 'unknown' }] : []),
      placeFact(project, site),
      { label: 'Address', value: address ?? 'unknown' },
      ...listedFact(facts),
    ],
    ids: oldName === undefined ? [] : [{ label: 'Virtual machine', value: virtualMachineId }],
    underway: 'being renamed',
  }
}

/** Only the new name means done, and the account API may write it in another case. `from`: undefined if it showed no name. */
export function observeRename(
  { id, from, to }: { id: string; from: string | undefined; to: string },
  seen: Pick<VirtualMachine, 'name'> | 'gone',
  moment: Moment,
): Observation {
  if (seen === 'gone') return { is: 'failed', cause: { code: 'virtual-machine-gone', name: from ?? id } satisfies RenameFinding }
  const { name: now } = seen
  if (now === undefined) return { is: 'unclear' }
  if (now === to) return { is: 'done' }
  if (from !== undefined && now !== from) {
    const alike = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
    if (alike(now, to) && !alike(from, to)) return { is: 'done' }
    return { is: 'superseded', cause: { code: 'renamed-by-others', name: from, now } satisfies RenameFinding }
  }
  if (moment.isUnsettled) return { is: 'unclear' }
  if (moment.phase === 'accepted') return { is: 'failed', cause: { code: 'accepted-without-effect', now } satisfies RenameFinding }
  return { is: 'not-started', cause: { code: 'still-called', now } satisfies RenameFinding }
}
