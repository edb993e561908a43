import type { Projects } from '../../domain/policy/policy.ts'
import { quote } from '../notation.ts'
import { isAscii, isLine, listOf, quotesNeeded } from './values.ts'

/** A project in a rule. `bare` is a name that was written like an id, without `{name: …}`. */
export type ProjectEntry = { id: string } | { name: string; bare: boolean }

/** The account API's ids of projects. A word of this form never counts as a name. */
const isProjectId = (text: string) => text.startsWith('proj_')

export const projectList = listOf<ProjectEntry>({
  expected: 'project ids (proj_…) and names such as {name: Storefront}, each in one line of up to 100 characters',
  read: readEntry,
  labelOf: projectKey,
  whenEmpty: 'name a project, or remove it for every project',
  hint: (item) =>
    typeof item === 'string' && isProjectId(item.trim()) ? ': an id has only ASCII characters. Copy it again' : quotesNeeded(item),
})

function readEntry(item: unknown): ProjectEntry | undefined {
  const word = readWord(item)
  if (word !== undefined && isProjectId(word)) return isAscii(word) ? { id: word } : undefined
  if (word !== undefined) return { name: word, bare: true }
  if (typeof item !== 'object' || item === null || Object.keys(item).join() !== 'name') return undefined
  const name = readWord((item as { name: unknown }).name)
  return name === undefined ? undefined : { name, bare: false }
}

function readWord(item: unknown): string | undefined {
  return typeof item === 'string' && isLine(item.trim(), 100) ? item.trim() : undefined
}

/** Returns the entry as it is best written. An id and a name never have the same key. */
export function projectKey(entry: ProjectEntry): string {
  return 'id' in entry ? entry.id : `{name: ${entry.name}}`
}

export function toProjects(entries: ProjectEntry[]): Projects {
  return {
    ids: entries.flatMap((entry) => ('id' in entry ? [entry.id] : [])),
    names: entries.flatMap((entry) => ('name' in entry ? [entry.name] : [])),
  }
}

/** Returns a sentence for an entry that is a name but may have been meant as an id. */
export function bareNameWarning(entry: ProjectEntry): string | undefined {
  if (!('bare' in entry) || !entry.bare) return undefined
  const name = quote(entry.name, 100)
  return `${name} in projects is read as a name. Write a name as {name: ${name}}, or use the id (proj_…), which nobody can change`
}
