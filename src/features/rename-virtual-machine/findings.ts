import { z } from 'zod'
import { CheckFailed } from '../../domain/errors.ts'
import type { Words } from '../../domain/finding.ts'

const virtualMachineId = z.string()

/** Everything that can prevent a rename, stay unchecked before it, or end it. */
export const RenameFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no-virtual-machine'), virtualMachineId }),
  /** `problem`: a sentence that says why the new name is not a hostname. It is shown at once and never stored. */
  z.object({ code: z.literal('not-a-hostname'), problem: z.string() }),
  z.object({ code: z.literal('same-name'), virtualMachineId, name: z.string() }),

  z.object({ code: z.literal('virtual-machine-unread'), virtualMachineId }),
  z.object({ code: z.literal('name-not-shown'), virtualMachineId }),

  z.object({ code: z.literal('id-changed'), before: z.string(), now: z.string() }),
  z.object({ code: z.literal('name-changed'), before: z.string(), now: z.string() }),
  z.object({ code: z.literal('project-changed'), before: z.string(), now: z.string() }),

  /** `name`: the old name, or the id if the account API showed no name. */
  z.object({ code: z.literal('virtual-machine-gone'), name: z.string() }),
  z.object({ code: z.literal('renamed-by-others'), name: z.string(), now: z.string() }),
  z.object({ code: z.literal('accepted-without-effect'), now: z.string() }),
  z.object({ code: z.literal('still-called'), now: z.string() }),
])
export type RenameFinding = z.infer<typeof RenameFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseRename(finding: RenameFinding): never {
  throw new CheckFailed(finding, renameWords(finding))
}

/** Whether an error is about the new name. */
export function isAboutName(error: unknown): boolean {
  return error instanceof CheckFailed && ['not-a-hostname', 'same-name'].includes(error.finding.code)
}

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function renameWords(finding: RenameFinding): Words {
  return { why: sentenceOf(finding) }
}

function sentenceOf(finding: RenameFinding): string {
  switch (finding.code) {
    case 'no-virtual-machine':
      return `There is no virtual machine ${finding.virtualMachineId} on the account.`
    case 'not-a-hostname':
      return finding.problem
    case 'same-name':
      return `${finding.virtualMachineId} is called ${finding.name} already, so there is nothing to rename.`
    case 'virtual-machine-unread':
      return `whether virtual machine ${finding.virtualMachineId} exists, and what it is called now (the account API did not answer)`
    case 'name-not-shown':
      return `what ${finding.virtualMachineId} is called now (the account API does not tell)`
    case 'id-changed':
      return `This was asked for as ${finding.before}, and the account API calls it ${finding.now}. Ask again with that id.`
    case 'name-changed':
      return `It was called ${finding.before} when this was asked for, and is called ${finding.now} now.`
    case 'project-changed':
      return `It was in project ${finding.before} when this was asked for, and is in ${finding.now} now.`
    case 'virtual-machine-gone':
      return `${finding.name} no longer exists on the account.`
    case 'renamed-by-others':
      return `${finding.name} is called ${finding.now} now: it was renamed by somebody else meanwhile.`
    case 'accepted-without-effect':
      return `The account API accepted the new name, but it is still called ${finding.now}.`
    case 'still-called':
      return `It is still called ${finding.now}: the rename did not take effect and nothing was changed.`
  }
}
