import { ConfigError, readAuditConfig } from '../../config/config.ts'
import type { Environment } from '../../config/given.ts'
import { StartError, StoreUnavailableError } from '../../domain/errors/errors.ts'
import { createKeyring } from '../../domain/signing/keyring.ts'
import { within } from '../../domain/within.ts'
import { describeError } from '../../ops/log/safe-value.ts'
import { connectRedis, guardStore } from '../../redis/connect.ts'
import { createKeys } from '../../redis/key-names.ts'
import { unreachableRedis } from '../../redis/unreachable-redis.ts'
import { createComparison, readLogs } from './printed-log.ts'
import { createSignatureCheck, type SignatureCheck } from './signature-check.ts'
import { utc, type Walk, type WalkedLink, walkAudit } from './walk.ts'

/** How long one command may take. The first includes the connection. */
const answerMs = 5_000

const notChecked = 'Signatures were not checked: that needs STATE_KEY, or INFRA_API_KEY if the bot has no STATE_KEY.'

/** Says that the chain has no fault. `compared` is the number of entries in the log. */
function wholeSentence({ first, last, count }: Walk, compared: number, signatures: SignatureCheck | undefined): string {
  if (!first || !last) return 'The chain is empty: it has no entries yet.'
  const entries = `${count.toLocaleString('en-US')} ${count === 1 ? 'entry' : 'entries'}`
  const removed = first.seq - 1
  const older = removed > 0 ? ` (${removed.toLocaleString('en-US')} older ones were removed because of their age)` : ''
  const same = compared > 0 ? ` The log matches (${compared.toLocaleString('en-US')} entries).` : ''
  const signed = signatures ? signedSentence(signatures.uncertain()) : notChecked
  return `The chain is whole: ${entries}${older}, from ${utc(first.at)} to ${utc(last.at)} (UTC), last hash ${last.hash.slice(0, 16)}….${same} ${signed}`
}

function signedSentence(uncertain: number): string {
  const lost = `Redis did not confirm ${uncertain === 1 ? '1 note' : `${uncertain} notes`}, which may be missing.`
  return uncertain > 0 ? `All signatures are genuine. ${lost}` : 'All signatures are genuine.'
}

/** Entries at the beginning may be missing only if a signed note says that they were removed because of their age. */
function faultsAtBeginning({ first }: Walk, removedThrough: number): string[] {
  if (!first || first.seq <= removedThrough + 1) return []
  const noted = removedThrough === 0 ? 'none' : `those up to ${removedThrough}`
  return [`The chain begins with entry ${first.seq}, and the bot has removed ${noted} because of their age: others are missing.`]
}

/** Returns a sentence for each fault, and the sentence for a chain without any. Throws StartError if Redis or a log cannot be read. */
async function verify(env: Environment, paths: string[]): Promise<{ breaks: string[]; whole: string }> {
  const { url, prefix, signingSecrets } = readAuditConfig(env)
  const trusted = signingSecrets && createSignatureCheck(createKeyring(signingSecrets, { purpose: 'audit', prefix }))
  // Without a key, every signature counts as genuine.
  const signatures = trusted ?? createSignatureCheck({ verify: () => 'genuine' })
  let problem: string | undefined
  const redis = connectRedis(url, 'patient', (code) => {
    problem = code
  })
  try {
    const [seconds] = await runCommand(() => redis.time())
    const log = await readLogs(paths)
    const comparison = createComparison(log, Number(seconds) * 1_000)
    const onLink = (link: WalkedLink) => {
      signatures.onLink(link)
      if (log.hashes.size > 0) comparison.onLink(link)
    }
    const walk = await walkAudit({ redis, keys: createKeys(prefix), runCommand, onLink })
    const beginning = faultsAtBeginning(walk, signatures.removedThrough())
    const compared = log.hashes.size > 0 ? comparison.breaks(walk) : []
    const breaks = [...walk.breaks, ...beginning, ...(trusted?.breaks() ?? []), ...log.breaks, ...compared]
    return {
      breaks: trusted || breaks.length === 0 ? breaks : [...breaks, notChecked],
      whole: wholeSentence(walk, log.hashes.size, trusted),
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    throw new StartError(unreachableRedis(problem ?? error.code ?? 'no answer'))
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
 * Verifies the audit chain, its signatures if the environment has the key, and compares it with logs. `exitCode` 0: the chain has no fault. 1: it has faults, and `output` has a line for
 * each. 2: it could not be read.
 */
export async function checkAudit(env: Environment, paths: string[]): Promise<{ exitCode: 0 | 1 | 2; output: string }> {
  try {
    const { breaks, whole } = await verify(env, paths)
    return breaks.length > 0 ? { exitCode: 1, output: `${breaks.join('\n')}\n` } : { exitCode: 0, output: `${whole}\n` }
  } catch (error) {
    const lines =
      error instanceof ConfigError ? error.lines : [error instanceof StartError ? error.message : JSON.stringify(describeError(error))]
    return { exitCode: 2, output: `${lines.join('\n')}\n` }
  }
}
