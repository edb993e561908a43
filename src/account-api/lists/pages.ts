import { z } from 'zod'
import { nobodyWaits } from '../../domain/account/lane.ts'
import { ApiUnreachableError } from '../../domain/errors/api-errors.ts'
import { AnswerTooLongError, ListCutError, type ListLimit } from '../../domain/errors/list-errors.ts'
import { loose, toNumber } from '../fields.ts'
import { withQuery } from '../path.ts'
import type { HttpCall } from '../transport/call.ts'
import type { Http } from '../transport/http.ts'
import { listLimits, startListDeadline } from '../transport/list-limits.ts'
import { noteLeftOut } from './left-out.ts'
import type { ListAnswer, ReportSkipped, ResourceKind } from './resource-kind.ts'

export const pageSize = 100

/** The documented size of a page if none is requested. A server that allows only smaller pages than requested allows at least these. */
const documentedPageSize = 20

interface PagedRequest extends Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'> {
  query?: Record<string, string | undefined>
  /** Stops after this many items. */
  limit?: number | undefined
  /** Reads at most so many pages, for readers to whom an incomplete list does no harm. */
  pages?: number | undefined
  /** Stops once it has the items with these ids. */
  wanted?: string[] | undefined
  /** Whether this list tells how many items it has (vendor's API reference: events and virtual machines do). */
  hasTotal?: boolean
}

interface Page<Item> extends ListAnswer<Item> {
  /** The length of its text. */
  size: number
  /** How many items the whole list has, if the answer says so. */
  total: number | undefined
}

const WithTotal = z.object({ meta: z.object({ stats: z.object({ total: z.object({ count: loose }) }) }) })

/**
 * Reads all items of a paged list, one page after the other. Returns each id once, as it was read last.
 *
 * A server may return fewer items than requested. So the list ends at its total, where it tells one, at an empty page, at a page with nothing new
 * (from a server that ignores the page number), or at a page with fewer items than documented, unless this server was seen to go on after such a
 * page. Rows can shift between pages while they are read, so an item that is missing from the result may still exist.
 *
 * Throws ApiError, ApiContractError and ApiUnreachableError, and ListCutError for a list that exceeds one of its limits.
 */
export async function readPages<Item extends { id: string }>(
  http: Http,
  kind: ResourceKind<Item>,
  {
    operation,
    path,
    query,
    signal,
    limit = Number.POSITIVE_INFINITY,
    pages = Number.POSITIVE_INFINITY,
    wanted,
    hasTotal = false,
  }: PagedRequest,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const asked = Math.min(limit, pageSize)
  const stats = hasTotal ? { 'stats[total]': 'count' } : {}
  const firstPart = withQuery(path, { ...query, ...stats, 'page[size]': asked, 'page[number]': '' })
  const deadline = startListDeadline(http.listMs, signal)
  const budget = http.listBudget.open()
  const list = collectPages<Item>(limit, budget.add)

  async function readPage(number: number): Promise<Page<Item>> {
    const read = (json: unknown, size: number) => {
      const total = hasTotal ? toNumber(WithTotal.safeParse(json).data?.meta.stats.total.count) : undefined
      return { ...kind.list(json, listLimits.itemsPerPage), size, total }
    }
    const mostBytes = listLimits.bytesPerPage
    return http.call({ operation, method: 'GET', path: `${firstPart}${number}`, signal: deadline.signal, mostBytes, read })
  }

  async function readAll(): Promise<ListLimit | undefined> {
    for (let number = 1, before = pageSize; number <= listLimits.pages; number++) {
      const page = await readPage(number)
      const rows = rowsOf(page)
      if (!list.add(page) || number >= pages || (wanted && list.hasAll(wanted))) return list.exceeded()
      if (before < documentedPageSize) http.shortPages.set(operation, 'not-last')
      const count = list.count()
      if (count === page.total || (isLast(rows) && count > (page.total ?? 0))) return undefined
      before = rows
    }
    return 'pages'
  }

  function isLast(rows: number): boolean {
    if (asked < documentedPageSize || rows >= documentedPageSize || http.shortPages.get(operation) === 'not-last') return false
    // Where nobody waits, one page more shows once whether the server goes on after such a page.
    if (!nobodyWaits() || http.shortPages.has(operation)) return true
    http.shortPages.set(operation, 'last')
    return false
  }

  /** Returns the limit that ended the list, because the items that were read before it are still shown. Throws every other error. */
  function limitOf(error: unknown): ListLimit {
    if (error instanceof AnswerTooLongError) return 'bytes of a page'
    if (error instanceof ApiUnreachableError && deadline.isOver() && list.items().length > 0) return 'time'
    throw error
  }

  const exceeded = await readAll()
    .catch(limitOf)
    .finally(() => {
      deadline.end()
      budget.close()
    })
  if (list.skipped() > 0) reportSkipped({ operation, count: list.skipped() })
  const items = noteLeftOut(list.items(), list.leftOut())
  if (exceeded) throw new ListCutError({ operation, limit: exceeded, items })
  return items
}

function rowsOf({ items, leftOut }: ListAnswer<unknown>): number {
  return items.length + leftOut.length
}

/** Collects the items of pages, up to `limit` items and the limits of a list. `addBytes` returns false if there were too many. */
function collectPages<Item extends { id: string }>(limit: number, addBytes: (bytes: number) => boolean) {
  const found = new Map<string, Item>()
  const leftOut = new Set<string>()
  let skipped = 0
  let exceeded: ListLimit | undefined

  const count = () => found.size + leftOut.size

  /** Returns false if there is nothing more to read, or if nothing more may be read. */
  function add(page: Page<Item>): boolean {
    const before = count()
    const hasRoom = addBytes(page.size)
    for (const item of page.items) found.set(item.id, item)
    for (const item of page.leftOut) leftOut.add(JSON.stringify(item))
    if (count() === before) return false
    skipped += page.invalidCount
    if (found.size >= limit) return false
    if (page.isCut) exceeded = 'items of a page'
    else if (count() > listLimits.items) exceeded = 'items'
    else if (!hasRoom) exceeded = 'bytes'
    return exceeded === undefined
  }

  return {
    add,
    count,
    hasAll: (ids: string[]) => ids.every((id) => found.has(id)),
    items: () => [...found.values()].slice(0, Math.min(limit, listLimits.items)),
    skipped: () => skipped,
    leftOut: () => ({ unreadable: skipped, unready: Math.max(0, leftOut.size - skipped) }),
    exceeded: () => exceeded,
  }
}
