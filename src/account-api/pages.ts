import { ApiContractError } from '../domain/api-errors.ts'
import { withQuery } from './path.ts'
import type { ListAnswer, ReportSkipped, ResourceKind } from './resource-kind.ts'
import type { HttpCall } from './transport/call.ts'
import type { Http } from './transport/http.ts'

const pageSize = 100
const maxPages = 1_000
const maxParallelPages = 8

export interface PagedRequest extends Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'> {
  query?: Record<string, string | undefined>
  /** Stops after this many items. */
  limit?: number | undefined
}

/**
 * Reads all items of a paged list. Returns each id once, as it was read last.
 *
 * Answers carry no total, and the server may return fewer items than requested. So the list ends only at an empty page, or at a page with
 * nothing new (from a server that ignores the page number). Rows can shift between pages while they are read, so an item that is missing
 * from the result may still exist.
 *
 * Throws ApiError, ApiUnreachableError and ApiContractError, the latter also for a list of more than 1,000 pages.
 */
export async function readPages<Item extends { id: string }>(
  http: Http,
  kind: ResourceKind<Item>,
  { operation, path, query, signal, limit = Number.POSITIVE_INFINITY }: PagedRequest,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const firstPart = withQuery(path, { ...query, 'page[size]': Math.min(limit, pageSize), 'page[number]': '' })
  const found = new Map<string, Item>()
  const leftOut = new Set<string>()
  let skipped = 0

  async function readPage(number: number) {
    return http.call({ operation, method: 'GET', path: `${firstPart}${number}`, signal, read: kind.list })
  }

  /** Returns false if there is nothing more to read. */
  function addPage(page: ListAnswer<Item>): boolean {
    const before = found.size + leftOut.size
    for (const item of page.items) found.set(item.id, item)
    for (const item of page.leftOut) leftOut.add(JSON.stringify(item))
    if (found.size + leftOut.size === before) return false
    skipped += page.invalidCount
    return found.size < limit
  }

  /** Reads more pages in parallel the longer the list is. At most a tenth of all requests can be for pages past the end. */
  async function readFrom(first: number): Promise<void> {
    if (first > maxPages) throw new ApiContractError({ operation, status: 200, problem: `more than ${maxPages} pages` })
    const width = Math.min(maxParallelPages, Math.max(1, Math.floor((first - 1) / 10)))
    const pages = await Promise.all(Array.from({ length: width }, (_, index) => readPage(first + index)))
    if (pages.every(addPage)) await readFrom(first + width)
  }

  await readFrom(1)
  if (skipped > 0) reportSkipped({ operation, count: skipped })
  return [...found.values()].slice(0, limit)
}
