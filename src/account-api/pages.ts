import { ApiContractError } from '../domain/errors.ts'
import type { HttpCall } from './call.ts'
import type { Http } from './http.ts'
import { withQuery } from './path.ts'
import type { ListAnswer, ReportSkipped, ResourceKind } from './resource-kind.ts'

const pageSize = 100
const maxPages = 1_000
const maxParallelPages = 8

export interface PagedRequest extends Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'> {
  query?: Record<string, string | undefined>
  /** Stop when there are so many. */
  limit?: number | undefined
}

/**
 * All items of a paged list, each id once and as it was read last. Answers carry no total and the size of a page may be clamped, so only an *empty* page
 * is the end, or a page with nothing new, from a server that takes no notice of the page number. Rows shift between pages
 * while they are read: an item that is missing from the result may exist all the same.
 */
export async function readPages<Item extends { id: string }>(
  http: Http,
  kind: ResourceKind<Item>,
  { operation, path, query, signal, limit = Number.POSITIVE_INFINITY }: PagedRequest,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const firstPart = withQuery(path, { ...query, 'page[size]': Math.min(limit, pageSize), 'page[number]': '' })
  const found = new Map<string, Item>()
  const others = new Set<string>()
  let skipped = 0

  async function readPage(number: number) {
    return http.call({ operation, method: 'GET', path: `${firstPart}${number}`, signal, read: kind.list })
  }

  /** False when it was the last. */
  function take(page: ListAnswer<Item>): boolean {
    const before = found.size + others.size
    for (const item of page.items) found.set(item.id, item)
    for (const other of page.others) others.add(JSON.stringify(other))
    if (found.size + others.size === before) return false
    skipped += page.broken
    return found.size < limit
  }

  /** Wider as the list turns out long: at most a tenth of the requests can be for pages behind the end. */
  async function readFrom(first: number): Promise<void> {
    if (first > maxPages) throw new ApiContractError({ operation, status: 200, problem: `more than ${maxPages} pages` })
    const width = Math.min(maxParallelPages, Math.max(1, Math.floor((first - 1) / 10)))
    const pages = await Promise.all(Array.from({ length: width }, (_, index) => readPage(first + index)))
    if (pages.every(take)) await readFrom(first + width)
  }

  await readFrom(1)
  if (skipped > 0) reportSkipped({ operation, count: skipped })
  return [...found.values()].slice(0, limit)
}
