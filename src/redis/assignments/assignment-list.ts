import { hash } from 'node:crypto'
import { setImmediate as letOthersGoFirst } from 'node:timers/promises'
import { z } from 'zod'
import { Assignment } from '../../domain/account/assignment.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'

/** A list is encoded and decoded in parts of this many, so that clicks are served in between. */
const partSize = 500

const Head = z.object({ at: z.number(), parts: z.array(z.string()), signature: z.string() })
const Part = z.array(Assignment)

/** A list as Redis holds it: its time and the hash of each part, signed together, and the parts. */
interface StoredList {
  head: string
  parts: string[]
}

interface Genuine {
  is: 'genuine'
  at: number
  entries: Assignment[]
}

/** `none`: there is no list. `unreadable`: it was signed with a key that this process does not have, or written by another version of Lockkeeper. */
export type ReadList = Genuine | { is: 'none' | 'unreadable' | 'forged' }

/**
 * Creates the functions that encode and decode a complete list of assignments. One signature covers the list and its time. So nobody can mix the
 * entries of several lists, change one or leave one out.
 */
export function createAssignmentList(keyring: Keyring) {
  /** The last genuine list. Every list that people read leads here, and most are unchanged. */
  let last: { head: string; digests: string[]; list: Genuine } | undefined

  async function encode(entries: Assignment[], at: number): Promise<StoredList> {
    const parts: string[] = []
    for (let from = 0; from < entries.length; from += partSize) {
      parts.push(JSON.stringify(entries.slice(from, from + partSize)))
      await letOthersGoFirst()
    }
    const signed = { at, parts: parts.map(digestOf) }
    return { head: JSON.stringify({ ...signed, signature: keyring.sign(contentOf(signed)) }), parts }
  }

  async function decode({ head, parts }: StoredList): Promise<ReadList> {
    if (head === '') return { is: 'none' }
    if (head === last?.head && isMadeOf(parts, last.digests)) return last.list
    const read = parseHead(head)
    const verdict = read ? keyring.verify(contentOf(read), read.signature) : 'forged'
    if (verdict === 'unknown-key') return { is: 'unreadable' }
    if (!read || verdict !== 'genuine' || !isMadeOf(parts, read.parts)) return { is: 'forged' }
    const entries: Assignment[] = []
    for (const part of parts) {
      const decoded = Part.safeParse(JSON.parse(part))
      if (!decoded.success) return { is: 'unreadable' }
      entries.push(...decoded.data)
      await letOthersGoFirst()
    }
    const list: Genuine = { is: 'genuine', at: read.at, entries }
    last = { head, digests: read.parts, list }
    return list
  }

  return { encode, decode }
}

function contentOf({ at, parts }: { at: number; parts: string[] }) {
  return { signed: 'assignments', at, parts }
}

function parseHead(text: string): z.infer<typeof Head> | undefined {
  try {
    return Head.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function isMadeOf(parts: string[], digests: string[]): boolean {
  return parts.length === digests.length && parts.every((part, index) => digestOf(part) === digests[index])
}

function digestOf(part: string): string {
  return hash('sha256', part)
}
