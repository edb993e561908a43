import { hash } from 'node:crypto'
import type { Request } from './request.ts'

type Payload = Pick<Request, 'id' | 'kind' | 'input' | 'facts' | 'resource' | 'unchecked' | 'origin' | 'reason'> &
  Partial<Pick<Request, 'warnings'>>

/**
 * Computes the SHA-256 of everything that is requested: the change, its resource, the requester, the channel and the reason. The card shows
 * the hash and its buttons carry it. A request is checked against its hash before it is carried out, so that only what was approved is
 * done.
 */
export function payloadHash({ id, kind, input, facts, resource, unchecked, warnings = [], origin, reason }: Payload): string {
  const { userId, channelId, teamId } = origin
  const shown = warnings.length > 0 ? { warnings } : {}
  const payload = { id, kind, input, facts, resource, unchecked, ...shown, userId, channelId, teamId, reason }
  return hash('sha256', canonical(JSON.parse(JSON.stringify(payload))))
}

/** Whether the record still fits its hash. */
export function isGenuine(request: Request): boolean {
  return request.hash === payloadHash(request)
}

/** Writes JSON with sorted names, so that equal contents give equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`
}
