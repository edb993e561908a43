import type { Finding } from '../../../domain/change/finding.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { isRecent, type LastChange, lastChangeOf } from '../../messages/warnings/last-change.ts'
import type { Store } from '../../store/store.ts'

interface LastChangesParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  store: Pick<Store, 'lastChangesOf'>
}

/** Creates the function that finds what Lockkeeper changed last of the resources of a new request, so that approvers know of it. */
export function createLastChanges({ signatures, store }: LastChangesParts) {
  /**
   * Returns the last change of the resource, or a newer one of what is changed besides, if there is any. The newest is what somebody may still be
   * at work on. A record that somebody changed is left out.
   */
  return async function lastChangesBefore(now: number, resource: string, others: string[]): Promise<Finding[]> {
    const [own, ofOthers] = await Promise.all([read([resource], now), read(others, now)])
    const [newest] = [...own, ...ofOthers.filter(isRecent)].toSorted((a, b) => a.agoMs - b.agoMs)
    return newest ? [newest] : []
  }

  async function read(resources: string[], now: number): Promise<LastChange[]> {
    const found = await store.lastChangesOf(resources)
    return found.flatMap((last) =>
      last.endedAt === undefined || signatures.verifyRecord(last) !== 'genuine' ? [] : [lastChangeOf(last, now)],
    )
  }
}
