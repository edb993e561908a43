import { inject } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { chain, hashOf } from '../../src/audit/chain.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'

type TestRedis = ReturnType<typeof connectTestRedis>

const stateKey = 'a-key-for-tests-of-32-characters'
export const requestId = 'a1b2c3'
export const acts = ['request', 'approve', 'send', 'accept', 'late', 'finish']

/** What the program reads that verifies an audit. */
export const envOf = ({ prefix }: TestRedis) => ({ REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix, STATE_KEY: stateKey })

/** A chain of six entries, and its printed lines. */
export async function sixEntries() {
  const mine = connectTestRedis()
  const lines: string[] = []
  const errors: unknown[] = []
  const signing = auditSigning({ keys: stateKey, prefix: mine.prefix })
  const io = { print: (line: string) => void lines.push(line), onError: (error: unknown) => void errors.push(error) }
  const audit = createAudit({ ...mine, ...io, ...signing })
  for (const act of acts) await audit.note({ act, requestId, resource: 'elastic_ip:eip_1' })
  await audit.tidy()
  return { ...mine, ...signing, audit, env: envOf(mine), lines, errors }
}
export type Six = Awaited<ReturnType<typeof sixEntries>>

/** The texts of the entries. */
export const textsOf = async ({ redis, keys }: TestRedis) => (await redis.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => text)

/** Old ids, because recent entries may be missing in a log. */
const anHourAgo = (index: number) => `${Date.now() - 3_600_000 + index}-0`

/** Rewrites the chain, as a person with access to Redis could. */
export async function rewrite(six: TestRedis, change: (texts: string[]) => string[], idOf = anHourAgo): Promise<void> {
  const texts = change(await textsOf(six))
  await six.redis.del(six.keys.audit)
  for (const [index, text] of texts.entries()) await six.redis.xadd(six.keys.audit, idOf(index), 'entry', text)
}

type Fields = Record<string, unknown>

/** Rewrites the chain with its numbers, hashes and head, so that the chain alone has no fault. */
export async function rechain(
  six: TestRedis,
  change: (entries: Fields[]) => Fields[],
  { spell = (text: string) => text, idOf = anHourAgo } = {},
): Promise<void> {
  let last = { seq: 0, hash: '' }
  const again = ({ seq: _, prev: __, ...fields }: Fields) => {
    const text = spell(chain(fields, last.seq + 1, last.hash))
    last = { seq: last.seq + 1, hash: hashOf(text) }
    return text
  }
  await rewrite(six, (texts) => change(texts.map((text) => JSON.parse(text))).map(again), idOf)
  await six.redis.hset(six.keys.auditHead, last)
}

/** Puts a text into the intake, as a person with access to Redis could. Whatever process runs chains it. */
export async function putNote({ redis, keys }: TestRedis, text: string): Promise<void> {
  await redis.xadd(keys.auditIntake, '*', 'note', text, 'at', '1795250765989')
}
