import { type ApiKey, isOwnKey, remarksOn } from '../../account/objects.ts'
import { findInList } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { accessWords, labelOf, requesterOfKey } from '../../domain/account.ts'
import { callDue, replacedWords } from '../../domain/key-ends.ts'
import type { List } from '../../domain/list.ts'
import { inNaturalOrder } from '../../domain/text.ts'
import { withinOr } from '../../domain/within.ts'
import { endsWhen, type KeyEnd, shownEnds } from '../../kit/key-ends.ts'
import { historiesOf, listFeature, openRequestColumn, textsIn } from '../../kit/list.ts'
import { filteredListing, type Listing, oldNotes } from '../../slack/listing.ts'
import { type Column, type Columns, type Details, detailsOf, idColumn } from '../../slack/table.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, phraseWords } from '../../slack/text.ts'
import { keyInForm } from './end-words.ts'

type Ending = Pick<KeyEnd, 'end' | 'since' | 'isReplaced' | 'keptUntil'>

/** A key with the values that its row is searched and sorted by, computed once for each key. */
interface ListedKey extends ApiKey {
  isOwn: boolean
  ends: Ending | undefined
  isUrgent: boolean
  remarks: string[]
}

/** A narrow screen shows the first columns only. */
const columns: Columns<ListedKey> = [
  { header: 'Name', cell: nameOf },
  { header: 'Needs attention', cell: ({ remarks }) => remarks.join(', ') },
  {
    header: 'For',
    cell: (key) => {
      const by = requesterOfKey(key)
      return by && mention(by)
    },
  },
  { header: 'Ends', cell: ({ ends }) => ends && phraseWords(endsWhen(ends)) },
  { header: 'Token ends in', cell: ({ tokenLastSlice }) => tokenLastSlice && code(tokenLastSlice) },
  { header: 'Access', cell: (key) => mrkdwn`${accessWords(key)}, from ${origins(key)}` },
  { header: 'Last used', cell: lastUsed },
  { header: 'Owner', cell: ({ user }) => user?.email ?? user?.id ?? 'unknown' },
]

/** What only the details show. */
const more: Column<ListedKey>[] = [
  { header: 'Created', cell: ({ createdAt }) => (createdAt === undefined ? undefined : dateTime(Date.parse(createdAt))) },
  { header: 'Full name', cell: ({ name }) => (name && name !== labelOf(name) ? name : undefined) },
]

interface Reading {
  now: number
  /** When keys end by themselves, by their ids. */
  ends?: Map<string, Ending>
  /** The Slack ids of people who left the workspace. */
  left?: Set<string>
  ownLastSlice: string
  open?: Column<{ id: string }>[]
}

function columnsOf({ open = [] }: Reading): Columns<ListedKey> {
  return columns.toSpliced(2, 0, ...open) as Columns<ListedKey>
}

/** Lists those first that should have ended, then those with the most remarks, then the newest. */
export function apiKeyListing(list: List<ApiKey>, words: string[], reading: Reading): Listing {
  return filteredListing({
    list: { ...list, items: list.items.map((key) => listed(key, reading)) },
    words,
    textsOf: (key) => [...textsIn(key), accessWords(key), key.isOwn ? 'used by Lockkeeper' : '', key.ends?.isReplaced ? replacedWords : ''],
    one: 'API key',
    many: 'API keys',
    order: (a, b) =>
      Number(b.isUrgent) - Number(a.isUrgent) ||
      b.remarks.length - a.remarks.length ||
      inNaturalOrder(b.createdAt ?? '', a.createdAt ?? ''),
    columns: columnsOf(reading),
    details: { of: 'api-key', placeholder: 'Details of an API key', idOf: ({ id }) => id, nameOf: calledIn },
    none: mrkdwn`The account has no API keys.`,
  })
}

function apiKeyDetails(key: ApiKey, reading: Reading, notes: Mrkdwn[]): Details {
  const own = mrkdwn`Lockkeeper uses this key. Rotate it in the dashboard and update ${code('INFRA_API_KEY')}.`
  return {
    ...detailsOf(listed(key, reading), [...columnsOf(reading), ...more, idColumn]),
    name: keyInForm({ ...reading.ends?.get(key.id), label: nameOf(key), lastSlice: key.tokenLastSlice }),
    ...(isOwnKey(key, reading) && { isFixed: true }),
    without: reading.ends?.has(key.id) ? [] : ['key.extend'],
    notes: [...(isOwnKey(key, reading) ? [own] : []), ...notes],
  }
}

/** Also if its owner was not called, because it lives for less than a day. */
const soonMs = 15 * 60_000

function listed(key: ApiKey, { now, ownLastSlice, ends, left }: Reading): ListedKey {
  const isOwn = isOwnKey(key, { ownLastSlice })
  const hasLeft = left?.has(requesterOfKey(key) ?? '') ? ['its owner left the workspace'] : []
  const end = ends?.get(key.id)
  const { isUrgent, remarks } = remarksOn(key, now, { isOwn, recordedEnd: end?.keptUntil ?? end?.end })
  const isSoon = end && (callDue(end, now) || (now < end.end && end.end - now < soonMs))
  const isOver = end && end.end <= now
  const soon = isOver ? ['past its end'] : isSoon && !end.isReplaced ? ['ends soon'] : []
  return { ...key, isOwn, ends: end, isUrgent, remarks: isUrgent ? [...remarks, ...hasLeft] : [...soon, ...hasLeft, ...remarks] }
}

/** How long a list waits for Slack to say who left the workspace. */
const peopleMs = 1_500

async function readBeside(app: App, { items }: List<ApiKey>): Promise<Reading> {
  const requesters = [...new Set(items.flatMap((key) => requesterOfKey(key) ?? []))]
  const people = await withinOr(peopleMs, Promise.all(requesters.map((id) => app.directory.person(id))), [])
  const left = new Set(people.flatMap(({ userId, standing }) => (standing === 'deleted' ? [userId] : [])))
  return { now: Date.now(), ownLastSlice: app.ownLastSlice, ends: await shownEnds(app, items), left, open: [await openRequestColumn(app)] }
}

function nameOf({ id, name }: ApiKey): string {
  return name === undefined ? id : labelOf(name)
}

/** Keys of the same name differ in the last characters of their tokens. */
function calledIn({ ends, ...key }: ListedKey): string {
  return keyInForm({ label: nameOf(key), lastSlice: key.tokenLastSlice, isReplaced: ends?.isReplaced })
}

function origins({ allowedIps }: ApiKey): Mrkdwn {
  if (allowedIps === undefined) return mrkdwn`unknown addresses`
  return allowedIps.length > 0 ? joinMrkdwn(allowedIps.map(code), ', ') : mrkdwn`any IP`
}

function lastUsed({ lastUsedAt, isOwn }: ListedKey): Mrkdwn {
  if (isOwn) return mrkdwn`now, by Lockkeeper`
  // After a rotation the account may show no use of a key that was in use until then.
  return lastUsedAt === undefined ? mrkdwn`no use shown` : dateTime(Date.parse(lastUsedAt))
}

export const listApiKeys = listFeature({
  words: 'keys',
  usage: '[word…]',
  group: 'Keys',
  summary: 'API keys, those that need attention first',
  details: mrkdwn`Shows access, allowed addresses, last use and owner. All words must match. Keys that need attention come first: past their end or near it, no use shown, unused for 90 days, over a year old, full access from any IP, or its owner left the workspace.`,
  examples: ['terraform', 'read-only'],
  list: async (app, { args }) => {
    const keys = await app.lists.apiKeys()
    return apiKeyListing(keys, args, await readBeside(app, keys))
  },
  item: {
    of: 'api-key',
    read: async (app, id) => {
      const keys = await app.lists.apiKeys()
      const key = findInList(keys, (one) => one.id === id)
      const [beside, [history = []]] = await Promise.all([readBeside(app, keys), historiesOf(app, [{ kind: 'api-key', id }])])
      return key && apiKeyDetails(key, { ...beside, open: [] }, [...history, ...oldNotes(keys)])
    },
  },
})
