import { z } from 'zod'
import {
  AccountLimitError,
  AnswerTooLongError,
  ApiError,
  ApiUnreachableError,
  isUnanswered,
  ListCutError,
  type ListLimit,
  type Missing,
  UserError,
} from '../domain/errors.ts'
import { nobodyWaits } from '../domain/lane.ts'
import { loose, toNumber } from './fields.ts'
import { type Http, type HttpCall, listLimits, startListDeadline } from './http.ts'

const slashOrControlCharacter = /[/\\\p{Cc}]/u

/**
 * Builds a path such as `/elastic_ips/eip_1`. Ids are opaque, and people can type them. The id `..` would reach another operation with
 * Lockkeeper's key. So would an encoded slash, if a proxy decodes it before it routes the request. The account API has no such ids, so this
 * throws UserError instead of encoding them.
 */
export function pathTo(collection: `/${string}`, id: string): string {
  if (id === '' || id === '.' || id === '..' || slashOrControlCharacter.test(id) || !id.isWellFormed()) {
    throw new UserError("Not a valid id. An id isn't empty and has no slashes, backslashes or control characters.")
  }
  return `${collection}/${encodeURIComponent(id)}`
}

/** Builds a path such as `/elastic_ips?filter%5Bstatus%5D=moving`. Leaves out members that are undefined. */
function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.append(name, String(value))
  }
  return params.size === 0 ? path : `${path}?${params}`
}

/**
 * Runs a read for a preflight check. Returns undefined if the account API gives no answer; the check then stays open.
 * Calls `refuse` if the resource does not exist (404), and throws every other error unchanged.
 */
export async function readOrRefuse<T>(read: () => Promise<T>, refuse: () => never): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) refuse()
    if (staysUnchecked(error)) return undefined
    throw error
  }
}

/**
 * Whether a preflight check goes on without a read that ended so. Not after the account's limit: the person, or the approved request, waits for its
 * turn, which comes sooner than an account API that is away.
 */
export function staysUnchecked(error: unknown): boolean {
  return isUnanswered(error) && !(error instanceof AccountLimitError)
}

/** Handles a failed read in `.catch`: returns undefined if the resource does not exist (404), and throws every other error again. */
export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}

type LeftOut = Omit<Missing, 'cut'>

/** Kept beside the lists, because nearly all code that reads one needs only its items. */
const known = new WeakMap<readonly unknown[], LeftOut>()

/** Notes how many items of an answer are not in the list, and how old the list is if it is a copy. */
export function noteLeftOut<Item>(items: Item[], leftOut: LeftOut): Item[] {
  known.set(items, leftOut)
  return items
}

/** Returns what was noted about a list. */
export function leftOutOf(items: readonly unknown[]): LeftOut {
  return known.get(items) ?? {}
}

/** Reports how many items of a list did not fit the schema. They were left out, so that the rest could be shown. */
export type ReportSkipped = (report: { operation: string; count: number }) => void

interface ListAnswer<Item> {
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
type ResourceKind<Item> = { one(json: unknown): Item; list(json: unknown, most: number): ListAnswer<Item> }

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

/** A list for display, with what is missing in it. Code that shows the list must say what is missing. */
export interface ReadList<Item> extends Missing {
  items: Item[]
}

/** Returns as much of a list as could be read, for lists that are only shown. Throws every error of the list except ListCutError. */
export async function asFarAsRead<Item>(list: Promise<Item[]>): Promise<ReadList<Item>> {
  try {
    const items = await list
    return { items, ...leftOutOf(items) }
  } catch (error) {
    if (error instanceof ListCutError) return { items: error.items as Item[], cut: error.limit, ...leftOutOf(error.items) }
    throw error
  }
}

/**
 * Finds one item of a list. An item that it does not contain may still exist if the list was not read to its end, or is an earlier copy. Then it
 * throws ListCutError, or what kept the list from being read again.
 */
export async function findInList<Item>(list: Promise<Item[]>, matches: (item: Item) => boolean): Promise<Item | undefined> {
  try {
    const items = await list
    const found = items.find(matches)
    if (found === undefined) throwIfOld(leftOutOf(items))
    return found
  } catch (error) {
    const found = error instanceof ListCutError ? (error.items as Item[]).find(matches) : undefined
    if (found === undefined) throw error
    return found
  }
}

/** Throws what kept a list from being read again, if it is an earlier copy, for code that needs an item that the copy lacks. */
export function throwIfOld({ old }: Missing): void {
  if (!old) return
  throw old.because ?? new ApiUnreachableError({ operation: 'list', requestSent: 'unknown', problem: 'not finished within 1 s' })
}

/** Returns a shared list if it is no earlier copy, and reads the list otherwise. `share`: absent before a write, which must not rely on a copy. */
export async function listNow<Item>(share: (() => Promise<Item[]>) | undefined, read: () => Promise<Item[]>): Promise<Item[]> {
  const items = await share?.()
  return items && !leftOutOf(items).old ? items : read()
}

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
