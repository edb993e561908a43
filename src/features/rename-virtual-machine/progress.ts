import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import type { Moment, Observation } from '../../domain/change/observation.ts'

interface Rename {
  id: string
  /** Undefined if the account API showed no name. */
  from: string | undefined
  to: string
}

/**
 * Returns what a read of the virtual machine means for a rename. Only the new name means done. The account API may write it in another
 * case.
 */
export function observeRename({ id, from, to }: Rename, seen: Pick<VirtualMachine, 'name'> | 'gone', moment: Moment): Observation {
  const subject = from ?? id
  if (seen === 'gone') return { is: 'failed', cause: { code: 'virtual-machine-gone', name: subject } }
  const { name } = seen
  if (name === undefined) return { is: 'unclear' }
  if (name === to) return { is: 'done' }
  if (from !== undefined && name !== from) {
    if (alike(name, to) && !alike(from, to)) return { is: 'done' }
    return { is: 'superseded', cause: { code: 'renamed-by-others', name: subject, now: name } }
  }
  if (moment.early) return { is: 'unclear' }
  if (moment.phase === 'accepted') {
    return { is: 'failed', cause: { code: 'accepted-without-effect', now: name }, mayStillHappen: true }
  }
  return { is: 'not-started', cause: { code: 'still-called', now: name } }
}

/** Compares hostnames without regard to case. */
function alike(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
