import { randomUUID } from 'node:crypto'
import type { Request } from '../../domain/request/request.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { longestCallMs } from '../../slack/web-api/measured-fetch.ts'
import { type ReportName, reportNames } from '../steps/step.ts'
import { dueAtOnce } from '../store/due-times.ts'
import { decodeRecord } from '../store/record.ts'

const scripts = readScripts(import.meta.url, ['lease', 'settle'])

/** How long a lease lasts, in ms. A search takes several requests to Slack, so it gets more time. */
const leaseMs = { fresh: 10_000, unsure: 20_000 }

/** A message that a request can owe. */
export type OutboxName = 'card' | ReportName

/** The right of one process to send a message for a while. */
export interface Lease {
  token: string
  /** `fresh`: send it. `unsure`: an earlier try may have sent it, so search first. */
  mode: 'fresh' | 'unsure'
  /** How long the message has been searched for, in ms by Redis' clock. */
  searchedForMs: number
  /** The latest time at which an earlier try may have sent it, in ms since 1970 by Redis' clock. Absent if fresh. */
  triedUntilMs?: number
  /** An earlier try may have sent this report before its card was posted, so into the channel and not into the thread. */
  triedCardless: boolean
  /** Whether the thread is told, or will be, that the card is out of date. */
  isOutdatedTold: boolean
  /** The revision of the record that owes this report. A later revision may owe it again. The card has none. */
  owedBy?: number
  /** The latest time to send, in ms of `performance.now()`. Later requests may arrive when another process holds the lease. */
  sendBefore: number
}

/** A message to send now, and the record at the moment of the lease. */
interface Leased {
  lease: Lease
  request: Request
  /** Returns the present time in ms since 1970, by Redis' clock at the lease and this process' clock since then. */
  now: () => number
}

/** `held`: another process sends it. `settled`: it was sent. `missing`: no such request. `cardless`: send the card first. */
type NotLeased = 'held' | 'settled' | 'missing' | 'cardless'

/** The result of a try. */
export type Settlement =
  /**
   * Slack has it, or refuses it for good. `shownRevision`: for a card, the revision of the record that Slack shows now, or refused. `owes`: a
   * report that the thread then gets, unless it ever got it.
   */
  | { status: 'settled'; cardTs?: string; shownRevision?: number; owes?: ReportName | undefined }
  /** This try certainly sent nothing. If an earlier one may have sent it, the next lease is `unsure` again. */
  | { status: 'queued'; retryInMs: number }
  /** This try may have sent it. */
  | { status: 'unsure'; retryInMs: number }

/**
 * Creates the outbox: the messages that requests owe. The step that changes the record adds them, and they leave once Slack has them. One
 * process at a time sends a message, under a lease. The functions throw StoreUnavailableError if Redis does not answer.
 */
export function createOutbox({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** `early`: lease a report also before its card is posted, because the card cannot be posted. */
  async function lease(id: string, name: OutboxName, { early = false } = {}): Promise<Leased | NotLeased> {
    const token = randomUUID()
    const startedAt = performance.now()
    const values = [id, name, token, String(leaseMs.fresh), String(leaseMs.unsure), early ? '1' : '0']
    const [mode, searchedForMs, triedUntilMs, triedCardless, owedBy, leasedAt, ...flat] = await run(
      'lease',
      [keys.record(id), keys.outbox],
      values,
    )
    if (mode !== 'fresh' && mode !== 'unsure') return mode as NotLeased
    const fields = pairsOf(flat)
    const held: Lease = {
      token,
      mode,
      searchedForMs: Number(searchedForMs),
      triedCardless: triedCardless === '1',
      isOutdatedTold: fields['outbox:outdated'] !== undefined,
      sendBefore: startedAt + leaseMs[mode] - longestCallMs,
      ...(triedUntilMs ? { triedUntilMs: Number(triedUntilMs) } : {}),
      ...(owedBy ? { owedBy: Number(owedBy) } : {}),
    }
    return { lease: held, request: decodeRecord(id, fields), now: () => Number(leasedAt) + performance.now() - startedAt }
  }

  /** Stores the result of a try. `again`: the record changed, so send the card again. `lost`: another process holds the lease now. */
  async function settle(
    id: string,
    name: OutboxName,
    held: Pick<Lease, 'token'>,
    result: Settlement,
  ): Promise<'settled' | 'again' | 'later' | 'lost'> {
    const retryInMs = result.status === 'settled' ? 0 : result.retryInMs
    const cardTs = result.status === 'settled' ? (result.cardTs ?? '') : ''
    const shown = result.status === 'settled' ? (result.shownRevision ?? 0) : 0
    const owes = result.status === 'settled' ? (result.owes ?? '') : ''
    const values = [id, name, held.token, result.status, String(retryInMs), cardTs, String(shown), owes]
    const [outcome] = await run('settle', [keys.record(id), keys.outbox], values)
    return outcome as 'settled' | 'again' | 'later' | 'lost'
  }

  /** Returns the messages that are due now, the oldest due time first. */
  async function due(limit = dueAtOnce): Promise<{ id: string; name: OutboxName }[]> {
    const members = await run('due', [keys.outbox], ['0', String(limit)])
    return members.map((member) => {
      const slash = member.indexOf('/')
      return { id: member.slice(0, slash), name: member.slice(slash + 1) as OutboxName }
    })
  }

  /** Returns the reports that a request still owes, in the order of the thread. */
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
