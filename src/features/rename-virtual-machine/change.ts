import { z } from 'zod'
import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { nothingIfAbsent, readOrRefuse } from '../../account-api/reading.ts'
import { distinctLabels, projectName, sameProject } from '../../domain/account/place.ts'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Description } from '../../domain/change/description.ts'
import { explainer } from '../../domain/change/finding.ts'
import type { Preflight } from '../../domain/change/preflight.ts'
import { hostnameProblem } from '../../domain/text/hostname.ts'
import { phrase } from '../../domain/text/phrase.ts'
import { RenameFinding, refuseRename, renameWords } from './findings.ts'
import { namesakesAmong, readMachines } from './namesakes.ts'
import { observeRename } from './progress.ts'

export const RenameInput = z.object({ virtualMachineId: z.string(), name: z.string() })
export type RenameInput = z.infer<typeof RenameInput>

/** What the account shows about a virtual machine. Members that could not be read are absent. */
export const RenameFacts = z.object({
  virtualMachineId: z.string(),
  oldName: z.string().optional(),
  newName: z.string(),
  project: z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() }).optional(),
  site: z.string().optional(),
  address: z.string().optional(),
})
export type RenameFacts = z.infer<typeof RenameFacts>

/** Creates the change that renames a virtual machine (interface specification, "PATCH /virtual_machines/{virtual_machine_id}"). */
export function createRenameChange(
  accountApi: Pick<AccountApi, 'virtualMachines'>,
  copies?: Pick<Inventory, 'virtualMachines'>,
): Change<RenameInput, RenameFacts> {
  return {
    kind: 'vm.rename',
    label: 'renaming a virtual machine',
    input: RenameInput,
    facts: RenameFacts,
    resource: ({ virtualMachineId }) => `virtual_machine:${virtualMachineId}`,
    project: (facts) => facts.project ?? 'unknown',
    preflight: async (input, { signal, forRequest, earlier }) => {
      refuseBadName(input.name)
      const { virtualMachineId } = input
      const [machine, machines] = await Promise.all([
        readOrRefuse(
          () => accountApi.virtualMachines.get(virtualMachineId, { signal }),
          () => refuseRename({ code: 'no-virtual-machine', virtualMachineId, ...nameIn(earlier, virtualMachineId) }),
        ),
        forRequest ? readMachines(accountApi, { copies, signal }) : undefined,
      ])
      const { unchecked, ...checked } = checkRename(input, machine)
      if (!forRequest) return { ...checked, unchecked }
      const namesakes = namesakesAmong(machines, {
        virtualMachineId: machine?.id ?? virtualMachineId,
        oldName: machine?.name,
        name: input.name,
      })
      return { ...checked, unchecked: [...unchecked, ...namesakes.unchecked], warnings: namesakes.warnings }
    },
    differences: differencesOf,
    explain: explainer(RenameFinding, renameWords),
    subject: subjectOf,
    describe: describeRename,
    run: async ({ virtualMachineId, name }, _, { onAnswer }) => {
      const renamed = await accountApi.virtualMachines.rename(virtualMachineId, name, { onAnswer })
      return renamed.name === name ? 'done' : 'tracking'
    },
    observe: async ({ virtualMachineId, name }, { oldName }, moment, { signal }) => {
      const seen = (await accountApi.virtualMachines.get(virtualMachineId, { signal }).catch(nothingIfAbsent)) ?? 'gone'
      return observeRename({ id: virtualMachineId, from: oldName, to: name }, seen, moment)
    },
    doneSentence: (facts) => phrase`${subjectOf(facts)} is now called ${facts.newName}.`,
    reverse: (_, facts) => {
      const { virtualMachineId, oldName, newName } = facts
      if (oldName === undefined || hostnameProblem(oldName) !== undefined) return undefined
      return { input: { virtualMachineId, name: oldName }, facts: { ...facts, oldName: newName, newName: oldName }, label: 'Rename back' }
    },
  }
}

function nameIn(earlier: RenameFacts | undefined, virtualMachineId: string): { name?: string } {
  return earlier?.virtualMachineId === virtualMachineId && earlier.oldName !== undefined ? { name: earlier.oldName } : {}
}

/** Throws CheckFailed if the name is not a hostname. */
export function refuseBadName(name: string): void {
  const problem = hostnameProblem(name)
  if (problem !== undefined) refuseRename({ code: 'not-a-hostname', problem })
}

/** Checks whether the rename can be requested. Throws CheckFailed if it cannot. Lists what could not be read or is not shown. */
export function checkRename(typed: RenameInput, machine: VirtualMachine | undefined): Preflight<RenameFacts, RenameInput> {
  const { name } = typed
  const virtualMachineId = machine?.id ?? typed.virtualMachineId
  if (!machine) {
    return {
      facts: { virtualMachineId, newName: name },
      unchecked: [{ code: 'virtual-machine-unread', virtualMachineId } satisfies RenameFinding],
      incomplete: true,
    }
  }
  const { name: oldName, project, site, primaryIpv4 } = machine
  if (oldName === name) refuseRename({ code: 'same-name', virtualMachineId, name })
  return {
    facts: {
      virtualMachineId,
      newName: name,
      ...(oldName === undefined ? {} : { oldName }),
      ...(project
        ? { project: { id: project.id, ...(project.name ? { name: project.name } : {}), ...(project.slug ? { slug: project.slug } : {}) } }
        : {}),
      ...(site === undefined ? {} : { site }),
      ...(primaryIpv4 === undefined ? {} : { address: primaryIpv4 }),
    },
    input: { virtualMachineId, name },
    unchecked: oldName === undefined ? [{ code: 'name-not-shown', virtualMachineId } satisfies RenameFinding] : [],
    incomplete: false,
  }
}

/** Finds what has changed since the approval. Compares only what both reads show. */
export function differencesOf(approved: RenameFacts, now: RenameFacts): RenameFinding[] {
  const subject = subjectOf(approved)
  const differences: RenameFinding[] = []
  // If the account API did not answer the request, this is the typed id, and another request may hold the lock of the real one.
  if (approved.virtualMachineId !== now.virtualMachineId) {
    differences.push({ code: 'id-changed', before: approved.virtualMachineId, now: now.virtualMachineId })
  }
  if (approved.oldName !== undefined && now.oldName !== undefined && approved.oldName !== now.oldName) {
    differences.push({ code: 'name-changed', before: subject, now: now.oldName })
  }
  if (approved.project && now.project && sameProject(approved.project, now.project) === false) {
    const [then, today] = distinctLabels(approved.project, now.project, ['name', 'slug'])
    differences.push({ code: 'project-changed', before: then, now: today })
  }
  return differences
}

export function describeRename(facts: RenameFacts): Description {
  const { virtualMachineId, oldName, newName, project, site, address } = facts
  return {
    title: phrase`Rename ${subjectOf(facts)} → ${newName}`,
    facts: [
      ...(oldName === undefined ? [{ label: 'Old name', value: 'unknown' }] : []),
      { label: 'Project', value: project ? projectName(project) : 'unknown' },
      { label: 'Site', value: site ?? 'unknown' },
      { label: 'Address', value: address ?? 'unknown' },
    ],
    ids: oldName === undefined ? [] : [{ label: 'Virtual machine', value: virtualMachineId }],
    underway: 'being renamed',
  }
}

function subjectOf({ virtualMachineId, oldName }: RenameFacts): string {
  return oldName ?? virtualMachineId
}
