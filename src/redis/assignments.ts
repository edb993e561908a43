import { type Assignment, longestSeenMs, type SeenAssignment, type SeenAssignments } from '../domain/account/assignment.ts'
import type { ElasticIp } from '../domain/account/elastic-ip.ts'
import type { Keyring } from '../domain/signing/keyring.ts'
import { createAssignmentList, type ReadList } from './assignment-list.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'
import { createScripts, readScripts } from './scripts.ts'

const scripts = readScripts(import.meta.url, ['replace-assignments'])

/** An unchanged list is written again after this time, so that lists that people read are not written each time. */
const keepMs = 2 * 60_000

/** Other replicas write the list, too. Each time one was first, the list is read again. */
const mostTries = 10

/** A list that disappears so shortly before its end has not been removed by anybody. */
const endOffMs = 60_000

/** Why a list is not used. `older`: this process has read a newer one. `missing`: it has read one that should still be there. */
export type ListProblem = 'forged' | 'older' | 'missing'

/** A list as it was read. `head`: its signed head, '' if there is none. `at`: undefined if it is not used. */
interface Found {
  head: string
  at: number | undefined
  entries: Assignment[]
}

interface AssignmentsParts {
  redis: Redis
  keys: Keys
  keyring: Keyring
  /** Receives why a list in Redis is not used. */
  onRefused: (problem: ListProblem) => Promise<void> | void
}

/**
 * Creates the memory of which server each Elastic IP was on last. The account shows no server for the addresses of a server that is not active,
 * which is when they have to be moved. The whole list is signed, so that nobody who writes to Redis offers addresses of other servers.
 */
export function createAssignments({
  redis,
  keys,
  keyring,
  onRefused,
}: AssignmentsParts): SeenAssignments & { note(listed: ElasticIp[]): Promise<void> } {
  const run = createScripts(redis, scripts)
  const list = createAssignmentList(keyring)
  /** The time of the newest list that this process has read or written. An older one was put back. */
  let newest = 0
  /** The notes of this process. A search waits for them, so that it finds what a person has just seen in a list. */
  let noting: Promise<void> = Promise.resolve()
  /** The lists that arrived while another one is noted, as one, so that many readers never make a queue of notes. */
  let waiting: { servers: Map<string, ElasticIp>; noted: Promise<void> } | undefined

  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  /** Notes a complete list. An Elastic IP without a server keeps the last one. Entries that are no longer used are removed. */
  function note(listed: ElasticIp[]): Promise<void> {
    waiting ??= noteNext()
    for (const elasticIp of listed) if (elasticIp.server) waiting.servers.set(elasticIp.id, elasticIp)
    return waiting.noted
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
      const at = await now()
      const found = await read(at)
      if (isFresh(found, listed, at)) return
      if (await replace(found, merged(found.entries, listed, at), at)) return
    }
    throw new Error('the list of assignments kept changing while it was written')
  }

  async function replace({ head, at = 0 }: Found, entries: Assignment[], now: number): Promise<boolean> {
    // Each list has a later time than the one before, also if Redis' clock was set back.
    const listedAt = Math.max(now, at + 1, newest + 1)
    const stored = await list.encode(entries, listedAt)
    const [outcome] = await run('replace-assignments', [keys.assignments], [head, String(longestSeenMs), stored.head, ...stored.parts])
    if (outcome !== 'replaced') return false
    newest = Math.max(newest, listedAt)
    return true
  }

  async function find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]> {
    await noting
    const at = await now()
    const { entries } = await read(at)
    return entries.flatMap((entry) => (isUsed(entry, at) && fits(entry) ? [{ ...entry, agoMs: Math.max(0, at - entry.at) }] : []))
  }

  /** Reads the list. One that somebody changed, or put back, has no entries. */
  async function read(now: number): Promise<Found> {
    // A list that this process reads or writes while the answer is on its way is not compared.
    const known = newest
    const { head = '', ...fields } = await guardStore(() => redis.hgetall(keys.assignments))
    const parts = Object.keys(fields).map((_, index) => fields[index] ?? '')
    const found = await list.decode({ head, parts })
    const problem = problemOf(found, known, now)
    if (problem) await onRefused(problem)
    if (problem || found.is !== 'genuine') return { head, at: undefined, entries: [] }
    newest = Math.max(newest, found.at)
    return { head, at: found.at, entries: found.entries }
  }

  return { note, find }
}

/** `newest`: the time of the newest list that was known before this one was read. */
function problemOf(found: ReadList, newest: number, now: number): ListProblem | undefined {
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
