import { z } from 'zod'
import type { AccountEvent } from '../domain/account.ts'
import { shown, text } from './fields.ts'
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

const event = resourceKind(EventResponse, ({ id, attributes }): AccountEvent => {
  const { action, target, author, created_at: createdAt } = shown(attributes)
  return { id, action, target: target && shown(target), author: author && shown(author), createdAt }
})

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
     */
    async list({ targetId, since, limit = 100, signal }: EventFilter = {}): Promise<AccountEvent[]> {
      const query = { 'filter[target_id]': targetId, 'filter[created_at][gte]': since?.toISOString(), sort: '-created_at' }
      return readPages(http, event, { operation: 'events.list', path: '/events', query, hasTotal: true, signal, limit })
    },
  }
}
