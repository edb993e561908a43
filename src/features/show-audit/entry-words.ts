import type { AuditEntry } from '../../audit/entry.ts'
import type { Catalog } from '../../requests/catalog.ts'
import { explain } from '../../requests/messages/causes.ts'

/** The words of the changes. */
export type WordsOfChanges = Pick<Catalog, 'sentenceOf' | 'changeIfKnown' | 'kinds' | 'labelOf'>

/** Returns the sentence of the entry's request: `Move 203.0.113.10 from web-1 to web-2`. Returns undefined if the entry has no request. */
export function subjectOf({ kind, resource, facts }: AuditEntry, catalog: WordsOfChanges): string | undefined {
  return kind === undefined || resource === undefined ? undefined : catalog.sentenceOf({ kind, resource, facts })
}

/** Returns the sentences of the entries that have one. */
export function subjectsOf(entries: AuditEntry[], catalog: WordsOfChanges): string[] {
  return entries.map((entry) => subjectOf(entry, catalog)).filter((subject) => subject !== undefined)
}

/** Returns a sentence for each cause of an end. */
export function causesInWords({ kind, causes = [] }: AuditEntry, catalog: WordsOfChanges): string[] {
  const change = catalog.changeIfKnown(kind ?? '')
  return causes.map((cause) => explain(change, cause).why)
}
