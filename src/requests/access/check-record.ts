import { type AuthorityProblem, problemOf } from '../../domain/request/authority-problem.ts'
import type { Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Catalog } from '../catalog.ts'

interface CheckRecordParts {
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  catalog: Pick<Catalog, 'openIfFit' | 'itemsOf'>
}

/**
 * Creates the check of a record before a step that follows from it: its signed parts are genuine, and its items are exactly those that were
 * requested. An item that nobody requested would never end.
 */
export function createCheckRecord({ signatures, catalog }: CheckRecordParts) {
  return function checkRecord(request: Request): AuthorityProblem | undefined {
    const problem = problemOf(signatures.verifyRecord(request))
    return problem ?? (hasOwnItems(request) ? undefined : { code: 'record-changed' })
  }

  function hasOwnItems(request: Request): boolean {
    const opened = request.items && catalog.openIfFit(request)
    if (!opened || !request.items) return true
    const requested = new Set(catalog.itemsOf(opened).map(({ id }) => id))
    const recorded = new Set(request.items.map(({ id }) => id))
    return request.items.length === recorded.size && requested.size === recorded.size && [...recorded].every((id) => requested.has(id))
  }
}
export type CheckRecord = ReturnType<typeof createCheckRecord>
