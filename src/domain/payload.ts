import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { Request } from './request.ts'

type Payload = Pick<Request, 'id' | 'kind' | 'input' | 'facts' | 'resource' | 'unchecked' | 'origin' | 'reason'>

/**
 * SHA-256 of everything that is asked for: what, of what, by whom, where and why. The card shows it, its buttons carry it, and what is
 * carried out is checked against it, so that nothing else is done than what was approved. Pure.
 */
export function payloadHash({ id, kind, input, facts, resource, unchecked, origin, reason }: Payload): string {
  const { userId, channelId, teamId } = origin
  const payload = { id, kind, input, facts, resource, unchecked, userId, channelId, teamId, reason }
  return hash('sha256', canonicalJson(payload))
}

/** Whether the record is still what was asked for. Pure. */
export function isGenuine(request: Request): boolean {
  return request.hash === payloadHash(request)
}
