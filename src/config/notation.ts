import { readFileSync } from 'node:fs'
import { parseDuration } from '../domain/text.ts'

// The formats of values. The variables and the policy file share them.

export const isPersonOrGroupId = (text: string): boolean => /^[UWS][A-Z0-9]{2,}$/.test(text)
export const isChannelId = (text: string): boolean => /^[CG][A-Z0-9]{2,}$/.test(text)

/** Node's timers cannot wait longer than 24.8 days. */
const longestMs = 24 * 86_400_000

export const durationWords = 'a duration such as 500ms, 5s, 15m or 4h, at most 24d'

export function readDuration(text: string): number | undefined {
  const ms = parseDuration(text)
  return ms !== undefined && ms <= longestMs ? ms : undefined
}

/** Quotes a value for an error and cuts it to `longest` characters. Hides a value that looks like a token entered in the wrong place. */
export function quote(text: string, longest = 40): string {
  return /^x(ox|app)|\bx(ox\w|app)-|:\/\//.test(text) ? 'the value that it has' : JSON.stringify(text.slice(0, longest))
}

export type ReadFile = (path: string) => string

export const readFromDisk: ReadFile = (path) => readFileSync(path, 'utf8')

/** Returns the text of a file, or why it cannot be read, as the end of a sentence about its path. Never throws. */
export function readText(path: string, readFile: ReadFile): { text: string } | { why: string } {
  try {
    return { text: readFile(path) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'no reason given'
    return { why: `cannot be read (${code}). Relative paths start at the working directory` }
  }
}
