import type { Moment } from '../../domain/change.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { VirtualMachine } from '../../domain/virtual-machine.ts'

export interface Rename {
  id: string
  /** Undefined when the account API told no name. */
  from: string | undefined
  to: string
}

/** What a look at the virtual machine means for a rename. Only the new name is done, however the account API writes its letters. Pure. */
export function judgeRename({ id, from, to }: Rename, seen: Pick<VirtualMachine, 'name'> | 'gone', moment: Moment): Verdict {
  const subject = from ?? id
  if (seen === 'gone') return { is: 'failed', why: `${subject} no longer exists on the account.` }
  const { name } = seen
  if (name === undefined) return { is: 'unclear' }
  if (name === to) return { is: 'done' }
  if (from !== undefined && name !== from) {
    if (alike(name, to) && !alike(from, to)) return { is: 'done' }
    return { is: 'superseded', why: `${subject} is called ${name} now: it was renamed by somebody else meanwhile.` }
  }
  if (moment.early) return { is: 'unclear' }
  if (moment.phase === 'accepted') {
    return { is: 'failed', why: `The account API accepted the new name, but it is still called ${name}.`, mayStillHappen: true }
  }
  return { is: 'not-started', why: `It is still called ${name}: the rename did not take effect and nothing was changed.` }
}

/** Hostnames are the same in small and capital letters. */
function alike(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
