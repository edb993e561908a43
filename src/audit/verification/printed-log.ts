import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { StartError } from '../../domain/errors/errors.ts'
import { hashOf, readPrintedLine } from '../chain.ts'
import type { Walk, WalkedLink } from './walk.ts'

/** An entry that was chained within this time before the log was read may not be in the log yet. */
const printedWithinMs = 60_000

interface PrintedLog {
  /** The hash of each line, by the number of its entry. */
  hashes: Map<number, string>
  breaks: string[]
}

/** Reads the audit's lines from files that together are one log. Throws StartError if a file cannot be read. */
export async function readLogs(paths: string[]): Promise<PrintedLog> {
  const log: PrintedLog = { hashes: new Map(), breaks: [] }
  for (const path of paths) {
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
    try {
      for await (const line of lines) readLine(line, log)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given'
      throw new StartError(`${path} cannot be read (${code}).`)
    }
  }
  if (paths.length > 0 && log.hashes.size === 0) log.breaks.push(`${paths.join(' and ')} holds no line of the audit.`)
  return log
}

function readLine(line: string, { hashes, breaks }: PrintedLog): void {
  const printed = readPrintedLine(line)
  if (!printed) return
  const { seq, entry, hash } = printed
  if (hashOf(entry) !== hash) breaks.push(`The log's line of entry ${seq} was changed: its hash doesn't match its text.`)
  // A log can contain a line twice: if a process ends while it prints, another process prints all lines again.
  if ((hashes.get(seq) ?? hash) !== hash) breaks.push(`The log has two different lines for entry ${seq}.`)
  hashes.set(seq, hash)
}

/** Compares the links of the chain with a log, one by one. */
export function createComparison({ hashes }: PrintedLog, readAt: number) {
  const unmatched = new Set(hashes.keys())
  const notInLog: number[] = []
  const different: number[] = []

  function onLink({ seq, hash, chainedAt }: WalkedLink): void {
    const printed = hashes.get(seq)
    unmatched.delete(seq)
    if (printed === undefined && chainedAt < readAt - printedWithinMs) notInLog.push(seq)
    if (printed !== undefined && printed !== hash) different.push(seq)
  }

  function breaks({ first }: Walk): string[] {
    const notInChain = [...unmatched].filter((seq) => seq >= (first?.seq ?? 0)).toSorted((a, b) => a - b)
    return [
      ...ranges(different).map((range) => `${range} not the same in the chain and in the log.`),
      ...ranges(notInLog).map((range) => `${range} in the chain and not in the log. Give it the complete log of every replica.`),
      ...ranges(notInChain).map((range) => `${range} in the log and not in the chain.`),
    ]
  }

  return { onLink, breaks }
}

const plurals = { Entry: 'Entries', Note: 'Notes' }

/** Puts numbers that follow each other into one subject: `Entry 4 is`, `Entries 7 to 9 are`. */
export function ranges(numbers: number[], noun: keyof typeof plurals = 'Entry'): string[] {
  const found: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last.to + 1) last.to = number
    else found.push({ from: number, to: number })
  }
  return found.map(({ from, to }) => (from === to ? `${noun} ${from} is` : `${plurals[noun]} ${from} to ${to} are`))
}
