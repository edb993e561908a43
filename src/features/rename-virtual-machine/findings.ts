import { z } from 'zod'
import { namesakesAre } from '../../domain/account/namesakes.ts'
import { type Words, wordsFrom } from '../../domain/change/finding.ts'
import { CheckFailed } from '../../domain/errors/errors.ts'
import { type Phrase, phrase } from '../../domain/text/phrase.ts'

const virtualMachineId = z.string()

/** Everything that can prevent a rename, stay unchecked before it, or end it. */
export const RenameFinding = z.discriminatedUnion('code', [
  /** `name`: from an earlier request. */
  z.object({ code: z.literal('no-virtual-machine'), virtualMachineId, name: z.string().optional() }),
  /** `problem`: a sentence that says why the new name is not a hostname. It is shown at once and never stored. */
  z.object({ code: z.literal('not-a-hostname'), problem: z.string() }),
  z.object({ code: z.literal('same-name'), virtualMachineId, name: z.string() }),

  z.object({ code: z.literal('virtual-machine-unread'), virtualMachineId }),
  z.object({ code: z.literal('name-not-shown'), virtualMachineId }),
  z.object({ code: z.literal('names-not-compared'), name: z.string() }),

  /** `count`: how many other virtual machines have the new name. `others`: the ids of up to three of them. */
  z.object({ code: z.literal('name-taken'), name: z.string(), others: z.array(z.string()), count: z.number() }),
  /** The same for the old name. */
  z.object({ code: z.literal('name-shared'), name: z.string(), others: z.array(z.string()), count: z.number() }),

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
  if (finding.code === 'not-a-hostname') return { why: finding.problem, next: chooseAnother }
  const next = nextAfter(finding)
  return { ...wordsFrom(sentenceOf(finding)), ...(next === undefined ? {} : { next }) }
}

export const chooseAnother = 'Choose another name.'

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter({ code }: RenameFinding): string | undefined {
  if (code === 'no-virtual-machine' || code === 'virtual-machine-gone') return 'Check the account.'
  return code === 'same-name' ? 'There is nothing left to do.' : undefined
}

function sentenceOf(finding: Exclude<RenameFinding, { code: 'not-a-hostname' }>): Phrase {
  switch (finding.code) {
    case 'no-virtual-machine':
      return finding.name === undefined
        ? phrase`No virtual machine ${finding.virtualMachineId} on the account.`
        : phrase`${finding.name} is no longer on the account, so it can't be renamed.`
    case 'same-name':
      return phrase`The virtual machine is already called ${finding.name}.`
    case 'virtual-machine-unread':
      return phrase`whether virtual machine ${finding.virtualMachineId} exists, and its current name (the account API didn't answer)`
    case 'name-not-shown':
      return phrase`the current name of ${finding.virtualMachineId} (the account API doesn't show it)`
    case 'names-not-compared':
      return phrase`whether another virtual machine is called ${finding.name} (couldn't read all virtual machines)`
    case 'name-taken':
      return phrase`${namesakesAre(finding, { one: 'virtual machine', many: 'virtual machines' })} already called ${finding.name}.`
    case 'name-shared':
      return phrase`${namesakesAre(finding, { one: 'virtual machine', many: 'virtual machines' })} also called ${finding.name}.`
    case 'id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'name-changed':
      return phrase`It was called ${finding.before} when this was requested, and is called ${finding.now} now.`
    case 'project-changed':
      return phrase`It was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'virtual-machine-gone':
      return phrase`${finding.name} no longer exists on the account.`
    case 'renamed-by-others':
      return phrase`${finding.name} is now called ${finding.now}. Another change renamed it.`
    case 'accepted-without-effect':
      return phrase`The account API accepted the new name, but the virtual machine is still called ${finding.now}.`
    case 'still-called':
      return phrase`The virtual machine is still called ${finding.now}. The rename had no effect and nothing was changed.`
  }
}
