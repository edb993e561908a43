import type { Finding } from '../../../domain/change/finding.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { earlierEndOf } from '../../messages/warnings/earlier-end.ts'
import { isRecent, type LastChange, lastChangeOf, type MoreChanges } from '../../messages/warnings/last-change.ts'
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
  /** Returns how the repeated request ended, and the last changes. A record that somebody changed is left out. */
  return async function historyBefore(now: number, changed: ToChange, { undone, repeated }: Earlier): Promise<Finding[]> {
    const earlierEnd = repeated && isGenuine(repeated) ? earlierEndOf(repeated, now, changed.itemNames) : undefined
    // A request that undoes or repeats the last change names it elsewhere.
    const isNamed = (id: string) => id === undone?.id || id === repeated?.id
    const last = await lastChangesBefore(now, changed)
    return [...(earlierEnd ? [earlierEnd] : []), ...listed(last.filter(({ requestId }) => !isNamed(requestId)))]
  }

  /**
   * Returns the last change of the resource, and those of the other resources in the past 24 hours, the newest first. Somebody may still be at work
   * on each of them.
   */
  async function lastChangesBefore(now: number, { resource, subject, others, names }: ToChange): Promise<LastChange[]> {
    const last = await store.lastChangesOf([...new Set([resource, ...others])])
    const byRequest = Map.groupBy(last.keys(), (each) => last.get(each))
    const found = [...byRequest].flatMap(([request, resources]) => {
      if (request?.endedAt === undefined || !isGenuine(request)) return []
      const isOwn = resources.includes(resource)
      const change = lastChangeOf(request, now, isOwn ? [subject] : namesOf(resources, { subject, names }))
      return isOwn || isRecent(change) ? [change] : []
    })
    const [newest, ...older] = found.toSorted((a, b) => a.agoMs - b.agoMs)
    // Only its evacuations lock a server. Moves of its addresses since then have changed it later.
    return newest
      ? [newest, ...older.map((change) => (change.names.includes(subject) && others.length > 0 ? { ...change, isOlder: true } : change))]
      : []
  }

  function isGenuine(request: Request): boolean {
    return signatures.verifyRecord(request) === 'genuine'
  }
}

/** A resource without a name, such as a key label, gets the name of the subject. */
function namesOf(resources: string[], { subject, names }: Pick<ToChange, 'subject' | 'names'>): string[] {
  return [...new Set(resources.map((each) => names.get(each) ?? subject))]
}

/** The most recent changes that are listed. The others are counted. */
const mostListed = 3

function listed(changes: LastChange[]): Finding[] {
  const [recent, older] = [changes.filter(isRecent), changes.filter((change) => !isRecent(change))]
  const count = recent.slice(mostListed).flatMap(({ names }) => names).length
  return [...recent.slice(0, mostListed), ...(count > 0 ? [{ code: 'more-changes', count } satisfies MoreChanges] : []), ...older]
}
