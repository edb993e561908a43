import { z } from 'zod'
import type { AccountEvent } from '../domain/account.ts'
import { text } from './fields.ts'
import type { CallOptions, Http } from './http.ts'
import { readPages, resourceKind } from './resource.ts'

export const EventResponse = z.object({
  id: z.string(),
  attributes: z.object({
    action: text,
    target: z.object({ id: text, name: text }).nullish(),
    author: z.object({ id: text, name: text, email: text }).nullish(),
    created_at: text,
  }),
})

const event = resourceKind(
  EventResponse,
  ({ id, attributes: { action, target, author, created_at } }): AccountEvent => ({
    id,
    action: action ?? undefined,
    target: target ? { id: target.id ?? undefined, name: target.name ?? undefined } : undefined,
    author: author ? { id: author.id ?? undefined, name: author.name ?? undefined, email: author.email ?? undefined } : undefined,
    createdAt: created_at ?? undefined,
  }),
)

interface EventFilter extends CallOptions {
  targetId?: string
  since?: Date
  /** The number of events to read. 100 by default, because the history of an account is long. */
  limit?: number
}

export function eventsResource(http: Http) {
  return {
    /**
     * Lists the account's own events, newest first (vendor's OpenAPI document, "GET /events"; not in the interface specification
     * 2023-06-01). `since` is inclusive. Times are ISO 8601 strings.
     * Throws ApiError, ApiContractError and ApiUnreachableError.
     */
    async list({ targetId, since, limit = 100, signal }: EventFilter = {}): Promise<AccountEvent[]> {
      const query = { 'filter[target_id]': targetId, 'filter[created_at][gte]': since?.toISOString(), sort: '-created_at' }
      return readPages(http, event, { operation: 'events.list', path: '/events', query, hasTotal: true, signal, limit })
    },
  }
}
