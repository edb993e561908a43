import type { AuditEntry } from '../../../audit/entry.ts'
import { type AccountEvent, mayChange, wordsOfAction } from '../../../domain/account/account-event.ts'
import { type EventActions, type OwnWrite, ownWritesIn } from './own-writes.ts'

/** The account's clock differs from Lockkeeper's by up to this time, so an event may have an earlier time than the note of its write. */
export const clocksDifferMs = 10_000

/**
 * An event of the account, compared with Lockkeeper's own writes.
 *
 * - `confirms`: it is the event of the write that `entry` notes.
 * - `outside`: the change was made outside Lockkeeper. `nearOwnWrite`: at the time of one of its own writes, which another event confirms.
 * - `harmless`: it changed nothing.
 * - `undecided`: it has no time, or is older than the entries that were searched.
 */
export type MatchedEvent = { event: AccountEvent; at: number | undefined } & (
  | { is: 'confirms'; entry: AuditEntry }
  | { is: 'outside'; nearOwnWrite: boolean }
  | { is: 'harmless' }
  | { is: 'undecided' }
)

/**
 * Matches the account's events with Lockkeeper's own writes. Each write has one event, the nearest in time. Somebody else caused any other
 * event at that time. All writes since `since` are known; undefined means all writes.
 */
export function matchEvents(
  events: AccountEvent[],
  entries: AuditEntry[],
  since: number | undefined,
  catalog: EventActions,
): MatchedEvent[] {
  const timed = events.map((event) => ({ event, at: timeOf(event), words: wordsOfAction(event.action) }))
  const pairs = ownWritesIn(entries, catalog)
    .flatMap((write) =>
      timed.flatMap(({ event, at, words }) => (at !== undefined && fits({ event, at, words }, write) ? [{ event, at, write }] : [])),
    )
    .toSorted((a, b) => Math.abs(a.at - a.write.sentAt) - Math.abs(b.at - b.write.sentAt))
  const confirmed = new Map<AccountEvent, AuditEntry>()
  const matched = new Set<OwnWrite>()
  for (const { event, write } of pairs) {
    if (confirmed.has(event) || matched.has(write)) continue
    confirmed.set(event, write.entry)
    matched.add(write)
  }
  const near = new Set(pairs.map(({ event }) => event))

  return timed.map(({ event, at }): MatchedEvent => {
    const entry = confirmed.get(event)
    if (entry) return { event, at, is: 'confirms', entry }
    if (!mayChange(event)) return { event, at, is: 'harmless' }
    if (at === undefined || (since !== undefined && at < since)) return { event, at, is: 'undecided' }
    return { event, at, is: 'outside', nearOwnWrite: near.has(event) }
  })
}

function timeOf({ createdAt }: AccountEvent): number | undefined {
  const at = Date.parse(createdAt ?? '')
  return Number.isNaN(at) ? undefined : at
}

function fits({ event, at, words }: { event: AccountEvent; at: number; words: string[] }, write: OwnWrite): boolean {
  const { targetId, actions, sentAt, until } = write
  return event.target?.id === targetId && at >= sentAt - clocksDifferMs && at <= until && words.some((word) => actions.includes(word))
}
