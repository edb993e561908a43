import type { Answer } from '../answer.ts'
import type { AuthorizedRequest } from '../authorized-request.ts'
import { pageOf } from '../paging.ts'
import type { Account } from '../routes.ts'
import { eventOnWire } from '../wire.ts'

export function listEvents({ world, maxPageSize }: Account, { query }: AuthorizedRequest): Answer {
  const since = Date.parse(query['filter[created_at][gte]'] ?? '') || 0
  const found = world.events.filter(
    (event) =>
      event.createdAt >= since &&
      (query['filter[target_id]'] === undefined || event.target.id === query['filter[target_id]']) &&
      (query['filter[action]'] === undefined || event.action === query['filter[action]']),
  )
  const sorted = query.sort === 'created_at' ? found : found.toReversed()
  return pageOf(sorted.map(eventOnWire), query, maxPageSize, { hasTotal: true })
}
