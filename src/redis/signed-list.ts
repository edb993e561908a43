import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Keyring } from '../domain/signing.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'

const Head = z.object({ at: z.number(), digest: z.string(), signature: z.string() })

/** A list as Redis holds it, in the fields of a hash: its time and the hash of its text, signed together, and the text. */
interface StoredList {
  head: string
  text: string
}

interface Genuine<List> {
  is: 'genuine'
  at: number
  list: List
  /** The key that signs now signed it. */
  isCurrent: boolean
}

/** `none`: there is no list. `unreadable`: it was signed with a key that this process does not have, or written by another version of Lockkeeper. */
export type ReadList<List> = Genuine<List> | { is: 'none' | 'unreadable' | 'forged' }

/** One signature covers name, time and text of a list, so nobody can change it, move it to another place, or give it another time. */
export function createSignedList<List>({ keyring, name, schema }: { keyring: Keyring; name: string; schema: z.ZodType<List> }) {
  let last: { head: string; digest: string; list: Genuine<List> } | undefined

  function contentOf({ at, digest }: { at: number; digest: string }) {
    return { signed: name, at, digest }
  }

  function encode(list: List, at: number): StoredList {
    const text = JSON.stringify(list)
    const signed = { at, digest: hash('sha256', text) }
    return { head: JSON.stringify({ ...signed, signature: keyring.sign(contentOf(signed)) }), text }
  }

  function decode({ head, text }: StoredList): ReadList<List> {
    if (head === '') return { is: 'none' }
    const digest = hash('sha256', text)
    if (head === last?.head && digest === last.digest) return last.list
    const read = parseHead(head)
    const verdict = read ? keyring.verify(contentOf(read), read.signature) : 'forged'
    if (verdict === 'unknown-key') return { is: 'unreadable' }
    if (!read || verdict !== 'genuine' || read.digest !== digest) return { is: 'forged' }
    const decoded = schema.safeParse(JSON.parse(text))
    if (!decoded.success) return { is: 'unreadable' }
    const list: Genuine<List> = { is: 'genuine', at: read.at, list: decoded.data, isCurrent: keyring.isCurrent(read.signature) }
    last = { head, digest, list }
    return list
  }

  return { encode, decode }
}

function parseHead(text: string): z.infer<typeof Head> | undefined {
  try {
    return Head.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Whether the process that started last signs with a key that this one lacks: it then trusts no request of the other. */
export async function markSigningKey(redis: Redis, keys: Keys, { keyId, knows }: Pick<Keyring, 'keyId' | 'knows'>): Promise<boolean> {
  const before = await guardStore(() => redis.set(keys.signingKeyMark, keyId, 'GET'))
  return before !== null && !knows(before)
}
