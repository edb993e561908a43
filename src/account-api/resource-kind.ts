import { z } from 'zod'
import type { HttpCall } from './transport/call.ts'
import type { Http } from './transport/http.ts'

/** Reports how many items of a list did not fit the schema. They were left out, so that the rest could be shown. */
export type ReportSkipped = (report: { operation: string; count: number }) => void

export interface ListAnswer<Item> {
  items: Item[]
  /** Items that were left out, as received: those without an id yet, and those that did not fit the schema. */
  leftOut: unknown[]
  /** The number of items that did not fit the schema. */
  invalidCount: number
}

const ListResponse = z.object({ data: z.array(z.unknown()) })

/**
 * Creates the readers of one kind of resource. `one` throws if the resource does not fit the schema. `list` leaves such a resource out, so
 * that the others are still listed. `toItem` returns undefined for a resource that is not ready yet (an Elastic IP without an id). Create
 * each kind once per process, because building a schema is slow.
 */
export function resourceKind<Wire, Item>(schema: z.ZodType<Wire>, toItem: (wire: Wire) => Item | undefined) {
  const One = z.object({ data: schema })
  const All = z.object({ data: z.array(schema) })

  function one(json: unknown): Item {
    const item = toItem(One.parse(json).data)
    if (item === undefined) throw new Error('the resource has no id')
    return item
  }

  function list(json: unknown): ListAnswer<Item> {
    // Nearly all lists fit as a whole, and parsing a list at once is much faster than parsing each item.
    const items = All.safeParse(json).data?.data.map((wire) => toItem(wire))
    return items?.every((item) => item !== undefined) ? { items, leftOut: [], invalidCount: 0 } : listOneByOne(json)
  }

  function listOneByOne(json: unknown): ListAnswer<Item> {
    const answer: ListAnswer<Item> = { items: [], leftOut: [], invalidCount: 0 }
    for (const raw of ListResponse.parse(json).data) {
      const wire = schema.safeParse(raw).data
      const item = wire && toItem(wire)
      if (item === undefined) answer.leftOut.push(raw)
      else answer.items.push(item)
      if (wire === undefined) answer.invalidCount += 1
    }
    return answer
  }

  return { one, list }
}
export type ResourceKind<Item> = { one(json: unknown): Item; list(json: unknown): ListAnswer<Item> }

/** Reads a list that the interface specification shows without pages. Throws ApiError, ApiContractError and ApiUnreachableError. */
export async function readList<Item>(
  http: Http,
  kind: ResourceKind<Item>,
  request: Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'>,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const { items, invalidCount } = await http.call({ ...request, method: 'GET', read: kind.list })
  if (invalidCount > 0) reportSkipped({ operation: request.operation, count: invalidCount })
  return items
}
