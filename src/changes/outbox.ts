import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'
import { guardStore } from './redis.ts'
import { createScripts } from './scripts.ts'
import { type OutboxName, type ReportName, reportNames } from './store.ts'

/** Twice as long as any one request to Slack may take, so that a lease that ran out means that its holder is gone. */
const leaseMs = 10_000

export interface Lease {
  token: string
  /** `fresh`: send it. `unsure`: it may have been sent before, so look first. */
  mode: 'fresh' | 'unsure'
}

export type Settlement =
  /** `shownRevision`: for the card, the revision of the record that Slack shows now. */
  | { status: 'settled'; cardTs?: string; shownRevision?: number }
  /** Certainly not sent. */
  | { status: 'queued'; retryInMs: number }
  /** Perhaps sent. */
  | { status: 'unsure'; retryInMs: number }

/**
 * The messages that a request still owes. They are put in by the same step that changes the record, and leave once Slack has
 * them. Each is sent by one process at a time, which holds a lease.
 */
export function createOutbox({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis)

  async function lease(id: string, name: OutboxName): Promise<Lease | 'held' | 'settled' | 'missing'> {
    const token = randomUUID()
    const [mode] = await run('lease', [keys.record(id), keys.outbox], [id, name, token, String(leaseMs)])
    return mode === 'fresh' || mode === 'unsure' ? { token, mode } : (mode as 'held' | 'settled' | 'missing')
  }

  async function settle(id: string, name: OutboxName, held: Lease, result: Settlement): Promise<'settled' | 'again' | 'later' | 'lost'> {
    const retryInMs = result.status === 'settled' ? 0 : result.retryInMs
    const cardTs = result.status === 'settled' ? (result.cardTs ?? '') : ''
    const shown = result.status === 'settled' ? (result.shownRevision ?? 0) : 0
    const values = [id, name, held.token, result.status, String(retryInMs), cardTs, String(shown)]
    const [outcome] = await run('settle', [keys.record(id), keys.outbox], values)
    return outcome as 'settled' | 'again' | 'later' | 'lost'
  }

  async function due(limit: number): Promise<{ id: string; name: OutboxName }[]> {
    const members = await run('due', [keys.outbox], ['0', String(limit)])
    return members.map((member) => {
      const slash = member.indexOf('/')
      return { id: member.slice(0, slash), name: member.slice(slash + 1) as OutboxName }
    })
  }

  /** The messages that one request still owes its thread, in the order in which they belong. */
  async function owed(id: string): Promise<ReportName[]> {
    const scores = await guardStore(() => redis.zmscore(keys.outbox, ...reportNames.map((name) => `${id}/${name}`)))
    return reportNames.filter((_, index) => scores[index] !== null)
  }

  return { lease, settle, due, owed }
}
export type Outbox = ReturnType<typeof createOutbox>
