import type { Finding } from '../../../domain/change/finding.ts'
import { type Request, resourcesOf } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { earlierEndOf } from '../../messages/warnings/earlier-end.ts'
import { isRecent, type LastChange, lastChangeOf } from '../../messages/warnings/last-change.ts'
import type { Store } from '../../store/store.ts'
import type { Earlier } from './find-earlier.ts'

interface HistoryParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  store: Pick<Store, 'lastChangesOf'>
}

/** What a new request changes. */
interface ToChange {
  resource: string
  /** What people call it. */
  subject: string
  /** Its other resources. */
  others: string[]
  /** What people call those, by resource. */
  names: ReadonlyMap<string, string>
  /** What people call its items, by their ids. */
  itemNames: ReadonlyMap<string, string>
}

/** Creates the function that finds what was done earlier to the resources of a new request, so that approvers know of it. */
export function createHistory({ signatures, store }: HistoryParts) {
  /** Returns how the repeated request ended, and the last change. A record that somebody changed is left out. */
  return async function historyBefore(now: number, changed: ToChange, { undone, repeated }: Earlier): Promise<Finding[]> {
    const earlierEnd = repeated && isGenuine(repeated) ? earlierEndOf(repeated, now, changed.itemNames) : undefined
    // A request that undoes or repeats the last change names it elsewhere.
    const isNamed = (id: string) => id === undone?.id || id === repeated?.id
    const last = await lastChangeBefore(now, changed)
    return [...(earlierEnd ? [earlierEnd] : []), ...(last && !isNamed(last.requestId) ? [last] : [])]
  }

  /**
   * Returns the last change of the resource, or a newer one of the other resources in the past 24 hours. The newest is what somebody may still be at
   * work on.
   */
  async function lastChangeBefore(now: number, { resource, subject, others, names }: ToChange): Promise<LastChange | undefined> {
    const [own, ofOthers] = await Promise.all([read([resource]), read(others)])
    const found = [
      ...own.map((last) => lastChangeOf(last, now, [subject])),
      ...ofOthers.map((last) => lastChangeOf(last, now, namesOf(last, others, { subject, names }))).filter(isRecent),
    ]
    return found.toSorted((a, b) => a.agoMs - b.agoMs)[0]
  }

  async function read(resources: string[]): Promise<Request[]> {
    const found = await store.lastChangesOf(resources)
    return found.filter((last) => last.endedAt !== undefined && isGenuine(last))
  }

  function isGenuine(request: Request): boolean {
    return signatures.verifyRecord(request) === 'genuine'
  }
}

/** Returns the names of the resources that an earlier request changed. A resource without a name, such as a key label, gets the name of the subject. */
function namesOf(last: Request, resources: string[], { subject, names }: Pick<ToChange, 'subject' | 'names'>): string[] {
  const changed = new Set(resourcesOf(last))
  return [...new Set(resources.filter((each) => changed.has(each)).map((each) => names.get(each) ?? subject))]
}
