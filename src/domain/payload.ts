import { hash } from 'node:crypto'
import type { Request } from './request.ts'

type Payload = Pick<Request, 'id' | 'kind' | 'input' | 'facts' | 'resource' | 'unchecked' | 'origin' | 'reason'> &
  Partial<Pick<Request, 'warnings'>>

/**
 * SHA-256 of everything that is asked for: what, of what, by whom, where and why. The card shows it, its buttons carry it, and what is
 * carried out is checked against it, so that nothing else is done than what was approved. Pure.
 */
export function payloadHash({ id, kind, input, facts, resource, unchecked, warnings = [], origin, reason }: Payload): string {
  const { userId, channelId, teamId } = origin
  const shown = warnings.length > 0 ? { warnings } : {}
  const payload = { id, kind, input, facts, resource, unchecked, ...shown, userId, channelId, teamId, reason }
  return hash('sha256', canonical(JSON.parse(JSON.stringify(payload))))
}

/** Whether the record is still what was asked for. Pure. */
export function isGenuine(request: Request): boolean {
  return request.hash === payloadHash(request)
}

/** JSON with the names of objects in order, so that the same content is the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`
}
