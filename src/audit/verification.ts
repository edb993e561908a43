import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { ConfigError, type Environment, readAuditConfig } from '../config/config.ts'
import { StartError, StoreUnavailableError } from '../domain/errors.ts'
import { createKeyring, type Keyring, type Verdict } from '../domain/signing.ts'
import { within } from '../domain/within.ts'
import { describeError } from '../ops/log.ts'
import { guardStore, type Redis, withRedis } from '../redis/connect.ts'
import { createKeys, type Keys } from '../redis/key-names.ts'
import { type AuditEntry, createVerifier, type Head, hashOf, parseEntry, readPrintedLine, timeOf, verifyNote } from './chain.ts'

const pageSize = 1_000

/** A running worker chains a note within this time. */
const chainedWithinMs = 60_000

interface Connection {
  redis: Redis
  keys: Keys
}

/** An entry of the chain. `at` is when it was noted and `chainedAt` when it was chained, in ms since 1970 by Redis' clock. */
interface WalkedEntry {
  text: string
  entry: AuditEntry
  hash: string
  chainedAt: number
}

interface Walk {
  breaks: string[]
  count: number
  first: AuditEntry | undefined
  last: WalkedEntry | undefined
}

/** Reads the whole chain, entry by entry, including those that join it during the walk. Writes nothing. */
async function walkAudit({ redis, keys }: Connection, onEntry: (walked: WalkedEntry) => void): Promise<Walk> {
  const verifier = createVerifier()
  const walk: Walk = { breaks: [], count: 0, first: undefined, last: undefined }
  let from = '-'
  for (;;) {
    // Read before the entries: if none follows, it must name the last one.
    const [seq, hash] = await runCommand(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    const page = await runCommand(() => redis.xrange(keys.audit, from, '+', 'COUNT', pageSize))
    for (const [id, [, text = '']] of page) {
      from = `(${id}`
      walk.count += 1
      const fault = verifier.next(text)
      if (fault) walk.breaks.push(fault)
      const entry = parseEntry(text)
      if (!entry) continue
      walk.first ??= entry
      walk.last = { text, entry, hash: hashOf(text), chainedAt: timeOf(id) }
      onEntry(walk.last)
    }
    if (page.length > 0) continue
    walk.breaks.push(...faultsAtEnd(verifier.last() ?? { seq: 0 }, { seq: Number(seq ?? 0), hash: hash ?? '' }))
    return walk
  }
}

function faultsAtEnd(last: { seq: number; hash?: string }, head: Head): string[] {
  if (head.hash === '' && last.seq > 0) return ['The head of the chain is missing: it should name the last entry.']
  const named = `The chain ends with entry ${last.seq}, and its head names entry ${head.seq}`
  if (head.seq > last.seq) return [`${named}: the last entries are missing.`]
  if (head.seq < last.seq) return [`${named}: the head was set back, or entries were inserted.`]
  return last.seq > 0 && head.hash !== last.hash ? [`The head of the chain has another hash than its last entry (${last.seq}).`] : []
}

async function faultsInIntake({ redis, keys }: Connection): Promise<string[]> {
  const [waiting, [oldest], [seconds]] = await runCommand(() =>
    Promise.all([redis.xlen(keys.auditIntake), redis.xrange(keys.auditIntake, '-', '+', 'COUNT', 1), redis.time()]),
  )
  const since = oldest && timeOf(oldest[0])
  if (since === undefined || Number(seconds) * 1_000 - since <= chainedWithinMs) return []
  return [
    `${waiting === 1 ? '1 note waits' : `${waiting} notes wait`} to join the chain, the first since ${utc(since)} (UTC): no process chains them. Is a bot running?`,
  ]
}

function utc(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString().slice(0, 16).replace('T', ' ')
}

/** An entry that was chained within this time before the log was read may not be in the log yet. */
const printedWithinMs = 60_000

interface PrintedLog {
  /** By the number of an entry: the hashes of its lines. After Redis lost data, a number is used again. */
  lines: Map<number, Set<string>>
  breaks: string[]
}

/** The files together are one log. `-` is the standard input. Throws StartError if one cannot be read, or none has a line of the audit. */
export async function readLogs(paths: string[]): Promise<PrintedLog> {
  const log: PrintedLog = { lines: new Map(), breaks: [] }
  for (const path of paths) {
    const lines = createInterface({ input: path === '-' ? process.stdin : createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
    try {
      for await (const line of lines) readLine(line, log)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given'
      throw new StartError(`${path} cannot be read (${code}).`)
    }
  }
  if (paths.length > 0 && log.lines.size === 0) throw new StartError(`No line of the audit in ${paths.join(' and ')}.`)
  return log
}

function readLine(line: string, { lines, breaks }: PrintedLog): void {
  const printed = readPrintedLine(line)
  if (!printed) return
  const { seq, entry, hash } = printed
  if (hashOf(entry) !== hash) breaks.push(`The log's line of entry ${seq} was changed: its hash doesn't match its text.`)
  // A log can contain a line twice: if a process ends while it prints, another process prints all lines again.
  lines.set(seq, (lines.get(seq) ?? new Set()).add(hash))
}

/** Takes the lines out of `lines` that the chain has, too. */
function createComparison(lines: PrintedLog['lines'], readAt: number) {
  const matched = new Set<number>()
  /** Entries without a line, and whether they are old enough to have one. */
  const unmatched = new Map<number, boolean>()
  const begin = [...lines.keys()].reduce((a, b) => Math.min(a, b))
  /** An older log was not kept. The hash of each line that matches covers all entries before it. */
  const isCovered = (seq: number) => seq < begin && matched.size > 0

  function onEntry({ entry: { seq }, hash, chainedAt }: WalkedEntry): void {
    if (lines.get(seq)?.delete(hash)) matched.add(seq)
    else unmatched.set(seq, chainedAt < readAt - printedWithinMs)
  }

  function result({ first }: Walk) {
    const strays = [...lines].flatMap(([seq, left]) => (left.size > 0 && seq >= (first?.seq ?? 0) ? [seq] : [])).toSorted((a, b) => a - b)
    const isInChain = (seq: number) => matched.has(seq) || unmatched.has(seq)
    const different = strays.filter(isInChain)
    const notInChain = strays.filter((seq) => !isInChain(seq))
    const notInLog = [...unmatched].filter(([seq, isOld]) => isOld && !lines.has(seq) && !isCovered(seq)).map(([seq]) => seq)
    const breaks = [
      ...ranges(different, 'not the same in the chain and in the log.'),
      ...ranges(notInLog, 'in the chain and not in the log. Give it the complete log of every replica.'),
      ...ranges(notInChain, 'in the log and not in the chain.'),
    ]
    return { breaks, matched: matched.size, begin }
  }

  return { onEntry, result }
}

/** Says the same of numbers, with one line for those that follow each other: `Entry 4 is missing.`, `Entries 7 to 9 are missing.` */
function ranges(numbers: number[], rest: string): string[] {
  const found: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last.to + 1) last.to = number
    else found.push({ from: number, to: number })
  }
  return found.map(({ from, to }) => `${from === to ? `Entry ${from} is` : `Entries ${from} to ${to} are`} ${rest}`)
}

/** Lockkeeper noticed that Redis lost data, and froze everything by itself. */
interface Loss {
  seq: number
  at: number
  words: string
}

const lossWords: Record<string, string> = { 'data-lost': 'Redis lost data', 'set-back': 'Redis went back to an older state' }

function createSignatureCheck(keyring: Pick<Keyring, 'verify'>) {
  const notGenuine: Record<Exclude<Verdict, 'genuine'>, number[]> = { unsigned: [], forged: [], 'unknown-key': [] }
  const copies: { seq: number; of: number }[] = []
  const notes = new Map<string, number>()
  let removedThrough = 0
  const losses: Loss[] = []

  function onEntry({ entry, text }: WalkedEntry): void {
    const { seq, at, act, noteId = '', through = 0, causes = [] } = entry
    const verdict = verifyNote(keyring, JSON.parse(text))
    if (verdict !== 'genuine') return void notGenuine[verdict].push(seq)
    const of = notes.get(noteId)
    if (of !== undefined) return void copies.push({ seq, of })
    notes.set(noteId, seq)
    if (act === 'trim') removedThrough = Math.max(removedThrough, through)
    const words = act === 'freeze' ? causes.map(({ code }) => lossWords[code]).find((each) => each !== undefined) : undefined
    if (words !== undefined) losses.push({ seq, at, words })
  }

  function breaks(): string[] {
    return [
      ...ranges(notGenuine.unsigned, 'not signed: Lockkeeper did not write it.'),
      ...ranges(notGenuine.forged, "not genuine: its signature doesn't match."),
      ...ranges(
        notGenuine['unknown-key'],
        'signed with a key that STATE_KEY does not have. Add the keys that were used before, separated by commas.',
      ),
      ...copies.map(({ seq, of }) => `Entry ${seq} is a copy of entry ${of}.`),
    ]
  }

  /** Entries at the beginning may be missing only if a signed note says that they were removed because of their age. */
  function faultsAtBeginning({ first }: Walk): string[] {
    if (!first || first.seq <= removedThrough + 1) return []
    const noted = removedThrough === 0 ? 'none' : `those up to ${removedThrough}`
    return [`The chain begins with entry ${first.seq}, and the bot has removed ${noted} because of their age: others are missing.`]
  }

  return { onEntry, breaks, faultsAtBeginning, losses }
}

const answerMs = 5_000

const notChecked = 'Signatures were not checked: that needs STATE_KEY, or INFRA_API_KEY if the bot has no STATE_KEY.'

/** `matched`: how many entries are in the log, which begins with entry `begin`. */
function wholeSentence({ first, last, count }: Walk, { matched, begin }: { matched: number; begin: number }, areSigned: boolean): string {
  if (!first || !last) return 'Nothing to verify: the chain is empty. Check REDIS_URL and REDIS_PREFIX, and whether Redis lost its data.'
  const grouped = (number: number) => number.toLocaleString('en-US')
  const older = first.seq > 1 ? ` (${grouped(first.seq - 1)} older ones were removed because of their age)` : ''
  const span = `from ${utc(first.at)} to ${utc(last.entry.at)} (UTC), last hash ${last.hash.slice(0, 16)}…`
  const logBegins = begin > first.seq ? ` begins with entry ${begin} and` : ''
  return [
    `The chain is whole: ${grouped(count)} ${count === 1 ? 'entry' : 'entries'}${older}, ${span}.`,
    ...(matched > 0 ? [`The log${logBegins} matches in ${grouped(matched)} ${matched === 1 ? 'entry' : 'entries'}.`] : []),
    areSigned ? 'All signatures are genuine.' : notChecked,
  ].join(' ')
}

function lossSentence({ seq, at, words }: Loss): string {
  return `${words}. Lockkeeper noticed it on ${utc(at)} (UTC), in entry ${seq}. If nobody restored Redis then, find out what happened.`
}

interface Checked {
  exitCode: 0 | 1 | 2 | 3 | 4
  lines: string[]
}

async function verify(env: Environment, paths: string[]): Promise<Checked> {
  const { url, sentinelPassword, prefix, signingSecrets } = readAuditConfig(env)
  const trusted = signingSecrets && createSignatureCheck(createKeyring(signingSecrets, { purpose: 'audit', prefix }))
  // Without a key, every signature counts as genuine.
  const signatures = trusted ?? createSignatureCheck({ verify: () => 'genuine' })
  return withRedis<Checked>({ url, sentinelPassword }, async (redis) => {
    const [seconds] = await runCommand(() => redis.time())
    const log = await readLogs(paths)
    const comparison = log.lines.size > 0 ? createComparison(log.lines, Number(seconds) * 1_000) : undefined
    const connection = { redis, keys: createKeys(prefix) }
    const walk = await walkAudit(connection, (walked) => {
      signatures.onEntry(walked)
      comparison?.onEntry(walked)
    })
    const losses = signatures.losses.map(lossSentence)
    const ofChain = [
      ...walk.breaks,
      ...(await faultsInIntake(connection)),
      ...signatures.faultsAtBeginning(walk),
      ...(trusted?.breaks() ?? []),
    ]
    const compared = comparison?.result(walk) ?? { breaks: [], matched: 0, begin: 0 }
    const breaks = [...ofChain, ...log.breaks, ...compared.breaks]
    if (breaks.length > 0) return { exitCode: 1, lines: [...breaks, ...losses, ...(trusted ? [] : [notChecked])] }
    const whole = wholeSentence(walk, compared, trusted !== undefined)
    return { exitCode: walk.count === 0 ? 3 : losses.length > 0 ? 4 : 0, lines: [whole, ...losses] }
  })
}

async function runCommand<T>(command: () => Promise<T>): Promise<T> {
  const answer = await within(answerMs, guardStore(command))
  if (answer.is === 'ready') return answer.value
  answer.work.catch(() => {})
  throw new StoreUnavailableError('Redis: no answer')
}

/**
 * `exitCode` 0: the chain has no fault. 1: `output` has a line for each fault. 2: it could not be read. 3: it is empty. 4: it has no fault besides
 * losses of data that Lockkeeper noticed.
 */
export async function checkAudit(env: Environment, paths: string[]): Promise<{ exitCode: Checked['exitCode']; output: string }> {
  const { exitCode, lines } = await verify(env, paths).catch((error: unknown): Checked => {
    if (error instanceof ConfigError) return { exitCode: 2, lines: error.lines }
    return { exitCode: 2, lines: [error instanceof StartError ? error.message : JSON.stringify(describeError(error))] }
  })
  return { exitCode, output: `${lines.join('\n')}\n` }
}
