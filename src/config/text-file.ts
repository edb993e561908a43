import { readFileSync } from 'node:fs'

/** Returns the text of a file. The path may be relative to the working directory. */
export type ReadFile = (path: string) => string

export const readFromDisk: ReadFile = (path) => readFileSync(path, 'utf8')

/** Returns the text of a file, or why it cannot be read, as the end of a sentence about its path. Never throws. */
export function readText(path: string, readFile: ReadFile): { text: string } | { why: string } {
  try {
    return { text: readFile(path) }
  } catch (error) {
    return { why: whyUnreadable(error) }
  }
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'was not found (relative paths start at the working directory)'
  if (code === 'EACCES' || code === 'EPERM') return 'is not readable by the user that Lockkeeper runs as'
  if (code === 'EISDIR') return 'is a directory: name the file in it'
  return `cannot be read${code ? ` (${code})` : ''}`
}
