import type { Finding } from '../../../domain/change/finding.ts'
import { type Request, resourcesOf } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { isRecent, lastChangeOf } from '../../messages/warnings/last-change.ts'
import type { Store } from '../../store/store.ts'

interface LastChangesParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  store: Pick<Store, 'lastChangesOf'>
}

/** What a new request changes. */
interface ToChange {
  resource: string
  /** What people call it. */
  subject: string
  /** What it changes besides. */
  others: string[]
  /** What people call these. */
  names: ReadonlyMap<string, string>
}

/** Creates the function that finds what Lockkeeper changed last of the resources of a new request, so that approvers know of it. */
export function createLastChanges({ signatures, store }: LastChangesParts) {
  /**
   * Returns the last change of the resource, or a newer one of what is changed besides, if there is any. The newest is what somebody may still be
   * at work on. A record that somebody changed is left out.
   */
  return async function lastChangesBefore(now: number, { resource, subject, others, names }: ToChange): Promise<Finding[]> {
    const [own, ofOthers] = await Promise.all([read([resource]), read(others)])
    const found = [
      ...own.map((last) => lastChangeOf(last, now, [subject])),
      ...ofOthers.map((last) => lastChangeOf(last, now, namesOf(last, others, names))).filter(isRecent),
    ]
    const [newest] = found.toSorted((a, b) => a.agoMs - b.agoMs)
    return newest ? [newest] : []
  }

  async function read(resources: string[]): Promise<Request[]> {
    const found = await store.lastChangesOf(resources)
    return found.filter((last) => last.endedAt !== undefined && signatures.verifyRecord(last) === 'genuine')
  }
}

/** Names those of the resources that an earlier request changed. */
function namesOf(last: Request, resources: string[], names: ToChange['names']): string[] {
  const changed = new Set(resourcesOf(last))
  return resources.filter((each) => changed.has(each)).map((each) => names.get(each) ?? each)
}
