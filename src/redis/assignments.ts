import { z } from 'zod'
import { Assignment, longestSeenMs, type SeenAssignment, type SeenAssignments } from '../domain/assignment.ts'
import type { ElasticIp } from '../domain/elastic-ip.ts'
import type { Keyring } from '../domain/keyring.ts'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'
import { createScripts } from './scripts.ts'

/** An unchanged assignment is written again after this time, so that lists that people read do not write all of it each time. */
const keepMs = 2 * 60_000

/** Sign and verify this many at a time, so that clicks are served in between. */
const chunkSize = 500

const Stored = Assignment.extend({ signature: z.string() })

interface AssignmentsParts {
  redis: Redis
  keys: Keys
  keyring: Keyring
}

/**
 * Creates the memory of which server each Elastic IP was on last. The account shows no server for the addresses of a server that is not active,
 * which is when they have to be moved. Entries are signed, so that nobody who writes to Redis offers addresses of other servers.
 */
export function createAssignments({
  redis,
  keys,
  keyring,
}: AssignmentsParts): SeenAssignments & { note(listed: ElasticIp[]): Promise<void> } {
  const run = createScripts(redis)

  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  /** Notes a complete list. An Elastic IP without a server keeps the last one. Entries that are no longer used are removed. */
  async function note(listed: ElasticIp[]): Promise<void> {
    const at = await now()
    const known = await readAll()
    const newer = listed.flatMap(({ id, address, server }): Assignment[] => {
      if (!server) return []
      const before = known.get(id)
      const isKnown = before?.serverId === server.id && before.address === address && at - before.at < keepMs
      return isKnown ? [] : [{ elasticIpId: id, address, serverId: server.id, serverName: server.hostname ?? server.id, at }]
    })
    const written = new Set(newer.map(({ elasticIpId }) => elasticIpId))
    const old = [...known].flatMap(([id, entry]) => (!written.has(id) && (!entry || at - entry.at > longestSeenMs) ? [id] : []))
    for (const some of chunks(newer)) {
      const fields = some.flatMap((entry) => [entry.elasticIpId, JSON.stringify({ ...entry, signature: keyring.sign(contentOf(entry)) })])
      await guardStore(() => redis.hset(keys.assignments, ...fields))
    }
    for (const some of chunks(old)) await guardStore(() => redis.hdel(keys.assignments, ...some))
  }

  async function find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]> {
    const at = await now()
    const all = [...(await readAll()).values()].filter((entry) => entry !== undefined)
    return all.flatMap(({ signature, ...entry }) => {
      const agoMs = Math.max(0, at - entry.at)
      if (agoMs > longestSeenMs || !fits(entry) || keyring.verify(contentOf(entry), signature) !== 'genuine') return []
      return [{ ...entry, agoMs }]
    })
  }

  /** Reads all entries by id, without verifying them. An entry that does not fit this version is undefined. */
  async function readAll(): Promise<Map<string, z.infer<typeof Stored> | undefined>> {
    const hash = await guardStore(() => redis.hgetall(keys.assignments))
    return new Map(Object.entries(hash).map(([id, text]) => [id, readEntry(id, text)]))
  }

  return { note, find }
}
export type Assignments = ReturnType<typeof createAssignments>

/** The entry of one Elastic IP is worth nothing in the place of another. */
function readEntry(id: string, text: string): z.infer<typeof Stored> | undefined {
  try {
    const entry = Stored.parse(JSON.parse(text))
    return entry.elasticIpId === id ? entry : undefined
  } catch {
    return undefined
  }
}

function contentOf(entry: Assignment) {
  return { signed: 'assignment', ...entry }
}

function* chunks<T>(all: T[]): Generator<T[]> {
  for (let at = 0; at < all.length; at += chunkSize) yield all.slice(at, at + chunkSize)
}
