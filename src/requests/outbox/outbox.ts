import { randomUUID } from 'node:crypto'
import type { Request } from '../../domain/request.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { type ReportName, reportNames } from '../steps.ts'
import { decodeRecord } from '../store/record.ts'
import type { OutboxName } from '../store/store.ts'

const scripts = readScripts(import.meta.url, ['lease', 'settle'])

/** How long one process alone may send a message. Looking for what may have been sent takes several requests. */
const leaseMs = { fresh: 10_000, unsure: 20_000 }

/** The longest that one request to Slack takes (`timeout` of the Web API client). */
const requestMs = 5_000

export interface Lease {
  token: string
  /** `fresh`: send it. `unsure`: it may have been sent before, so look first. */
  mode: 'fresh' | 'unsure'
  /** For how long what may have been sent has been looked for, by Redis' clock. */
  lookedForMs: number
  /** Until when an earlier try may have sent it, in ms since 1970 by Redis' clock. What a version before this one tried has none. */
  triedUntilMs?: number
  /** An earlier try may have sent this report before its card was there, so not below it. */
  triedCardless: boolean
  /** The revision of the record that owes this report: a later one may owe it anew. The card has none. */
  owedBy?: number
  /** Whatever is sent later than this, in ms of `performance.now()`, may arrive when somebody else holds the lease. */
  sendBefore: number
}

/** A message to send now, and the record as it is in the moment in which it was taken. */
export interface Leased {
  lease: Lease
  request: Request
}

/** `held`: somebody else sends it. `settled`: nothing to do any more. `missing`: no such request. `cardless`: its card comes first. */
export type NotLeased = 'held' | 'settled' | 'missing' | 'cardless'

export type Settlement =
  /** `shownRevision`: for the card, the revision of the record that Slack shows now. */
  | { status: 'settled'; cardTs?: string; shownRevision?: number }
  /** Certainly not sent by this try. What an earlier one may have sent is looked for again. */
  | { status: 'queued'; retryInMs: number }
  /** Perhaps sent by this try. */
  | { status: 'unsure'; retryInMs: number }

/**
 * The messages that a request still owes. They are put in by the same step that changes the record, and leave once Slack has
 * them. Each is sent by one process at a time, which holds a lease.
 */
export function createOutbox({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** `early`: a report may go before its card, because that cannot be posted. */
  async function lease(id: string, name: OutboxName, { early = false } = {}): Promise<Leased | NotLeased> {
    const token = randomUUID()
    const askedAt = performance.now()
    const values = [id, name, token, String(leaseMs.fresh), String(leaseMs.unsure), early ? '1' : '0']
    const [mode, lookedForMs, triedUntilMs, triedCardless, owedBy, ...flat] = await run('lease', [keys.record(id), keys.outbox], values)
    if (mode !== 'fresh' && mode !== 'unsure') return mode as NotLeased
    const held: Lease = {
      token,
      mode,
      lookedForMs: Number(lookedForMs),
      triedCardless: triedCardless === '1',
      sendBefore: askedAt + leaseMs[mode] - requestMs,
      ...(triedUntilMs ? { triedUntilMs: Number(triedUntilMs) } : {}),
      ...(owedBy ? { owedBy: Number(owedBy) } : {}),
    }
    return { lease: held, request: decodeRecord(pairsOf(flat)) }
  }

  async function settle(
    id: string,
    name: OutboxName,
    held: Pick<Lease, 'token'>,
    result: Settlement,
  ): Promise<'settled' | 'again' | 'later' | 'lost'> {
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

function pairsOf(flat: string[]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]))
}
