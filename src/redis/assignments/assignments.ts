import { type Assignment, longestSeenMs, type SeenAssignment, type SeenAssignments } from '../../domain/account/assignment.ts'
import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import { createStoredAssignments, type Found, type StoredAssignmentsParts } from './stored-assignments.ts'

/** An unchanged list is written again after this time, so that lists that people read are not written each time. */
const keepMs = 2 * 60_000

/** Other replicas write the list, too. Each time one was first, the list is read again. */
const mostTries = 10

interface Assignments extends SeenAssignments {
  note(listed: ElasticIp[]): Promise<void>
  noteOne(elasticIp: ElasticIp): Promise<void>
}

/**
 * Creates the list of servers that the Elastic IPs were last seen on. The account shows no server for the addresses of a server that is not
 * active, which is when they have to be moved. The whole list is signed, so that nobody who writes to Redis offers addresses of other servers.
 */
export function createAssignments(parts: StoredAssignmentsParts): Assignments {
  const stored = createStoredAssignments(parts)
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

  /**
   * Notes an Elastic IP that was read by itself or in a part of the list. Such a read confirms a move, so a server that dies soon after is known to have it,
   * although no list has shown it there yet. While an address moves, its server can be the one before or the one after.
   */
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
      const at = await stored.now()
      const found = await stored.read(at)
      if (isFresh(found, listed, at)) return
      if (await stored.replace(found, merged(found.entries, listed, at), at)) return
    }
    throw new Error('the list of assignments kept changing while it was written')
  }

  async function find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]> {
    await noting
    const at = await stored.now()
    const { entries } = await stored.read(at)
    return entries.flatMap((entry) => (isUsed(entry, at) && fits(entry) ? [{ ...entry, agoMs: Math.max(0, at - entry.at) }] : []))
  }

  return { note, noteOne, find }
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
