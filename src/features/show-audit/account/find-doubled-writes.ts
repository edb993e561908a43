import type { AuditEntry } from '../../../audit/entry.ts'
import type { Audit } from '../../../audit/intake.ts'
import type { AccountEvents } from './account-events.ts'
import { type MatchedEvent, matchEvents } from './match-events.ts'
import { type EventActions, type OwnWrite, ownWritesIn } from './own-writes.ts'

/** How far back writes are compared. */
const windowMs = 3_600_000

/** How many entries of the audit are searched at most. */
const mostEntries = 20_000

/** How many resources are read at once. The next run reads others. */
const mostResources = 10

/** How many writes a process remembers as compared. Beyond that it compares some again. */
const mostCompared = 10_000

interface FindDoubledWritesParts {
  audit: Pick<Audit, 'find'>
  accountEvents: Pick<AccountEvents, 'readEvents'>
  catalog: EventActions
  /** Redis' clock, in ms since 1970. */
  now: () => Promise<number>
  /** Receives the request of a write that the account shows twice. */
  onDoubled: (requestId: string) => Promise<void> | void
}

/**
 * Creates the comparison of Lockkeeper's own writes of the last hour with the account's events. A write is doubled if a second event has
 * the same action, target, author and time, and no other write by Lockkeeper explains it. If an author is missing, the write is not
 * reported. Each write is compared once, after its events had time to appear.
 */
export function createFindDoubledWrites({ audit, accountEvents, catalog, now, onDoubled }: FindDoubledWritesParts) {
  const compared = new Set<string>()

  return async function findDoubledWrites(): Promise<void> {
    const at = await now()
    const { entries } = await audit.find(({ requestId }) => requestId !== undefined, {
      limit: mostEntries,
      scan: mostEntries,
      since: at - windowMs,
      onlyGenuine: true,
    })
    const fresh = ownWritesIn(entries, catalog).filter((write) => write.until < at && !compared.has(nameOf(write.entry)))
    const targets = [...new Set(fresh.map(({ targetId }) => targetId))].slice(0, mostResources)
    if (targets.length === 0) return
    const resources = targets.map((targetId) => ({ targetId, name: targetId }))
    const { events, read } = await accountEvents.readEvents(resources, new Date(at - windowMs))
    const isRead = new Set(read.map(({ targetId }) => targetId))
    const matched = matchEvents(events, entries, at - windowMs, catalog)
    const writes = fresh.filter(({ targetId }) => isRead.has(targetId))
    for (const write of writes) if (isDoubled(write, matched)) await onDoubled(write.entry.requestId ?? '')
    if (compared.size > mostCompared) compared.clear()
    for (const write of writes) compared.add(nameOf(write.entry))
  }
}

/** Names a write. The step is part of it, because a secret that nobody saw is deleted with a second write. */
function nameOf({ requestId, item = '', act }: AuditEntry): string {
  return `${requestId} ${item} ${act}`
}

/** Whether the account shows a write and another one just like it. */
function isDoubled({ entry }: OwnWrite, matched: MatchedEvent[]): boolean {
  const own = matched.find((one) => one.is === 'confirms' && nameOf(one.entry) === nameOf(entry))?.event
  if (own?.author?.id === undefined) return false
  return matched.some(
    (one) =>
      one.is === 'outside' &&
      one.nearOwnWrite &&
      one.event.action === own.action &&
      one.event.target?.id === own.target?.id &&
      one.event.author?.id === own.author?.id,
  )
}
