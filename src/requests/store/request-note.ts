import type { AuditNote } from '../../audit/entry.ts'
import { problemOf, unverifiedRecord } from '../../domain/request/authority-problem.ts'
import type { Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'

/** What the note of an act says besides the request. */
type More = Partial<AuditNote>

/** Builds the audit note of an act on a request that this process made, or that it has verified. */
export function noteOfVerified(
  request: Pick<Request, 'id' | 'kind' | 'resource' | 'facts' | 'origin' | 'hash'>,
  act: string,
  more: More,
): AuditNote {
  const { id, kind, resource, facts, origin, hash } = request
  const { channelId, teamId } = origin
  return { act, requestId: id, kind, resource, facts, channelId, teamId, payload: hash, ...more }
}

/**
 * Creates the function that builds the audit note of an act on a request that was read from Redis. Every note is signed, so it says nothing of a
 * record that cannot be verified: only the act, who did it, and what the account API answered.
 */
export function createNoteOf({ verifyRecord }: Pick<RequestSignatures, 'verifyRecord'>) {
  return function noteOf(request: Request, act: string, more: More): AuditNote {
    const problem = problemOf(verifyRecord(request))
    if (!problem) return noteOfVerified(request, act, more)
    const { by, attempted, reason, answer, resourceId, causes = [] } = more
    const why = problem.code === 'unknown-key' ? problem : unverifiedRecord
    return { act, requestId: request.id, by, attempted, reason, answer, resourceId, causes: causes.length > 0 ? causes : [why] }
  }
}
export type NoteOf = ReturnType<typeof createNoteOf>
