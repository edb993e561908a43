import type { ApiKey } from '../../domain/api-key.ts'
import { remarksOn, requesterOfKey } from '../../domain/api-key-name.ts'
import type { ListLimit } from '../../domain/list-errors.ts'
import { cutNotes } from '../../slack/blocks/cut-note.ts'
import { filteredListing } from '../../slack/blocks/filtered-listing.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'

/** A key with what its rows are found and sorted by, worked out once for each key. */
interface ListedKey {
  key: ApiKey
  /** Whether Lockkeeper itself uses it. */
  isOwn: boolean
  remarks: string[]
  /** In ms since 1970. */
  createdAt: number
}

interface Reading {
  /** In ms since 1970. */
  now: number
  /** The last characters of the key that Lockkeeper itself uses. */
  ownLastSlice: string
  cut?: ListLimit | undefined
}

/** Lists the keys with the most remarks first, then the newest first. */
export function apiKeyListing(keys: ApiKey[], words: string[], { now, ownLastSlice, cut }: Reading): Listing {
  const all = keys.map((key): ListedKey => {
    const isOwn = key.tokenLastSlice === ownLastSlice
    return { key, isOwn, remarks: remarksOn(key, now, { isOwn }), createdAt: created(key) }
  })
  return filteredListing({
    all,
    words,
    textsOf,
    one: 'API key',
    many: 'API keys',
    order: (a, b) => b.remarks.length - a.remarks.length || b.createdAt - a.createdAt,
    row,
    none: mrkdwn`The account has no API keys.`,
    notes: [...cutNotes(cut, keys.length), mrkdwn`Tokens are not kept anywhere, and cannot be shown again.`],
  })
}

function row({ key, isOwn, remarks }: ListedKey): Mrkdwn {
  const by = requesterOfKey(key)
  const owner = mrkdwn`${by ? mrkdwn`asked for by ${mention(by)}, ` : ''}owner ${key.user?.email ?? key.user?.id ?? 'not told'}`
  const lines = [
    mrkdwn`${remarks.length > 0 ? ':warning:' : ':key:'} *${key.name ?? 'no name'}*  ·  ends in ${code(key.tokenLastSlice ?? '?')}  ·  ${code(key.id)}`,
    joinMrkdwn([reach(key), isOwn ? mrkdwn`used by Lockkeeper` : used(key), owner], '  ·  '),
    ...(remarks.length > 0 ? [mrkdwn`_Worth a look: ${remarks.join(', ')}._`] : []),
  ]
  return joinMrkdwn(lines, '\n')
}

function reach(key: ApiKey): Mrkdwn {
  const access = key.readOnly === undefined ? 'access not told' : key.readOnly ? 'read-only' : 'full access'
  if (key.allowedIps === undefined) return mrkdwn`${access}, from where is not told`
  return key.allowedIps.length > 0
    ? mrkdwn`${access}, from ${joinMrkdwn(key.allowedIps.map(code), ', ')}`
    : mrkdwn`${access}, from anywhere`
}

function used(key: ApiKey): Mrkdwn {
  return key.lastUsedAt === undefined ? mrkdwn`not used yet` : mrkdwn`last used ${dateTime(Date.parse(key.lastUsedAt))}`
}

function created(key: ApiKey): number {
  return key.createdAt === undefined ? 0 : Date.parse(key.createdAt)
}

function textsOf({ key, isOwn, remarks }: ListedKey): unknown[] {
  const access = key.readOnly ? 'read-only' : 'full access'
  return [
    key.name,
    key.id,
    key.tokenLastSlice,
    access,
    key.user?.email,
    ...(key.allowedIps ?? []),
    ...(isOwn ? ['used by Lockkeeper'] : []),
    ...remarks,
  ]
}
