import { z } from 'zod'
import { Assignment, longestSeenMs, type SeenAssignment } from '../domain/account.ts'
import type { Keyring } from '../domain/signing.ts'
import type { Redis } from './connect.ts'
import type { Keys } from './key-names.ts'
import { readClock } from './scripts.ts'
import { open, readText, replace, seal } from './sealed.ts'

/** A list that disappears so shortly before its end has not been removed by anybody. */
const endOffMs = 60_000

/** An unchanged list is written again after this time, so that lists that people read are not written each time. */
const keepMs = 2 * 60_000

/** Other replicas write the list, too. Each time one was first, the list is read again. */
const mostTries = 10

/** Why a list is not used. `older`: this process has read a newer one. `missing`: it has read one that should still be there. */
export type ListProblem = 'forged' | 'older' | 'missing'

interface ElasticIp {
  id: string
  address: string
  status: string
  server?: { id: string; hostname?: string }
}

const List = z.object({ at: z.number(), entries: z.array(Assignment) })

/** A list as it was read. `text`: '' if there is none. `at`: undefined if it is not used. */
interface Found {
  text: string
  at: number | undefined
  entries: Assignment[]
}

/** The account shows no server for addresses of one that is not active. The list is signed, so that nobody offers others. Redis' clock. */
export function createAssignments({
  redis,
  keys,
  keyring,
  onRefused,
}: {
  redis: Redis
  keys: Keys
  keyring: Keyring
  onRefused: (problem: ListProblem) => Promise<void> | void
}) {
  /** The time of the newest list that this process has read or written. An older one was put back. */
  let newest = 0
  /** The notes of this process. A search waits for them, so that it finds what a person has just seen in a list. */
  let noting: Promise<void> = Promise.resolve()
  /** What arrived while something else is noted, as one list, so that many readers never make a queue of notes. */
  let waiting: { servers: Map<string, ElasticIp>; noted: Promise<void> } | undefined

  /** Notes a complete list. An Elastic IP without a server keeps the last one. Entries that are no longer used are removed. */
  function note(listed: ElasticIp[]): Promise<void> {
    waiting ??= noteNext()
    for (const elasticIp of listed) if (elasticIp.server) waiting.servers.set(elasticIp.id, elasticIp)
    return waiting.noted
  }

  /** Such a read confirms a move, before any list shows it. While an address moves, its server can be the one before or the one after. */
  async function noteOne(elasticIp: ElasticIp): Promise<void> {
    if (elasticIp.status === 'active') await note([elasticIp])
  }

  function noteNext() {
    const servers = new Map<string, ElasticIp>()
    const noted = noting.then(() => {
      waiting = undefined
      return noteNow([...servers.values()])
    })
    noting = noted.catch(() => {})
    return { servers, noted }
  }

  async function noteNow(listed: ElasticIp[]): Promise<void> {
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      const now = await readClock({ redis, keys })
      const found = await read(now)
      if (isFresh(found, listed, now)) return
      // Each list has a later time than the one before, also if Redis' clock was set back.
      const at = Math.max(now, (found.at ?? 0) + 1, newest + 1)
      const after = seal(keyring, 'assignments', { at, entries: merged(found.entries, listed, now) })
      const texts = { before: found.text, after }
      if ((await replace({ redis, keys }, keys.assignments, texts, { keepMs: longestSeenMs })) === 'changed') continue
      newest = Math.max(newest, at)
      return
    }
    throw new Error('the list of assignments kept changing while it was written')
  }

  /** Assignments of the last 24 hours. Throws StoreUnavailableError. */
  async function find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]> {
    await noting
    const now = await readClock({ redis, keys })
    const { entries } = await read(now)
    return entries.filter((entry) => isUsed(entry, now) && fits(entry)).map((entry) => ({ ...entry, agoMs: Math.max(0, now - entry.at) }))
  }

  /** A list that somebody changed, or put back, has no entries. */
  async function read(now: number): Promise<Found> {
    // A list that this process reads or writes while the answer is on its way is not compared.
    const known = newest
    const text = await readText(redis, keys.assignments)
    const found = open(keyring, 'assignments', List, text)
    if (found.is === 'genuine' && found.facts.at >= known) {
      newest = Math.max(newest, found.facts.at)
      return { text, ...found.facts }
    }
    if (found.is === 'forged') await onRefused('forged')
    if (found.is === 'genuine') await onRefused('older')
    if (found.is === 'none' && known > 0 && now - known < longestSeenMs - endOffMs) await onRefused('missing')
    return { text, at: undefined, entries: [] }
  }

  return { note, noteOne, find }
}
export type Assignments = ReturnType<typeof createAssignments>

function isUsed({ at }: Assignment, now: number): boolean {
  return now - at <= longestSeenMs
}

/** Whether a stored list is young, and the new one adds nothing to it. */
function isFresh({ at, entries }: Found, listed: ElasticIp[], now: number): boolean {
  if (at === undefined || now - at >= keepMs) return false
  const known = new Map(entries.map((entry) => [entry.elasticIpId, entry]))
  return listed.every(({ id, address, server }) => {
    const entry = known.get(id)
    return !server || (entry?.serverId === server.id && entry.address === address)
  })
}

function merged(before: Assignment[], listed: ElasticIp[], at: number): Assignment[] {
  const entries = new Map(before.filter((entry) => isUsed(entry, at)).map((entry) => [entry.elasticIpId, entry]))
  for (const { id, address, server } of listed) {
    if (server) entries.set(id, { elasticIpId: id, address, serverId: server.id, serverName: server.hostname ?? server.id, at })
  }
  return [...entries.values()]
}
