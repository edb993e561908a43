import { ApiUnreachableError } from '../../domain/errors/api-errors.ts'
import { AnswerTooLongError, ListCutError, type ListLimit } from '../../domain/errors/list-errors.ts'
import { withQuery } from '../path.ts'
import type { HttpCall } from '../transport/call.ts'
import type { Http } from '../transport/http.ts'
import { listLimits, startListDeadline } from '../transport/list-limits.ts'
import { noteLeftOut } from './left-out.ts'
import type { ListAnswer, ReportSkipped, ResourceKind } from './resource-kind.ts'

const pageSize = 100
const maxParallelPages = 8

interface PagedRequest extends Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal'> {
  query?: Record<string, string | undefined>
  /** Stops after this many items. */
  limit?: number | undefined
  /** Reads at most so many pages, for readers to whom an incomplete list does no harm. */
  pages?: number | undefined
}

interface Page<Item> extends ListAnswer<Item> {
  /** The length of its text. */
  size: number
}

/**
 * Reads all items of a paged list. Returns each id once, as it was read last.
 *
 * Answers carry no total, and the server may return fewer items than requested. So the list ends only at an empty page, or at a page with
 * nothing new (from a server that ignores the page number). Rows can shift between pages while they are read, so an item that is missing
 * from the result may still exist.
 *
 * Throws ApiError, ApiContractError and ApiUnreachableError, and ListCutError for a list that exceeds one of its limits.
 */
export async function readPages<Item extends { id: string }>(
  http: Http,
  kind: ResourceKind<Item>,
  { operation, path, query, signal, limit = Number.POSITIVE_INFINITY, pages = Number.POSITIVE_INFINITY }: PagedRequest,
  reportSkipped: ReportSkipped,
): Promise<Item[]> {
  const firstPart = withQuery(path, { ...query, 'page[size]': Math.min(limit, pageSize), 'page[number]': '' })
  const deadline = startListDeadline(http.listMs, signal)
  const budget = http.listBudget.open()
  const list = collectPages<Item>(limit, budget.add)

  async function readPage(number: number): Promise<Page<Item>> {
    const read = (json: unknown, size: number) => ({ ...kind.list(json, listLimits.itemsPerPage), size })
    const mostBytes = listLimits.bytesPerPage
    return http.call({ operation, method: 'GET', path: `${firstPart}${number}`, signal: deadline.signal, mostBytes, read })
  }

  async function readFrom(first: number): Promise<ListLimit | undefined> {
    if (first > listLimits.pages) return 'pages'
    const width = Math.min(pagesAtOnce(first, limit), pages - first + 1)
    const answers = await Promise.all(Array.from({ length: width }, (_, index) => readPage(first + index)))
    const mayHaveMore = answers.every(list.add) && first + width <= pages
    return mayHaveMore ? readFrom(first + width) : list.exceeded()
  }

  /** Returns the limit that ended the list, because the items that were read before it are still shown. Throws every other error. */
  function limitOf(error: unknown): ListLimit {
    if (error instanceof AnswerTooLongError) return 'bytes of a page'
    if (error instanceof ApiUnreachableError && deadline.isOver() && list.items().length > 0) return 'time'
    throw error
  }

  const exceeded = await readFrom(1)
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

/**
 * Returns how many pages to read in parallel from page `first` on. Most lists fit on one page and end at an empty second one, so these two are
 * read together. After that, at most a tenth of all requests can be for pages past the end.
 */
function pagesAtOnce(first: number, limit: number): number {
  if (first === 1) return limit > pageSize ? 2 : 1
  return Math.min(maxParallelPages, Math.max(1, Math.floor((first - 1) / 10)))
}

/** Collects the items of pages, up to `limit` items and the limits of a list. `addBytes` returns false if there were too many. */
function collectPages<Item extends { id: string }>(limit: number, addBytes: (bytes: number) => boolean) {
  const found = new Map<string, Item>()
  const leftOut = new Set<string>()
  let skipped = 0
  let exceeded: ListLimit | undefined

  /** Returns false if there is nothing more to read, or if nothing more may be read. */
  function add(page: Page<Item>): boolean {
    const before = found.size + leftOut.size
    const hasRoom = addBytes(page.size)
    for (const item of page.items) found.set(item.id, item)
    for (const item of page.leftOut) leftOut.add(JSON.stringify(item))
    if (found.size + leftOut.size === before) return false
    skipped += page.invalidCount
    if (found.size >= limit) return false
    if (page.isCut) exceeded = 'items of a page'
    else if (found.size + leftOut.size > listLimits.items) exceeded = 'items'
    else if (!hasRoom) exceeded = 'bytes'
    return exceeded === undefined
  }

  return {
    add,
    items: () => [...found.values()].slice(0, Math.min(limit, listLimits.items)),
    skipped: () => skipped,
    leftOut: () => ({ unreadable: skipped, unready: Math.max(0, leftOut.size - skipped) }),
    exceeded: () => exceeded,
  }
}
