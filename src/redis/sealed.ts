import type { z } from 'zod'
import { StoreUnavailableError } from '../domain/errors.ts'
import type { Keyring } from '../domain/signing.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'
import { readScripts, scriptsOf } from './scripts.ts'

const run = scriptsOf(readScripts(import.meta.url, ['replace']))

/** What Lockkeeper keeps in Redis and believes later. One signature covers name and facts, so no record can stand in place of another. */
export type RecordName =
  | 'freeze'
  | 'freeze-look'
  | 'key-end'
  | 'key-end-message'
  | 'outside'
  | 'key-review'
  | 'operator-message'
  | 'assignments'
  | 'passkeys'
  | 'passkey-link'
  | 'passkey-pending'
  | 'passkey-pending-of'
  | `list ${string}`

/** `none`: there is no record. `unreadable`: it was signed with a key that this process does not have, or written by another version of Lockkeeper. */
export type Opened<Facts> =
  | { is: 'genuine'; facts: Facts /** The key that signs now signed it. */; isCurrent: boolean }
  | { is: 'none' | 'unreadable' | 'forged' }

export type Opening = Pick<Keyring, 'verify' | 'isCurrent'>

/** Writes facts as a signature, a space and their JSON. */
export function seal(keyring: Pick<Keyring, 'sign'>, name: RecordName, facts: unknown): string {
  const text = JSON.stringify(facts)
  return `${keyring.sign({ record: name, text })} ${text}`
}

export function open<Facts>(keyring: Opening, name: RecordName, schema: z.ZodType<Facts>, sealed: string): Opened<Facts> {
  if (sealed === '') return { is: 'none' }
  const end = sealed.indexOf(' ')
  const [signature, text] = [sealed.slice(0, end), sealed.slice(end + 1)]
  const verdict = keyring.verify({ record: name, text }, signature)
  if (verdict !== 'genuine') return { is: verdict === 'unknown-key' ? 'unreadable' : 'forged' }
  const read = schema.safeParse(JSON.parse(text))
  return read.success ? { is: 'genuine', facts: read.data, isCurrent: keyring.isCurrent(signature) } : { is: 'unreadable' }
}

/** What the scripts read of a key that is no text. Nothing that Lockkeeper writes is equal to it. */
const noText = 'no text'

/** The text of a record. '' if there is none. Throws StoreUnavailableError. */
export async function readText(redis: Redis, key: string): Promise<string> {
  try {
    return (await guardStore(() => redis.get(key))) ?? ''
  } catch (error) {
    if (error instanceof StoreUnavailableError && error.code === 'WRONGTYPE') return noText
    throw error
  }
}

/** A message about no request, which a script owes. `member`: of the outbox. `keepMs`: how long it is owed. `inMs`: when it is due. */
export interface OwedFacts {
  id: string
  member: string
  facts: string
  keepMs: number
  inMs: number
}

/** Where a record is: under a key, or in a field of a hash. */
type Place = string | { key: string; field: string }

interface Also {
  /** How long the record is kept, in ms. Default: for good. */
  keepMs?: number
  /** Audit notes, each a line of JSON. */
  note?: string
  owes?: OwedFacts[]
}

/**
 * Replaces a record if it is still the text `before` ('' for none), and owes messages about it in the same step. `after`: '' removes it from its
 * hash. `repeat`: the command was sent twice, or somebody else wrote the same. Throws StoreUnavailableError.
 */
export async function replace(
  { redis, keys }: { redis: Redis; keys: Keys },
  place: Place,
  { before, after }: { before: string; after: string },
  { keepMs, note = '', owes = [] }: Also = {},
): Promise<'replaced' | 'repeat' | 'changed'> {
  const { key, field } = typeof place === 'string' ? { key: place, field: '' } : place
  const messages = owes.map(({ id }) => keys.message(id))
  const owed = owes.flatMap(({ member, facts, keepMs, inMs }) => [member, facts, String(keepMs), String(inMs)])
  const values = [field, before, after, keepMs === undefined ? '' : String(keepMs), note, ...owed]
  const [outcome] = await run(redis, 'replace', [key, keys.outbox, keys.auditIntake, ...messages], values)
  return outcome as 'replaced' | 'repeat' | 'changed'
}

/** Whether the process that started last signs with a key that this one lacks: it then trusts no request of the other. */
export async function markSigningKey(redis: Redis, keys: Keys, { keyId, knows }: Pick<Keyring, 'keyId' | 'knows'>): Promise<boolean> {
  const before = await guardStore(() => redis.set(keys.signingKeyMark, keyId, 'GET'))
  return before !== null && !knows(before)
}
