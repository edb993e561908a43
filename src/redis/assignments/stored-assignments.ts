import { z } from 'zod'
import { Assignment, longestSeenMs } from '../../domain/account/assignment.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import { guardStore, type Redis } from '../connect.ts'
import type { Keys } from '../key-names.ts'
import { createScripts, readScripts } from '../scripts.ts'
import { createSignedList, type ReadList } from '../signed-list.ts'

const scripts = readScripts(import.meta.url, ['replace-assignments'])

/** A list that disappears so shortly before its end has not been removed by anybody. */
const endOffMs = 60_000

/** Why a list is not used. `older`: this process has read a newer one. `missing`: it has read one that should still be there. */
export type ListProblem = 'forged' | 'older' | 'missing'

/** A list as it was read. `head`: its signed head, '' if there is none. `at`: undefined if it is not used. */
export interface Found {
  head: string
  at: number | undefined
  entries: Assignment[]
}

export interface StoredAssignmentsParts {
  redis: Redis
  keys: Keys
  keyring: Keyring
  /** Receives why a list in Redis is not used. */
  onRefused: (problem: ListProblem) => Promise<void> | void
}

/** Creates the functions that read and replace the list of assignments in Redis. Times are in ms since 1970, by Redis' clock. */
export function createStoredAssignments({ redis, keys, keyring, onRefused }: StoredAssignmentsParts) {
  const run = createScripts(redis, scripts)
  const list = createSignedList({ keyring, name: 'assignments', schema: z.array(Assignment) })
  /** The time of the newest list that this process has read or written. An older one was put back. */
  let newest = 0

  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  /** Reads the list. One that somebody changed, or put back, has no entries. */
  async function read(now: number): Promise<Found> {
    // A list that this process reads or writes while the answer is on its way is not compared.
    const known = newest
    const { head = '', text = '' } = await guardStore(() => redis.hgetall(keys.assignments))
    const found = list.decode({ head, text })
    const problem = problemOf(found, known, now)
    if (problem) await onRefused(problem)
    if (problem || found.is !== 'genuine') return { head, at: undefined, entries: [] }
    newest = Math.max(newest, found.at)
    return { head, at: found.at, entries: found.list }
  }

  /** Replaces the list that was found. Returns whether it was still the same. */
  async function replace({ head, at = 0 }: Found, entries: Assignment[], now: number): Promise<boolean> {
    // Each list has a later time than the one before, also if Redis' clock was set back.
    const listedAt = Math.max(now, at + 1, newest + 1)
    const stored = list.encode(entries, listedAt)
    const [outcome] = await run('replace-assignments', [keys.assignments], [head, String(longestSeenMs), stored.head, stored.text])
    if (outcome !== 'replaced') return false
    newest = Math.max(newest, listedAt)
    return true
  }

  return { now, read, replace }
}

/** `newest`: the time of the newest list that was known before this one was read. */
function problemOf(found: ReadList<Assignment[]>, newest: number, now: number): ListProblem | undefined {
  switch (found.is) {
    case 'genuine':
      return found.at < newest ? 'older' : undefined
    case 'forged':
      return 'forged'
    case 'none':
      return newest > 0 && now - newest < longestSeenMs - endOffMs ? 'missing' : undefined
    case 'unreadable':
      return undefined
  }
}
