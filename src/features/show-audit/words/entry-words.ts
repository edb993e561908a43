import type { AuditEntry } from '../../../audit/entry.ts'
import type { FoundEntry } from '../../../audit/find-entries.ts'
import type { Change } from '../../../domain/change/change.ts'
import { phraseText } from '../../../domain/text/phrase.ts'
import type { Catalog } from '../../../requests/catalog.ts'
import { explain } from '../../../requests/messages/refusals/causes.ts'

/** The part of the catalog that puts changes into words. */
export type WordsOfChanges = Pick<Catalog, 'titleOf' | 'changeIfKnown' | 'kinds' | 'labelOf'>

/** Returns the title of the entry's request: `Move 203.0.113.10: web-1 → web-2`. Returns undefined if the entry has no request. */
export function subjectOf(entry: AuditEntry, catalog: WordsOfChanges): string | undefined {
  const { kind, item, resource, facts } = entry
  if (kind === undefined || resource === undefined) return undefined
  const parsed = item === undefined ? undefined : changeOf(entry, catalog)?.facts.safeParse(facts)
  const own = parsed?.success ? changeOf(entry, catalog)?.describe(parsed.data).title : undefined
  return phraseText(own ?? catalog.titleOf({ kind, resource, facts }))
}

/** Returns what people call the resource: `203.0.113.10`. Undefined if the entry does not say it, or may be forged. */
export function resourceNameOf(entry: FoundEntry, catalog: WordsOfChanges): string | undefined {
  const change = changeOf(entry, catalog)
  const parsed = change?.facts.safeParse(entry.facts)
  return change && parsed?.success && entry.verdict === 'genuine' ? change.subject(parsed.data) : undefined
}

/** Returns the titles of the entries that have one. */
export function subjectsOf(entries: AuditEntry[], catalog: WordsOfChanges): string[] {
  return entries.map((entry) => subjectOf(entry, catalog)).filter((subject) => subject !== undefined)
}

/** Returns a sentence for each cause of an end. */
export function causesInWords(entry: AuditEntry, catalog: WordsOfChanges): string[] {
  const change = catalog.changeIfKnown(entry.kind ?? '')
  return (entry.causes ?? []).map((cause) => explain(change, cause).why)
}

/** Returns the change that an entry is about: that of one item, for an entry about an item. */
function changeOf({ kind, item }: AuditEntry, catalog: WordsOfChanges): Change | undefined {
  const change = catalog.changeIfKnown(kind ?? '')
  return item === undefined ? change : change?.items?.change
}
