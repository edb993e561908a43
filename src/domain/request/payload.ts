import { hash } from 'node:crypto'
import { canonicalJson } from '../signing/canonical-json.ts'
import type { Request } from './request.ts'

type Payload = Pick<Request, 'id' | 'kind' | 'input' | 'facts' | 'resource' | 'unchecked' | 'origin' | 'reason'> &
  Partial<Pick<Request, 'warnings' | 'undoes' | 'repeats' | 'fromMessage' | 'alert'>>

/**
 * Computes the SHA-256 of everything that is requested: the change, its resource, the requester, the channel, the reason, what it undoes or
 * repeats, and the message or the alert that it was requested from. The card shows the hash and its buttons carry it. A request is checked against its hash before it is carried out, so that only what was approved is
 * done.
 */
export function payloadHash({
  id,
  kind,
  input,
  facts,
  resource,
  unchecked,
  warnings = [],
  origin,
  reason,
  undoes,
  repeats,
  fromMessage,
  alert,
}: Payload): string {
  const { userId, channelId, teamId } = origin
  const shown = { ...(warnings.length > 0 ? { warnings } : {}), fromMessage, alert }
  const payload = { id, kind, input, facts, resource, unchecked, ...shown, userId, channelId, teamId, reason, undoes, repeats }
  return hash('sha256', canonicalJson(payload))
}

/** Whether the record still matches its hash. */
export function isGenuine(request: Request): boolean {
  return request.hash === payloadHash(request)
}
