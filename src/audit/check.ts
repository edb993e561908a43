import { ConfigError, readRedisConfig } from '../config/config.ts'
import type { Environment } from '../config/given.ts'
import { StartError, StoreUnavailableError } from '../domain/errors.ts'
import { within } from '../domain/within.ts'
import { describeError } from '../ops/log/safe-value.ts'
import { connectRedis, guardStore } from '../redis/connect.ts'
import { createKeys } from '../redis/key-names.ts'
import { createComparison, readLogs } from './printed-log.ts'
import { utc, type Walk, walkAudit } from './walk.ts'

/** How long one command may take. The first includes the connection. */
const answerMs = 5_000

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
 * Verifies the audit chain and compares it with logs. `exitCode` 0: the chain has no fault. 1: it has faults, and `output` has a line for
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
