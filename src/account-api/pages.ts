import { ApiContractError } from '../domain/errors.ts'
import type { Http, HttpCall } from './http.ts'
import type { ReportSkipped, ResourceKind } from './resource-kind.ts'

const pageSize = 100
const maxPages = 1_000
const maxParallelPages = 8

export interface PagedRequest extends Pick<HttpCall<unknown>, 'operation' | 'path' | 'query' | 'signal'> {
  /** Stop when there are so many. */
  limit?: number | undefined
}

/**
 * All items of a paged list, each id once. Answers carry no total and the size of a page may be clamped, so only an *empty* page
 * is the end, or a page with nothing new, from a server that takes no notice of the page number. Rows shift between pages
 * while they are read: an item that is missing from the result may exist all the same.
 */
export async function readPages<Item>(
  http: Http,
  kind: ResourceKind<Item>,
  { limit = Number.POSITIVE_INFINITY, ...request }: PagedRequest,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const seen = new Set<string>()
  const items: Item[] = []
  let skipped = 0

  async function readPage(number: number) {
    const query = { ...request.query, 'page[size]': Math.min(limit, pageSize), 'page[number]': number }
    return http.call({ ...request, query, method: 'GET', read: kind.list })
  }

  /** False when it was the last. */
  function take({ entries, broken }: Awaited<ReturnType<typeof readPage>>): boolean {
    const fresh = entries.filter(({ key }) => !seen.has(key) && seen.add(key))
    for (const { item } of fresh) if (item !== undefined) items.push(item)
    if (fresh.length > 0) skipped += broken
    return fresh.length > 0 && items.length < limit
  }

  /** Wider as the list turns out long: at most a tenth of the requests can be for pages behind the end. */
  async function readFrom(first: number): Promise<void> {
    if (first > maxPages) throw new ApiContractError({ operation: request.operation, status: 200, problem: `more than ${maxPages} pages` })
    const width = Math.min(maxParallelPages, Math.max(1, Math.floor(first / 10)))
    const pages = await Promise.all(Array.from({ length: width }, (_, index) => readPage(first + index)))
    if (pages.every(take)) await readFrom(first + width)
  }

  await readFrom(1)
  if (skipped > 0) reportSkipped({ operation: request.operation, count: skipped })
  return items.slice(0, limit)
}
