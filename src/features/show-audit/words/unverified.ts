import type { FoundEntry } from '../../../audit/find-entries.ts'

/** Why an entry cannot count as written by Lockkeeper. */
const reasons = {
  unsigned: "it isn't signed",
  forged: "its signature doesn't match",
  'unknown-key': "it was signed with a key that Lockkeeper doesn't have",
  copied: 'it is a copy of an older entry',
} satisfies Record<Exclude<FoundEntry['verdict'], 'genuine'>, string>

/** Says why an entry cannot be verified. Undefined for a genuine one. */
export function whyUnverified({ verdict }: FoundEntry): string | undefined {
  return verdict === 'genuine' ? undefined : reasons[verdict]
}

/** Says how many of the entries cannot be verified, and why: `1 of 6 entries: it isn't signed`. Undefined if all are genuine. */
export function unverifiedAmong(entries: FoundEntry[]): string | undefined {
  const why = entries.map(whyUnverified).filter((reason) => reason !== undefined)
  if (why.length === 0) return undefined
  const count = entries.length === 1 ? '' : `${why.length} of ${entries.length} entries: `
  return `${count}${[...new Set(why)].join('; ')}`
}
