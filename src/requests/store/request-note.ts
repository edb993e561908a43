import type { AuditNote } from '../../audit/entry.ts'
import type { Request } from '../../domain/request.ts'

/** The part of a request that its audit notes carry. */
export type Noted = Pick<Request, 'id' | 'kind' | 'resource' | 'facts' | 'origin' | 'hash'>

/** Builds the audit note of an act on a request. */
export function noteOf(request: Noted, act: string, more: Partial<AuditNote>): AuditNote {
  const { id, kind, resource, facts, origin, hash } = request
  const { channelId, teamId } = origin
  return { act, requestId: id, kind, resource, facts, channelId, teamId, payload: hash, ...more }
}
