import { isMachine } from '../../domain/approval/origin.ts'
import type { Change } from '../../domain/change/change.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import type { Store } from '../../requests/store/store.ts'

interface IsProposalParts {
  store: Pick<Store, 'findMany'>
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  /** The change that alerts request. */
  change: Pick<Change, 'kind' | 'resource' | 'inputOfAlert'>
}

/**
 * Creates the check that a request is what an alert about a server led to: a genuine request of a machine for that server. Otherwise an entry that
 * somebody writes to Redis would hide the alert behind any other request.
 */
export function createIsProposal({ store, signatures, change }: IsProposalParts) {
  return async function isProposal(requestId: string, serverId: string): Promise<boolean> {
    const [request] = await store.findMany([requestId])
    if (!request || !isMachine(request.origin) || request.kind !== change.kind) return false
    const resource = change.resource(change.inputOfAlert?.({ serverId, targetId: '' }))
    return request.resource === resource && signatures.verifyRecord(request) === 'genuine'
  }
}
export type IsProposal = ReturnType<typeof createIsProposal>
