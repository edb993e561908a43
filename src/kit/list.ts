import { nothingIfAbsent } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { ThingKind } from '../domain/change.ts'
import type { List } from '../domain/list.ts'
import { isOpen, mayHaveChanged, type Request } from '../domain/request.ts'
import { inNaturalOrder, withoutOwner } from '../domain/text.ts'
import { stateWithCount } from '../messages/items.ts'
import { heldBriefly } from '../messages/request-words.ts'
import { holdNow } from '../outbox/render.ts'
import type { Command, CommandCall } from '../slack/commands.ts'
import { filteredListing, type Listing, oldNotes } from '../slack/listing.ts'
import { type Column, type Columns, type Details, detailsOf, idColumn } from '../slack/table.ts'
import { dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn, phraseWords, someTexts } from '../slack/text.ts'
import type { OwnAbility } from './ability.ts'
import { readBriefly, type Thing } from './thing.ts'

interface ListFeature extends Pick<Command, 'words' | 'group' | 'summary' | 'details'> {
  /** Default: the list takes no words. */
  usage?: string
  examples?: string[]
  list(app: App, call: CommandCall): Promise<Listing>
  /** Reads the details of an item that was chosen below the list. `of`: the kind of the items. */
  item?: { of: string; read(app: App, id: string, origin: Origin): Promise<Details | undefined> }
}

export function listFeature({ list, item, usage = '', examples = [], ...command }: ListFeature): OwnAbility {
  return {
    create: (app) => ({
      commands: [{ ...command, usage, examples, need: 'read', run: async (call) => call.list(await list(app, call)) }],
      details: item && { [item.of]: (id, origin) => item.read(app, id, origin) },
    }),
  }
}

type MaybeOld = Pick<List<unknown>, 'old'> | undefined

interface ThingList<Item extends { id: string }, Beside extends MaybeOld> extends Pick<Command, 'summary' | 'examples'> {
  kind: ThingKind
  thing: Thing<Item>
  columns(beside: Beside): Columns<Item>
  beside?(app: App): Promise<Beside>
  /** What words filter by, for the help: `address, id or status`. */
  filters: string
  /** What words find besides the texts that the account API shows of the item. */
  texts?(item: Item, beside: Beside): unknown[]
  /** What is listed before the others, because something is wrong with it. */
  isFirst?(item: Item): boolean
  /** The code of the item's site, which an answer without rows names. */
  site(item: Item): string | undefined
  none: Mrkdwn
  notes?(beside: Beside): Mrkdwn[]
  /** What only the details show. */
  more?: Column<Item>[]
  /** Why no change of it is possible now, so that its details have no buttons. */
  whyFixed?(item: Item, beside: Beside): Mrkdwn | undefined
}

const detailsMs = 10_000

/** Declares the list of a kind of thing, with the details of each. The command is the one that the thing names. */
export function thingList<Item extends { id: string }, Beside extends MaybeOld = undefined>(declared: ThingList<Item, Beside>): OwnAbility {
  const { kind, thing, summary, examples, site, none } = declared
  const readBeside = (app: App) => declared.beside?.(app) as Promise<Beside>
  const columnsOf = (beside: Beside, open: Column<Item>) => declared.columns(beside).toSpliced(2, 0, open) as Columns<Item>
  const nameOf = (item: Item) => thing.nameOf(item) ?? item.id
  const rank = (item: Item) => Number(declared.isFirst?.(item) ?? false)
  return listFeature({
    words: thing.listedBy,
    usage: '[word…]',
    group: 'View',
    summary,
    details: mrkdwn`Words filter by ${declared.filters}. All of them must match.`,
    examples,
    list: async (app, { args }) => {
      const [list, beside, open] = await Promise.all([thing.list(app), readBeside(app), openRequestColumn(app)])
      return filteredListing({
        // Both are often equally old, and one note is enough.
        list: { ...list, old: list.old ?? beside?.old },
        words: args,
        textsOf: (item) => [...textsIn(item), ...(declared.texts?.(item, beside) ?? [])],
        siteOf: site,
        one: thing.one,
        many: thing.many,
        order: (a, b) => rank(b) - rank(a) || inNaturalOrder(nameOf(a), nameOf(b)) || inNaturalOrder(a.id, b.id),
        columns: columnsOf(beside, open),
        details: {
          of: kind,
          placeholder: `Details of ${thing.a}`,
          idOf: ({ id }) => id,
          nameOf: (item) => thing.candidate(item).text,
        },
        none,
        notes: declared.notes?.(beside),
      })
    },
    item: {
      of: kind,
      read: async (app, id) => {
        const reading = thing.read?.(app, id, AbortSignal.timeout(detailsMs)).catch(nothingIfAbsent)
        const [item, beside, [history = []]] = await Promise.all([reading, readBeside(app), historiesOf(app, [{ kind, id }])])
        if (!item) return undefined
        const why = declared.whyFixed?.(item, beside)
        return {
          ...detailsOf(item, [...declared.columns(beside), ...(declared.more ?? []), idColumn]),
          name: nameOf(item),
          notes: [...(declared.notes?.(beside) ?? []), ...(why ? [why] : []), ...history, ...oldNotes(beside ?? {})],
          isFixed: why && true,
        }
      },
    },
  })
}

/** Finds the open requests about each thing of the account, by its id, with one read. */
export async function openRequests({ store }: Pick<App, 'store'>): Promise<Map<string, Request[]>> {
  const { requests } = await store.findOpen()
  const about = new Map<string, Request[]>()
  for (const request of requests.filter(({ state }) => isOpen(state)))
    for (const text of namedBy(request)) about.set(text, [...(about.get(text) ?? []), request])
  return about
}

/** Every kind of change names its things by their ids. Addresses that the request leaves out do not count. */
function namedBy({ input, facts }: Request): Set<string> {
  const { leftOut: _, ...others } = Object(facts)
  return new Set(textsIn([input, others]))
}

/** Names the open requests about each thing and its last change, each by whom, when, and with its link. Without Redis, it says so. */
export async function historiesOf(app: App, things: { kind: ThingKind | 'api-key'; id: string }[]): Promise<Mrkdwn[][]> {
  const resources = things.map(({ kind, id }) => `${kind.replace('-', '_')}:${id}`)
  const read = await readBriefly(
    Promise.all([openRequests(app), app.store.lastChangesOf(resources), app.store.ended(100, (each) => mayHaveChanged(each))]),
  )
  if (!read) return things.map(() => [mrkdwn`Couldn't read its requests.`])
  const [about, last, ended] = read
  return things.map(({ id }, index) => {
    // One of several may not have been sent.
    const isSent = (request: Request) => !request.items?.some((item) => item.id === id) || mayHaveChanged(request, resources[index])
    // A move is about its address, and the last ones are also found for both servers.
    const changes = [last.get(resources[index] ?? ''), ...ended.filter((request) => namedBy(request).has(id) && isSent(request))].filter(
      (each) => each !== undefined,
    )
    const genuine = changes.filter((request) => app.signatures.verifyRecord(request) === 'genuine')
    const changed = genuine.toSorted((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0)).slice(0, 1)
    const requests = [...(about.get(id) ?? []), ...changed]
    return requests.map((request) => requestLine(app, request, isOpen(request.state) ? 'Open request' : 'Last change'))
  })
}

/** `Open request: Move 203.0.113.10: web-1 → web-2, waiting for approval  ·  by @Ada, 12:25 PM  ·  Open` */
export function requestLine(app: App, request: Request, called: string): Mrkdwn {
  const { catalog, slack } = app
  const { origin, createdAt, endedAt = createdAt } = request
  const hold = holdNow(app, request)
  const title = phraseWords(withoutOwner(catalog.titleOf(request), origin.userId))
  const by = mrkdwn`by ${mention(origin.userId)}, ${dateTime(endedAt)}`
  return joinMrkdwn(
    [mrkdwn`${called}: ${title}, ${hold ? heldBriefly(hold) : stateWithCount(request)}`, by, link(slack.identity.linkTo(request), 'Open')],
    '  ·  ',
  )
}

/** Says in a list that an open request names the item: another one might be refused. Without Redis, it is unknown. */
export async function openRequestColumn(app: App): Promise<Column<{ id: string }>> {
  const about = await readBriefly(openRequests(app))
  const wordsOf = (request: Request) => link(app.slack.identity.linkTo(request), stateWithCount(request))
  return {
    header: 'Open request',
    cell: ({ id }) => (about ? someTexts((about.get(id) ?? []).map(wordsOf), 3) : 'unknown'),
  }
}

export function textsIn(item: unknown): string[] {
  if (typeof item === 'string') return [item]
  return typeof item === 'object' && item !== null ? Object.values(item).flatMap(textsIn) : []
}
