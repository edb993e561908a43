import type { AuditEntry } from '../../audit/entry.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import type { WordsOfChanges } from './entry-words.ts'
import type { JudgedEvent } from './judge-events.ts'
import { entryRow, eventRow } from './messages.ts'

/** Entries and events by time, newest first. An event that confirms an entry stands beneath it, where that is shown. Pure. */
export function auditRows(entries: AuditEntry[], events: JudgedEvent[], catalog: WordsOfChanges): Mrkdwn[] {
  const shown = new Set(entries.map(({ seq }) => seq))
  const isBeneath = (judged: JudgedEvent) => judged.is === 'confirms' && shown.has(judged.entry.seq)
  const ofEntries = entries
    .toSorted((a, b) => b.seq - a.seq)
    .map((entry) => {
      const confirmedBy = events.filter((judged) => judged.is === 'confirms' && judged.entry.seq === entry.seq)
      return { at: entry.at, row: entryRow(entry, confirmedBy, catalog) }
    })
  const ofEvents = events.filter((judged) => !isBeneath(judged)).map((judged) => ({ at: judged.at ?? 0, row: eventRow(judged) }))
  return [...ofEvents, ...ofEntries].toSorted((a, b) => b.at - a.at).map(({ row }) => row)
}
