import type { Request } from '../../domain/request/request.ts'
import type { Store } from '../../requests/store/store.ts'

/** The open requests about each thing, by its id. `unread`: how many open requests this version cannot read. */
interface OpenRequests {
  about: Map<string, Request[]>
  unread: number
}

/** Finds the open requests about these things. */
export async function findOpenRequests(store: Pick<Store, 'findOpen'>, thingIds: string[]): Promise<OpenRequests> {
  if (thingIds.length === 0) return { about: new Map(), unread: 0 }
  const { requests, unreadable } = await store.findOpen()
  const namedIn = requests.map((request) => ({ request, ids: stringsIn([request.input, request.facts]) }))
  const about = thingIds.map((id) => [id, namedIn.filter(({ ids }) => ids.has(id)).map(({ request }) => request)] as const)
  return { about: new Map(about), unread: unreadable }
}

/**
 * Collects the strings of a request's content: every kind of change names its things by their ids there. Addresses that the request leaves
 * out do not count.
 */
function stringsIn(content: unknown[]): Set<string> {
  const found = new Set<string>()
  const left = [...content]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') found.add(value)
    else if (typeof value === 'object' && value !== null)
      left.push(...Object.entries(value).flatMap(([name, member]) => (name === 'leftOut' ? [] : [member])))
  }
  return found
}
