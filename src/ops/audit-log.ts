import { writeSync } from 'node:fs'

/** Writes the audit's lines, each whole, to standard output. */
export function createAuditLog({ write = (text: string) => void writeSync(1, text) } = {}) {
  return (line: string): void => write(`${line}\n`)
}
