import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textsOfHtml } from './sentences/in-html.ts'
import { sentencesInMarkdown } from './sentences/in-markdown.ts'
import { sentencesInComments, sentencesInYaml } from './sentences/in-settings.ts'
import { sentencesInSource } from './sentences/in-source.ts'
import type { Sentence } from './sentences/sentence.ts'

const root = join(import.meta.dirname, '..')

/** The folders whose files show something to people. Of the tests, only the sandbox does. */
const folders = ['src', 'test/sandbox', 'scripts', 'docs', 'deploy', '.github']

const isRead = (path: string) => !/\.test\.ts$|(?:^|\/)node_modules\/|package-lock/.test(path)

/** Collects every text of the project that a person can read, in the order of the files. */
export function collectSentences(): Sentence[] {
  return [...filesIn('.', { recursive: false }), ...folders.flatMap((folder) => filesIn(folder))].filter(isRead).flatMap(sentencesOf)
}

function filesIn(folder: string, { recursive = true } = {}): string[] {
  try {
    const entries = readdirSync(join(root, folder), { recursive, withFileTypes: true }).filter((entry) => entry.isFile())
    return entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).toSorted()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function sentencesOf(path: string): Sentence[] {
  const read = () => readFileSync(join(root, path), 'utf8')
  if (/\.[jt]s$/.test(path)) return sentencesInSource(path, read())
  if (path.endsWith('.md')) return sentencesInMarkdown(path, read())
  if (/\.ya?ml$/.test(path)) return sentencesInYaml(path, read())
  if (path.endsWith('.html')) return textsOfHtml(read()).map((text) => ({ path, line: 1, sort: 'sandbox', text }))
  if (/(?:^|\/)(?:\.env\.example|Dockerfile|Caddyfile)$|\.(?:conf|service|acl)$/.test(path)) return sentencesInComments(path, read())
  return []
}

if (import.meta.main) for (const { path, line, sort, text } of collectSentences()) console.log(`${path}:${line}\t${sort}\t${text}`)
