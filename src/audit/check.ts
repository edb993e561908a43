import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { ConfigError, readRedisConfig } from '../config/config.ts'
import type { Environment } from '../config/given.ts'
import { StartError, StoreUnavailableError } from '../domain/errors.ts'
import { within } from '../domain/within.ts'
import { describeError } from '../ops/log/safe-value.ts'
import { connectRedis, guardStore } from '../redis/connect.ts'
import { createKeys } from '../redis/key-names.ts'
import { hashOf, readPrintedLine } from './chain.ts'
import { utc, type Walk, type WalkedLink, walkAudit } from './walk.ts'

/** How long one command may take. The first includes the connection. */
const answerMs = 5_000

/** An entry that was chained within this time before the log was read may not be in the log yet. */
const printedWithinMs = 60_000

interface PrintedLog {
  /** The hash of each line, by the number of its entry. */
  hashes: Map<number, string>
  breaks: string[]
}

/** Reads the audit's lines from files that together are one log. Throws StartError if a file cannot be read. */
async function readLogs(paths: string[]): Promise<PrintedLog> {
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
  if (hashOf(entry) !== hash) breaks.push(`The log's line of entry ${seq} was changed: its hash is not the one of its text.`)
  // A line can be there twice: a process that ends while it prints leaves the rest to another, which prints all again.
  if ((hashes.get(seq) ?? hash) !== hash) breaks.push(`The log has two different lines for entry ${seq}.`)
  hashes.set(seq, hash)
}

/** Compares the links of the chain with a log, one by one. */
function createComparison({ hashes }: PrintedLog, readAt: number) {
  const unmatched = new Set(hashes.keys())
  const notInLog: number[] = []
  const different: number[] = []

  function onLink({ seq, hash, chainedAt }: WalkedLink): void {
    const printed = hashes.get(seq)
    unmatched.delete(seq)
    if (printed === undefined && chainedAt < readAt - printedWithinMs) notInLog.push(seq)
    if (printed !== undefined && printed !== hash) different.push(seq)
  }

  function breaks({ trimmed }: Walk): string[] {
    const notInChain = [...unmatched].filter((seq) => seq > trimmed).toSorted((a, b) => a - b)
    return [
      ...ranges(different).map((range) => `${range} not the same in the chain and in the log.`),
      ...ranges(notInLog).map(
        (range) => `${range} in the chain and not in the log. (The log is needed whole: of every replica, from the beginning.)`,
      ),
      ...ranges(notInChain).map((range) => `${range} in the log and not in the chain.`),
    ]
  }

  return { onLink, breaks }
}

/** Puts numbers that follow each other into one subject: `Entry 4 is`, `Entries 7 to 9 are`. */
function ranges(numbers: number[]): string[] {
  const found: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last.to + 1) last.to = number
    else found.push({ from: number, to: number })
  }
  return found.map(({ from, to }) => (from === to ? `Entry ${from} is` : `Entries ${from} to ${to} are`))
}

/** Says that the chain has no fault. `compared` is the number of entries in the log. */
function wholeSentence({ first, last, count, trimmed }: Walk, compared: number): string {
  if (!first || !last) return 'The chain is empty: nothing has been noted yet.'
  const entries = `${count.toLocaleString('en-US')} ${count === 1 ? 'entry' : 'entries'}`
  const older = trimmed > 0 ? ` (${trimmed.toLocaleString('en-US')} older ones were removed because of their age)` : ''
  const same = compared > 0 ? ` The log says the same (${compared.toLocaleString('en-US')} entries).` : ''
  return `The chain is whole: ${entries}${older}, from ${utc(first.at)} to ${utc(last.at)} (UTC), last hash ${last.hash.slice(0, 16)}….${same}`
}

/** Returns a sentence for each fault, and the sentence for a chain without any. Throws StartError if Redis or a log cannot be read. */
async function verify(env: Environment, paths: string[]): Promise<{ breaks: string[]; whole: string }> {
  const { url, prefix } = readRedisConfig(env)
  let problem: string | undefined
  const redis = connectRedis(url, 'patient', (code) => {
    problem = code
  })
  try {
    const [seconds] = await runCommand(() => redis.time())
    const log = await readLogs(paths)
    const comparison = createComparison(log, Number(seconds) * 1_000)
    const onLink = log.hashes.size > 0 ? comparison.onLink : () => {}
    const walk = await walkAudit({ redis, keys: createKeys(prefix), runCommand, onLink })
    const compared = log.hashes.size > 0 ? comparison.breaks(walk) : []
    return { breaks: [...walk.breaks, ...log.breaks, ...compared], whole: wholeSentence(walk, log.hashes.size) }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    const code = problem ?? error.code ?? 'no answer'
    throw new StartError(
      `Redis does not answer at REDIS_URL (${code}). Check that it runs, that the address and the password are right, and that this machine may reach it.`,
    )
  } finally {
    redis.disconnect()
  }
}

async function runCommand<T>(command: () => Promise<T>): Promise<T> {
  const answer = await within(answerMs, guardStore(command))
  if (answer.is === 'ready') return answer.value
  answer.work.catch(() => {})
  throw new StoreUnavailableError('Redis: no answer')
}

/**
 * Verifies the audit's chain and compares it with logs. `exit` 0: the chain is whole. 1: it has faults, and `said` has a line for each. 2:
 * it could not be read.
 */
export async function checkAudit(env: Environment, paths: string[]): Promise<{ exit: 0 | 1 | 2; said: string }> {
  try {
    const { breaks, whole } = await verify(env, paths)
    return breaks.length > 0 ? { exit: 1, said: `${breaks.join('\n')}\n` } : { exit: 0, said: `${whole}\n` }
  } catch (error) {
    const lines =
      error instanceof ConfigError ? error.lines : [error instanceof StartError ? error.message : JSON.stringify(describeError(error))]
    return { exit: 2, said: `${lines.join('\n')}\n` }
  }
}
