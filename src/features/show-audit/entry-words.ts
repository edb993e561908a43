import type { AuditEntry } from '../../audit/entry.ts'
import type { Catalog } from '../../requests/catalog.ts'
import { explain } from '../../requests/messages/causes.ts'

/** What the changes say of what they did. */
export type WordsOfChanges = Pick<Catalog, 'sentenceOf' | 'changeIfKnown' | 'kinds' | 'labelOf'>

/** What an entry is about: `Move 203.0.113.10 from web-1 to web-2`. Undefined if it is about no request. */
export function subjectOf({ kind, resource, facts }: AuditEntry, catalog: WordsOfChanges): string | undefined {
  return kind === undefined || resource === undefined ? undefined : catalog.sentenceOf({ kind, resource, facts })
}

/** Why something ended as it did, a sentence for each cause. */
export function causesInWords({ kind, causes = [] }: AuditEntry, catalog: WordsOfChanges): string[] {
  const change = catalog.changeIfKnown(kind ?? '')
  return causes.map((cause) => explain(change, cause).why)
}
