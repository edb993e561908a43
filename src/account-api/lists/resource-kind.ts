import { z } from 'zod'
import { AnswerTooLongError, ListCutError } from '../../domain/errors/list-errors.ts'
import type { HttpCall } from '../transport/call.ts'
import type { Http } from '../transport/http.ts'
import { listLimits } from '../transport/list-limits.ts'
import { noteLeftOut } from './left-out.ts'

/** Reports how many items of a list did not fit the schema. They were left out, so that the rest could be shown. */
export type ReportSkipped = (report: { operation: string; count: number }) => void

export interface ListAnswer<Item> {
  items: Item[]
  /** Items that were left out, as received: those without an id yet, and those that did not fit the schema. */
  leftOut: unknown[]
  /** The number of items that did not fit the schema. */
  invalidCount: number
  /** Whether the answer had more items than requested. The rest was not parsed. */
  isCut: boolean
}

const ListResponse = z.object({ data: z.array(z.unknown()) })

/**
 * Creates the readers of one kind of resource. `one` throws if the resource does not fit the schema. `list` leaves such a resource out, so
 * that the others are still listed, and parses at most `most` of them. `toItem` returns undefined for a resource that is not ready yet (an Elastic IP without an id). Create
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

  function list(json: unknown, most: number): ListAnswer<Item> {
    const first = firstItems(json, most)
    return { ...listAll(first ?? json), isCut: first !== undefined }
  }

  function listAll(json: unknown): Omit<ListAnswer<Item>, 'isCut'> {
    // Nearly all lists fit as a whole, and parsing a list at once is much faster than parsing each item.
    const items = All.safeParse(json).data?.data.map((wire) => toItem(wire))
    return items?.every((item) => item !== undefined) ? { items, leftOut: [], invalidCount: 0 } : listOneByOne(json)
  }

  function listOneByOne(json: unknown): Omit<ListAnswer<Item>, 'isCut'> {
    const answer: Omit<ListAnswer<Item>, 'isCut'> = { items: [], leftOut: [], invalidCount: 0 }
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
export type ResourceKind<Item> = { one(json: unknown): Item; list(json: unknown, most: number): ListAnswer<Item> }

/** Returns a list with only its first items, or undefined if it has no more than these. */
function firstItems(json: unknown, most: number): unknown {
  const { data } = ListResponse.safeParse(json).data ?? {}
  return data && data.length > most ? { data: data.slice(0, most) } : undefined
}

/**
 * Reads a list that the interface specification shows without pages. Throws ApiError, ApiContractError and ApiUnreachableError, and
 * ListCutError for more than 20,000 items or 4 MB.
 */
export async function readList<Item>(
  http: Http,
  kind: ResourceKind<Item>,
  request: Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'>,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const read = (json: unknown) => kind.list(json, listLimits.items)
  const { operation } = request
  const mostBytes = listLimits.bytesWithoutPages
  const { items, leftOut, invalidCount, isCut } = await http
    .call({ ...request, method: 'GET', mostBytes, read })
    .catch((error: unknown) => {
      throw error instanceof AnswerTooLongError ? new ListCutError({ operation, limit: 'bytes of a page', items: [] }) : error
    })
  if (invalidCount > 0) reportSkipped({ operation, count: invalidCount })
  noteLeftOut(items, { unreadable: invalidCount, unready: leftOut.length - invalidCount })
  if (isCut) throw new ListCutError({ operation, limit: 'items', items })
  return items
}
