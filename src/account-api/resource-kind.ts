import { z } from 'zod'
import type { HttpCall } from './call.ts'
import type { Http } from './http.ts'

/** Told when items of a list did not fit and were left out, so that the rest could be shown. */
export type ReportSkipped = (report: { operation: string; count: number }) => void

export interface ListAnswer<Item> {
  items: Item[]
  /** Of the same list, as they came: what is not there yet, and what did not fit. */
  others: unknown[]
  /** How many of the others did not fit. */
  broken: number
}

const ListResponse = z.object({ data: z.array(z.unknown()) })

/**
 * How one kind of resource is read: alone, where it has to fit, or in a list, where one that does not fit must not cost the others.
 * `toItem` gives undefined for what is not there yet (an Elastic IP without an id). Built once, since schemas are dear to build.
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
    // Nearly always all of it fits, and together is much cheaper than each by itself.
    const items = All.safeParse(json).data?.data.map((wire) => toItem(wire))
    return items?.every((item) => item !== undefined) ? { items, others: [], broken: 0 } : listOneByOne(json)
  }

  function listOneByOne(json: unknown): ListAnswer<Item> {
    const answer: ListAnswer<Item> = { items: [], others: [], broken: 0 }
    for (const raw of ListResponse.parse(json).data) {
      const wire = schema.safeParse(raw).data
      const item = wire && toItem(wire)
      if (item === undefined) answer.others.push(raw)
      else answer.items.push(item)
      if (wire === undefined) answer.broken += 1
    }
    return answer
  }

  return { one, list }
}
export type ResourceKind<Item> = { one(json: unknown): Item; list(json: unknown): ListAnswer<Item> }

/** A list that the specification shows without pages. */
export async function readList<Item>(
  http: Http,
  kind: ResourceKind<Item>,
  request: Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'>,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const { items, broken } = await http.call({ ...request, method: 'GET', read: kind.list })
  if (broken > 0) reportSkipped({ operation: request.operation, count: broken })
  return items
}
