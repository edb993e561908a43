import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing/keyring.ts'
import type { Redis } from '../redis/connect.ts'
import { guardStore } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { chain, type Link, printedLine } from './chain.ts'
import { readLink } from './find-entries.ts'
import type { Head, NewestHead } from './newest-head.ts'
import { decodeNote } from './stored-note.ts'

export const appendScripts = readScripts(import.meta.url, ['append'])

/** How many notes one command moves to the chain. */
const batchSize = 200

/** A process that has not printed its entries after this time is considered dead. */
const printedWithinMs = 30_000

interface AppendParts {
  redis: Redis
  keys: Keys
  print: (line: string) => void
  clean: (text: string) => string
  keyring: Pick<Keyring, 'verify'>
  newestHead: NewestHead
  /** Called for each note that joined the chain and is not genuine. */
  onNotGenuine: () => void
}

/** Creates the functions that move notes from the intake to the chain and print them. */
export function createAppend({ redis, keys, print, clean, keyring, newestHead, onNotGenuine }: AppendParts) {
  const run = createScripts(redis, appendScripts)

  /** Moves one batch to the chain and prints it. Returns false if the intake is empty. */
  async function appendBatch(): Promise<boolean> {
    const [notes, head] = await Promise.all([guardStore(() => redis.xrange(keys.auditIntake, '-', '+', 'COUNT', batchSize)), readHead()])
    if (notes.length === 0) return false
    let last = head
    let forged = 0
    const links = notes.map(([id, fields]) => {
      const note = decodeNote(id, fields, { clean, keyring })
      if (isForged(note)) forged += 1
      const link = chain(note, last.seq + 1, last.hash)
      last = { seq: last.seq + 1, hash: link.hash }
      return { ...link, id }
    })
    const token = randomUUID()
    const position = [head.hash, last.hash, String(last.seq), token]
    const values = links.flatMap(({ entry, hash, id }) => [entry, hash, id])
    const compareHead = newestHead.startComparison()
    const [outcome] = await run('append', [keys.auditIntake, keys.audit, keys.auditHead], [...position, ...values])
    if (outcome !== 'won') return true
    // Compare only after a success: then the head was read from a primary, and it was the end of the chain.
    compareHead(head, last)
    for (let left = forged; left > 0; left -= 1) onNotGenuine()
    await printLinks(links, `unprinted:${token}`)
    return true
  }

  async function readHead(): Promise<Head> {
    const [seq, hash] = await guardStore(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    return { seq: Number(seq ?? 0), hash: hash ?? '' }
  }

  async function printLinks(links: Link[], mark: string): Promise<void> {
    for (const link of links) print(printedLine(link))
    await guardStore(() => redis.hdel(keys.auditHead, mark))
  }

  /** Prints the entries of processes that ended before they printed them. */
  async function printLeftOver(): Promise<void> {
    const [head, now] = await guardStore(() => Promise.all([redis.hgetall(keys.auditHead), redis.time()]))
    for (const [mark, range] of Object.entries(head)) {
      const [first = '', last = ''] = mark.startsWith('unprinted:') ? range.split(' ') : []
      if (first === '' || Number(now[0]) * 1_000 - timeOf(first) < printedWithinMs) continue
      const found = await guardStore(() => redis.xrange(keys.audit, first, last))
      await printLinks(found.map(readLink), mark)
    }
  }

  return { appendBatch, printLeftOver }
}

/** Whether somebody else wrote a note. A note signed with an unknown key may come from a replica with a newer key. */
function isForged({ unverified }: { unverified?: string | undefined }): boolean {
  return unverified !== undefined && unverified !== 'unknown-key'
}

function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}
