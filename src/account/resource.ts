import { z } from 'zod'
import {
  AccountLimitError,
  AnswerTooLongError,
  ApiError,
  ApiUnreachableError,
  isUnanswered,
  ListCutError,
  type ListLimit,
  UserError,
} from '../domain/errors.ts'
import { nobodyWaits } from '../domain/lane.ts'
import type { List } from '../domain/list.ts'
import { loose, toNumber } from './fields.ts'
import { type Http, type HttpCall, startDeadline } from './http.ts'

/** Refuses what no id of the account has and people can type: `..`, or an encoded slash, would reach another operation with the key. */
export function pathTo(collection: `/${string}`, id: string): string {
  if (id === '' || id === '.' || id === '..' || /[/\\\p{Cc}]/u.test(id) || !id.isWellFormed()) {
    throw new UserError('not-an-id', "Not a valid id. An id isn't empty and has no slashes, backslashes or control characters.")
  }
  return `${collection}/${encodeURIComponent(id)}`
}

/** No answer of the account API may fill the memory: several lists are read and kept at once. A page of 100 Elastic IPs has about 80 KB. */
const listLimits = {
  items: 20_000,
  /** A server may ignore the page size and send everything at once. */
  itemsPerPage: 5_000,
  bytesPerPage: 2 * 1024 * 1024,
  pages: 1_000,
  bytes: 32 * 1024 * 1024,
  /** For all lists that are being read together. */
  bytesTogether: 64 * 1024 * 1024,
  /** A list without pages, such as 500 plans, has 1 to 2 MB. */
  bytesWithoutPages: 4 * 1024 * 1024,
} as const

interface ListAnswer<Item> {
  items: Item[]
  /** Items that were left out, as received: those without an id yet, and those that did not fit the schema. */
  leftOut: unknown[]
  invalidCount: number
  /** Whether the answer had more items than requested. The rest was not parsed. */
  isCut: boolean
}

interface ResourceKind<Item> {
  one(json: unknown): Item
  list(json: unknown, most: number): ListAnswer<Item>
}

const ListResponse = z.object({ data: z.array(z.unknown()) })

/** `list` leaves out what does not fit the schema. `toItem`: undefined for one that is not ready. Once per process: a schema is slow to build. */
export function resourceKind<Wire, Item>(schema: z.ZodType<Wire>, toItem: (wire: Wire) => Item | undefined): ResourceKind<Item> {
  const One = z.object({ data: schema })
  const All = z.array(schema)

  function one(json: unknown): Item {
    const item = toItem(One.parse(json).data)
    if (item === undefined) throw new Error('the resource has no id')
    return item
  }

  function list(json: unknown, most: number): ListAnswer<Item> {
    const { data } = ListResponse.parse(json)
    const isCut = data.length > most
    const listed = isCut ? data.slice(0, most) : data
    // Nearly all lists fit as a whole, and parsing a list at once is much faster than parsing each item.
    const all = All.safeParse(listed).data?.map(toItem)
    if (all?.every((item) => item !== undefined)) return { items: all, leftOut: [], invalidCount: 0, isCut }
    const answer: ListAnswer<Item> = { items: [], leftOut: [], invalidCount: 0, isCut }
    for (const raw of listed) {
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

type ListRequest = Pick<HttpCall<unknown>, 'operation' | 'path' | 'signal' | 'tries'>

/** For lists that the interface specification shows without pages. */
export async function readList<Item>(http: Http, kind: ResourceKind<Item>, request: ListRequest): Promise<List<Item>> {
  const { operation } = request
  const read = (json: unknown) => kind.list(json, listLimits.items)
  const { items, leftOut, invalidCount, isCut } = await http
    .call({ ...request, method: 'GET', mostBytes: listLimits.bytesWithoutPages, read })
    .catch((error: unknown): ListAnswer<Item> => {
      if (!(error instanceof AnswerTooLongError)) throw error
      return { items: [], leftOut: [], invalidCount: 0, isCut: true }
    })
  if (invalidCount > 0) http.onSkipped({ operation, count: invalidCount })
  return listOf(items, { unreadable: invalidCount, unready: leftOut.length - invalidCount, cut: isCut ? 'size' : undefined })
}

function listOf<Item>(items: Item[], missing: { unreadable: number; unready: number; cut: ListLimit | undefined }): List<Item> {
  return { items, isWhole: missing.cut === undefined && missing.unreadable === 0, ...missing }
}

export const pageSize = 100

/** The documented size of a page if none is requested. A server that allows only smaller pages than requested allows at least these. */
const documentedPageSize = 20

interface PagedRequest extends ListRequest {
  query?: Record<string, string | undefined>
  /** Reads at most so many pages, for readers to whom an incomplete list does no harm. */
  pages?: number
  /** Stops once it has the items with these ids. */
  wanted?: string[]
  /** Whether this list tells how many items it has (vendor's API reference: servers and virtual machines do, Elastic IPs do not). */
  hasTotal?: boolean
}

const WithTotal = z.object({ meta: z.object({ stats: z.object({ total: z.object({ count: loose }) }) }) })

/**
 * Reads all items of a paged list, one page after the other. Returns each id once, as it was read last.
 *
 * A server may return fewer items than requested. So the list ends at its total, where it tells one, at an empty page, at a page with nothing new
 * (from a server that ignores the page number), or at a page with fewer items than documented, unless this server was seen to go on after such a
 * page. Rows can shift between pages while they are read, so an item that is missing from the result may still exist.
 *
 * A list that exceeds one of its limits is cut. Throws ApiError, ApiContractError and ApiUnreachableError.
 */
export async function readPages<Item extends { id: string }>(
  http: Http,
  kind: ResourceKind<Item>,
  { operation, path, query = {}, signal, pages, wanted, hasTotal = false }: PagedRequest,
): Promise<List<Item>> {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  const stats: Record<string, string> = hasTotal ? { 'stats[total]': 'count' } : {}
  const params = new URLSearchParams({ ...Object.fromEntries(given), ...stats, 'page[size]': String(pageSize), 'page[number]': '' })
  const deadline = startDeadline(http.listMs, signal)
  const found = new Map<string, Item>()
  const leftOut = new Set<string>()
  let unreadable = 0
  let bytes = 0
  const count = () => found.size + leftOut.size

  function readPage(number: number) {
    const read = (json: unknown, size: number) => {
      const total = hasTotal ? toNumber(WithTotal.safeParse(json).data?.meta.stats.total.count) : undefined
      return { ...kind.list(json, listLimits.itemsPerPage), size, total }
    }
    const { signal } = deadline
    return http.call({ operation, method: 'GET', path: `${path}?${params}${number}`, signal, mostBytes: listLimits.bytesPerPage, read })
  }

  async function readAll(): Promise<ListLimit | undefined> {
    for (let number = 1, before = pageSize; number <= listLimits.pages; number++) {
      const page = await readPage(number).catch((error: unknown) => {
        if (error instanceof AccountLimitError) error.pages = number - 1
        throw error
      })
      const known = count()
      bytes += page.size
      http.reading.bytes += page.size
      for (const item of page.items) found.set(item.id, item)
      for (const item of page.leftOut) leftOut.add(JSON.stringify(item))
      if (count() === known) return undefined
      unreadable += page.invalidCount
      if (page.isCut || count() > listLimits.items) return 'size'
      if (bytes > listLimits.bytes || http.reading.bytes > listLimits.bytesTogether) return 'size'
      if (number === pages || wanted?.every((id) => found.has(id))) return undefined
      if (before < documentedPageSize) http.shortPages.set(operation, 'not-last')
      const rows = page.items.length + page.leftOut.length
      if (count() === page.total || (isLast(rows) && count() > (page.total ?? 0))) return undefined
      before = rows
    }
    return 'size'
  }

  function isLast(rows: number): boolean {
    if (rows >= documentedPageSize || http.shortPages.get(operation) === 'not-last') return false
    // Where nobody waits, one page more shows once whether the server goes on after such a page.
    if (!nobodyWaits() || http.shortPages.has(operation)) return true
    http.shortPages.set(operation, 'last')
    return false
  }

  function limitOf(error: unknown): ListLimit {
    if (error instanceof AnswerTooLongError) return 'size'
    const isLate = deadline.signal.aborted && !signal?.aborted
    if (error instanceof ApiUnreachableError && isLate && found.size > 0) return 'time'
    throw error
  }

  const cut = await readAll()
    .catch(limitOf)
    .finally(() => {
      http.reading.bytes -= bytes
    })
  if (unreadable > 0) http.onSkipped({ operation, count: unreadable })
  const unready = Math.max(0, leftOut.size - unreadable)
  return listOf([...found.values()].slice(0, listLimits.items), { unreadable, unready, cut })
}

/** For code that relies on it that an item which is not among them does not exist. An earlier copy counts. */
export function requireUncut<Item>({ items, cut }: List<Item>): Item[] {
  if (cut !== undefined) throw new ListCutError(cut)
  return items
}

/** An item that a cut list, or an earlier copy, does not contain may still exist: then it throws why the list is not whole. */
export function findInList<Item>(list: List<Item>, matches: (item: Item) => boolean): Item | undefined {
  const found = list.items.find(matches)
  if (found !== undefined) return found
  throwIfOld(list)
  requireUncut(list)
  return undefined
}

/** Throws what kept a list from being read again, if it is an earlier copy, for code that needs an item that the copy lacks. */
export function throwIfOld({ old }: Pick<List<unknown>, 'old'>): void {
  if (!old) return
  throw old.because ?? new ApiUnreachableError({ operation: 'list', requestSent: 'unknown', problem: 'not finished within 1 s' })
}

/** `share`: absent before a write, which must not rely on a copy. */
export async function listNow<Item>(share: (() => Promise<List<Item>>) | undefined, read: () => Promise<List<Item>>): Promise<List<Item>> {
  const list = await share?.()
  return list && !list.old ? list : read()
}

/** Undefined if the account API gives no answer. */
export async function readOrRefuse<T>(read: () => Promise<T>, refuse: () => never): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) refuse()
    if (staysUnchecked(error)) return undefined
    throw error
  }
}

/** Not after the account's limit: the request waits for its turn, which comes sooner than an account API that is away. */
export function staysUnchecked(error: unknown): boolean {
  return isUnanswered(error) && !(error instanceof AccountLimitError)
}

export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
