import type { Button, DataTableBlock, KnownBlock, PlainTextOption, RichTextElement } from '@slack/web-api'
import { z } from 'zod'
import type { ChangeKind } from '../domain/policy.ts'
import { cleanText } from '../domain/text.ts'
import { actionsFor, type ButtonParts, button, context, message, option, wholeSection } from './blocks.ts'
import { longestButtonValue, longestOption, longestOptionValue } from './fit.ts'
import { staticSelect } from './pickers.ts'
import { charactersIn, code, emptyText, joinMrkdwn, type Mrkdwn, mrkdwn, truncate, unescaped } from './text.ts'
import type { Message } from './web-api.ts'

/** Sorts by day where Slack sorts the cells of a column alphabetically: 2026-11-22 3:04 PM. */
const sortableDate = '{date_num} {time}'

/** The marks that the functions of `text.ts` make: a date, a mention and a link. Anything else is text. */
const marks =
  /<!date\^(?<seconds>\d+)\^[^<>]*>|<(?<kind>[@#]|!subteam\^)(?<id>[A-Z0-9]+)(?:\|[^<>]*)?>|<(?<url>https:[^<>|]+)\|(?<label>[^<>]*)>/g

/** Text from outside is no markup here. Inline code becomes plain text: the cell is a frame already, and code in some cells is hard to scan. */
function richTextElements(words: Mrkdwn): RichTextElement[] {
  const text = words.text.replaceAll(/`([^`]+)`/g, '$1')
  const between = (from: number, to?: number) => ({ type: 'text' as const, text: unescaped(text.slice(from, to)) })
  const elements: RichTextElement[] = []
  let end = 0
  for (const match of text.matchAll(marks)) {
    elements.push(between(end, match.index), elementOf(match.groups ?? {}))
    end = match.index + match[0].length
  }
  return [...elements, between(end)].filter((element) => element.type !== 'text' || element.text !== '')
}

function elementOf({ seconds, kind, id = '', url = '', label = '' }: Record<string, string | undefined>): RichTextElement {
  if (seconds !== undefined) return { type: 'date', timestamp: Number(seconds), format: sortableDate }
  if (kind === '@') return { type: 'user', user_id: id }
  if (kind === '#') return { type: 'channel', channel_id: id }
  return kind === undefined ? { type: 'link', url: unescaped(url), text: unescaped(label) } : { type: 'usergroup', usergroup_id: id }
}

/** The content of a cell. Slack sorts a column of numbers by their values. Undefined and empty text show as a dash. */
export type Cell = Mrkdwn | string | { value: number; words: string } | undefined

type TableCell = DataTableBlock['rows'][number][number]

/** Text that Slack might read as markup, an entity or an emoji in a plain cell, of which nothing is documented. */
const ambiguous = /[<>&]|:[^\s:]+:/

function cellWords(cell: Cell): Mrkdwn | undefined {
  if (cell === undefined) return undefined
  const words = typeof cell === 'string' ? mrkdwn`${cleanText(cell, { oneLine: true })}` : 'words' in cell ? mrkdwn`${cell.words}` : cell
  return words.text.trim() === '' ? undefined : words
}

export function tableCell(cell: Cell): TableCell {
  const words = cellWords(cell)
  if (words === undefined) return { type: 'raw_text', text: emptyText }
  if (typeof cell === 'object' && 'value' in cell) return { type: 'raw_number', value: cell.value, text: cell.words }
  const elements = richTextElements(words)
  const [only, ...others] = elements
  if (only?.type === 'text' && others.length === 0 && !ambiguous.test(only.text)) return { type: 'raw_text', text: only.text }
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }
}

/** docs.slack.dev, "Data table block". Slack has begun to take 200 rows and 20,000 characters, but not yet everywhere. */
const limits = { rows: 100, columns: 20, characters: 10_000 } as const

export const rowsPerPage = 10

export interface Table {
  headers: string[]
  rows: Cell[][]
}

/** Makes a table that Slack sorts, filters and pages. Undefined if it would exceed a limit of Slack, or has no rows. */
export function dataTable(caption: string, { headers, rows }: Table): DataTableBlock | undefined {
  if (rows.length === 0 || rows.length > limits.rows || headers.length > limits.columns) return undefined
  const cells = rows.map((row) => row.map(tableCell))
  const names = headers.map((text) => ({ type: 'raw_text' as const, text }))
  if (charactersIn(names) + charactersIn(cells) > limits.characters) return undefined
  return {
    type: 'data_table',
    caption: truncate(plainCaption(caption) || emptyText, 1_000, 'plain'),
    rows: [names, ...cells],
    page_size: rowsPerPage,
    row_header_column_index: 0,
  }
}

/** Slack documents only that a caption is a string. Without angle brackets, it holds no mention and no link, however Slack reads it. */
function plainCaption(caption: string): string {
  return cleanText(caption, { oneLine: true }).replaceAll(/[<>]/g, '')
}

/** How people open the details of a list's items. Cells of a table cannot hold buttons, so the list has a picker below it. */
interface ItemDetails<T> {
  /** The kind of the items, under which a feature registers the read of their details: `elastic-ip`. */
  of: string
  placeholder: string
  idOf: (item: T) => string
  /** The item as people tell it from the others. The end of its id is added if another item has the same words. */
  nameOf: (item: T) => string
}

export interface ItemChoices {
  of: string
  placeholder: string
  /** One for each item, in the order of the rows. Undefined for an id that is too long for Slack: a cut one could be that of another item. */
  options: (PlainTextOption | undefined)[]
}

function choicesOf<T>(items: T[], { of, placeholder, idOf, nameOf }: ItemDetails<T>): ItemChoices {
  const names = items.map((item) => truncate(nameOf(item), longestOption, 'plain'))
  const counts = Map.groupBy(names, (name) => name)
  const options = items.map((item, index) => {
    const [value, name = ''] = [idOf(item), names[index]]
    const end = `, …${value.slice(-6)}`
    // The name is cut and not the id, because the id is what differs.
    const text = counts.get(name)?.length === 1 ? name : `${truncate(name, longestOption - end.length, 'plain')}${end}`
    return value.length <= longestOptionValue ? option({ text, value }) : undefined
  })
  return { of, placeholder, options }
}

export function detailsActionId(of: string): string {
  return `details:${of}`
}

/** Makes the picker for the items from `start` to `end`, or a button for a single one. `name` is the name of the slash command. */
export function choicesBlocks(choices: ItemChoices | undefined, name: string, start = 0, end?: number): KnownBlock[] {
  const options = choices?.options.slice(start, end).filter((one) => one !== undefined) ?? []
  const [first, ...others] = options
  if (!choices || !first) return []
  const [actionId, placeholder] = [detailsActionId(choices.of), choices.placeholder]
  // The first word says what it shows: `Details of a plan`.
  const one = () => button({ text: placeholder.replace(/ .*/, ''), actionId, value: first.value ?? '' })
  return actionsFor(name, 'details', [others.length === 0 ? one() : staticSelect({ actionId, placeholder, options })])
}

/** One column of a list. Text and details show a cell as `Header: cell`, and leave it out if it is empty. Addresses, ids and what a person typed are code. */
export interface Column<T> {
  header: string
  cell: (item: T) => Cell
}

/** The first column names the item, so it must differ from item to item. */
export type Columns<T> = [Column<T>, ...Column<T>[]]

export interface ItemRows<T> {
  columns: Columns<T>
  details?: ItemDetails<T>
}

export interface Rows {
  rows: Mrkdwn[]
  table?: Table
  choices?: ItemChoices
}

export function itemRows<T>(items: T[], { columns, details }: ItemRows<T>): Rows {
  return {
    rows: items.map((item) => itemText(item, columns)),
    table: tableOf(items, columns),
    ...(details ? { choices: choicesOf(items, details) } : {}),
  }
}

/** A narrow screen shows the first columns only, so a column without any words is left out. */
function tableOf<T>(items: T[], [name, ...others]: Columns<T>): Table {
  const shown = [name, ...others.filter(({ cell }) => items.some((item) => cellWords(cell(item))))]
  return { headers: shown.map(({ header }) => header), rows: items.map((item) => shown.map(({ cell }) => cell(item))) }
}

function itemText<T>(item: T, columns: Columns<T>): Mrkdwn {
  const { title, facts } = detailsOf(item, columns)
  return joinMrkdwn([mrkdwn`*${title}*`, ...(facts.length > 0 ? [joinMrkdwn(facts.map(factWords), '  ·  ')] : [])], '\n')
}

export interface Details {
  title: Mrkdwn
  facts: { label: string; words: Mrkdwn }[]
  notes?: Mrkdwn[]
  /** No change of it is possible now, so its details have no buttons. The notes say why. */
  isFixed?: true
  /** The changes that are not possible for it. */
  without?: ChangeKind[]
  /** How the item is named in the form of a change: `203.0.113.10`. */
  name: string
}

export function detailsOf<T>(item: T, [name, ...others]: Columns<T>): Pick<Details, 'title' | 'facts'> {
  const facts = others.flatMap(({ header, cell }) => {
    const words = cellWords(cell(item))
    return words ? [{ label: header, words }] : []
  })
  return { title: cellWords(name.cell(item)) ?? mrkdwn`no name`, facts }
}

function factWords({ label, words }: Details['facts'][number]): Mrkdwn {
  return mrkdwn`${label}: ${words}`
}

/** Shows the details of an item, one fact on a line, with the buttons of its changes below. `name` is the name of the slash command. */
export function detailsMessage({ title, facts, notes = [] }: Details, buttons: Button[], name: string): Message {
  const content = joinMrkdwn([mrkdwn`*${title}*`, ...facts.map(factWords)], '\n')
  return message([...wholeSection(content), ...context(notes), ...actionsFor(name, 'changes', buttons)])
}

/** For details: in a list, the id would take the place of what tells the items apart. */
export const idColumn: Column<{ id: string }> = { header: 'Id', cell: ({ id }) => code(id) }

/** An item as a button names it: `text` is how a form shows it. */
const ListedItem = z.object({ id: z.string(), text: z.string() })
export type ListedItem = z.infer<typeof ListedItem>

/** The value of a button that opens the form of a change, filled with an item. It holds only what a person could type, so a forged one gains nothing. */
export const ItemButton = ListedItem.extend({ version: z.literal(1) })

interface ItemButtonOf {
  of: string
  kind: ChangeKind
}

export function itemActionId({ of, kind }: ItemButtonOf): string {
  return `item:${of}:${kind}`
}

/** Returns no button for an id that is too long for one. */
export function itemButton(action: ItemButtonOf & Pick<ButtonParts, 'style'> & { label: string }, item: ListedItem): Button[] {
  const value = JSON.stringify({ version: 1, ...item } satisfies z.infer<typeof ItemButton>)
  if (value.length > longestButtonValue) return []
  return [button({ text: action.label, actionId: itemActionId(action), value, about: item.text, style: action.style })]
}
