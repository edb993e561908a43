import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'

// Counts the words of the messages in the generated documents, and compares them with those of another commit: `npm run sentences -- <commit>`.

const documents = globSync('test/messages/*.md').toSorted()

/** What the documents mark and nobody reads: the style of a button, the code of a denial, where a warning stands, that there is no next step, and emoji. The reasons in them are people's. */
const marks =
  /:[a-z_]+:|(?<=^(?:Reason|Rejected because|Requested because|(?:Reason for the emergency approval|Emergency reason)): ).*|(?:, (?:primary|danger|asks once more))+(?=\])|^[a-z-]+: |^(?:to check|small print): | → nothing to do$/g

/** What has a digit is an address, an id or a time: data, and not a word. */
function wordsIn(text: string): number {
  return (text.match(/\p{L}[^\s·|→]*/gu) ?? []).filter((word) => !/\d/.test(word)).length
}

/** Sections of the document by their headings, each with the words that people read, once: a notification repeats its message. */
function sectionsOf(text: string): Map<string, number> {
  const parts = text.split(/^## /m).slice(1)
  return new Map(
    parts.map((part) => {
      const [heading = '', ...lines] = (part.split('\n--- in words ---')[0] ?? '').split('\n')
      const shown = lines
        .filter((line) => !line.startsWith('```'))
        .map((line) => line.replaceAll(marks, ''))
        .join(' ')
        .replaceAll(/<[^>|]*\|([^>]*)>/g, '$1')
      return [heading, wordsIn(shown)]
    }),
  )
}

const [commit] = process.argv.slice(2)
const rows = documents.map((path) => {
  const now = sectionsOf(readFileSync(path, 'utf8'))
  const before = commit === undefined ? now : sectionsOf(textAt(commit, path))
  // Only messages that exist in both are compared.
  const kept = [...now.keys()].filter((heading) => before.has(heading))
  const sum = (sections: Map<string, number>) => kept.reduce((all, heading) => all + (sections.get(heading) ?? 0), 0)
  return { path, messages: kept.length, before: sum(before), now: sum(now) }
})
const total = (member: 'before' | 'now') => rows.reduce((sum, row) => sum + row[member], 0)
for (const { path, messages, before, now } of rows) console.log(`${path}: ${now} words in ${messages} messages, before ${before}`)
console.log(`Together: ${total('now')}, before ${total('before')}: ${Math.round((100 * total('now')) / total('before'))} %`)

function textAt(at: string, path: string): string {
  try {
    return execFileSync('git', ['show', `${at}:${path}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}
