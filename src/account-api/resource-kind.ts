import { z } from 'zod'
import type { Http, HttpCall } from './http.ts'

/** Told when items of a list did not fit and were left out, so that the rest could be shown. */
export type ReportSkipped = (report: { operation: string; count: number }) => void

export interface ListAnswer<Item> {
  /** In the order of the answer. `key` is the same for the same item on another page; a broken one has no `item`. */
  entries: { key: string; item: Item | undefined }[]
  broken: number
}

const ListResponse = z.object({ data: z.array(z.unknown()) })

/**
 * How one kind of resource is read: alone, where it has to fit, or in a list, where one that does not fit must not cost the others.
 * `toItem` gives undefined for what is not there yet (an Elastic IP without an id). Built once, since schemas are dear to build.
 */
export function resourceKind<Wire extends { id?: string | null | undefined }, Item>(
  schema: z.ZodType<Wire>,
  toItem: (wire: Wire) => Item | undefined,
) {
  const One = z.object({ data: schema })

  function one(json: unknown): Item {
    const item = toItem(One.parse(json).data)
    if (item === undefined) throw new Error('the resource has no id')
    return item
  }

  function list(json: unknown): ListAnswer<Item> {
    let broken = 0
    const entries = ListResponse.parse(json).data.map((raw) => {
      const { data: wire } = schema.safeParse(raw)
      if (!wire) broken++
      return { key: wire?.id ?? JSON.stringify(raw), item: wire && toItem(wire) }
    })
    return { entries, broken }
  }

  return { one, list }
}
export type ResourceKind<Item> = { one(json: unknown): Item; list(json: unknown): ListAnswer<Item> }

/** A list that the specification shows without pages. */
export async function readList<Item>(
  http: Http,
  kind: ResourceKind<Item>,
  request: Pick<HttpCall<unknown>, 'operation' | 'path' | 'query' | 'signal'>,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const { entries, broken } = await http.call({ ...request, method: 'GET', read: kind.list })
  if (broken > 0) reportSkipped({ operation: request.operation, count: broken })
  return entries.flatMap(({ item }) => (item === undefined ? [] : [item]))
}
