import { type ApiKey, ownVariableOf, remarksOn } from '../account/objects.ts'
import { asFarAsRead, findInList } from '../account/resource.ts'
import { labelOf, type OwnLastSlices, requesterOfKey } from '../domain/account.ts'
import type { Missing } from '../domain/errors.ts'
import { listFeature } from '../kit/list.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { type Columns, type Details, detailsOf, idFact } from '../slack/table.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'

/** A key with the values that its row is searched and sorted by, computed once for each key. */
interface ListedKey {
  key: ApiKey
  isOwn: boolean
  remarks: string[]
  /** In ms since 1970. */
  createdAt: number
}

/** A narrow screen shows the first columns only. */
const columns: Columns<ListedKey> = [
  { header: 'Name', cell: ({ key }) => labelOfKey(key) },
  { header: 'Needs attention', cell: ({ remarks }) => remarks.join(', '), before: 'Needs attention: ', line: 3 },
  {
    header: 'For',
    cell: ({ key }) => {
      const by = requesterOfKey(key)
      return by && mention(by)
    },
    before: 'for ',
    ifAny: true,
  },
  { header: 'Token ends in', cell: ({ key }) => key.tokenLastSlice && code(key.tokenLastSlice), before: 'ends in ' },
  { header: 'Access', cell: ({ key }) => access(key), absent: 'access unknown', line: 2 },
  { header: 'From', cell: ({ key }) => origins(key), before: 'from ', absent: 'allowed addresses unknown', line: 2 },
  { header: 'Last used', cell: lastUsed, before: 'last used: ', line: 2 },
  { header: 'Owner', cell: ({ key }) => key.user?.email ?? key.user?.id, before: 'owner ', absent: 'owner unknown', line: 2 },
]

interface Reading {
  /** In ms since 1970. */
  now: number
  ownLastSlices: OwnLastSlices
  missing?: Missing
}

/** Lists the keys with the most remarks first, then the newest first. */
export function apiKeyListing(keys: ApiKey[], words: string[], reading: Reading): Listing {
  return filteredListing({
    all: keys.map((key) => listed(key, reading)),
    words,
    textsOf,
    one: 'API key',
    many: 'API keys',
    order: (a, b) => b.remarks.length - a.remarks.length || b.createdAt - a.createdAt,
    columns,
    mark: ({ remarks }) => (remarks.length > 0 ? mrkdwn`:warning:` : mrkdwn`:key:`),
    details: { of: 'api-key', placeholder: 'Details of an API key', idOf: ({ key }) => key.id, nameOf: ({ key }) => choiceOf(key) },
    none: mrkdwn`The account has no API keys.`,
    missing: reading.missing,
    notes: [mrkdwn`Tokens can't be shown again.`],
  })
}

function apiKeyDetails(key: ApiKey, reading: Reading): Details {
  const created = key.createdAt === undefined ? [] : [{ label: 'Created', words: dateTime(Date.parse(key.createdAt)) }]
  const more = [...created, { label: 'Full name', words: mrkdwn`${key.name ?? '–'}` }, idFact(key.id)]
  return { ...detailsOf(listed(key, reading), columns, more), name: labelOfKey(key) }
}

function listed(key: ApiKey, { now, ownLastSlices }: Reading): ListedKey {
  const isOwn = ownVariableOf(key, ownLastSlices) !== undefined
  return {
    key,
    isOwn,
    remarks: remarksOn(key, now, { isOwn }),
    createdAt: key.createdAt === undefined ? 0 : Date.parse(key.createdAt),
  }
}

function labelOfKey({ id, name }: ApiKey): string {
  return name === undefined ? id : labelOf(name)
}

/** Keys of the same name differ in the last characters of their tokens. */
function choiceOf(key: ApiKey): string {
  return key.tokenLastSlice === undefined ? labelOfKey(key) : `${labelOfKey(key)} (ends in ${key.tokenLastSlice})`
}

function access({ readOnly }: ApiKey): string | undefined {
  return readOnly === undefined ? undefined : readOnly ? 'read-only' : 'full access'
}

function origins({ allowedIps }: ApiKey): Mrkdwn | undefined {
  if (allowedIps === undefined) return undefined
  return allowedIps.length > 0 ? joinMrkdwn(allowedIps.map(code), ', ') : mrkdwn`any IP`
}

function lastUsed({ key: { lastUsedAt }, isOwn }: ListedKey): Mrkdwn {
  if (isOwn) return mrkdwn`now, by Lockkeeper`
  // After a rotation the account may show no use of a key that was in use until then.
  return lastUsedAt === undefined ? mrkdwn`no use shown` : dateTime(Date.parse(lastUsedAt))
}

function textsOf({ key, isOwn, remarks }: ListedKey): unknown[] {
  const own = isOwn ? ['used by Lockkeeper'] : []
  return [key.name, key.id, key.tokenLastSlice, access(key), key.user?.email, ...(key.allowedIps ?? []), ...own, ...remarks]
}

/** `/infra keys`: lists the API keys of the account. The account API never returns their tokens. */
export const listApiKeys = listFeature({
  words: 'keys',
  usage: '[word…]',
  group: 'Keys',
  summary: 'API keys, those that need attention first',
  details: mrkdwn`Shows access, allowed addresses, last use and owner. All words must match. Keys that need attention come first: never used, unused for 90 days, over a year old, full access from any IP.`,
  examples: ['terraform', 'read-only'],
  list: async ({ lists, ownLastSlices }, { args }) => {
    const { items, ...missing } = await asFarAsRead(lists.apiKeys())
    return apiKeyListing(items, args, { now: Date.now(), ownLastSlices, missing })
  },
  item: {
    of: 'api-key',
    read: async ({ lists, ownLastSlices }, id) => {
      const key = await findInList(lists.apiKeys(), (one) => one.id === id)
      return key && apiKeyDetails(key, { now: Date.now(), ownLastSlices })
    },
  },
})
