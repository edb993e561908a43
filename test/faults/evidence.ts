import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { AuditEntry, createVerifier } from '../../src/audit/chain.ts'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { withChildren } from '../../src/record/children.ts'
import { decodeRecord } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import type { Slack } from '../sandbox/slack/slack.ts'

interface Posted {
  ts: string
  text: string
  metadata?: unknown
}

export interface Evidence {
  rested: boolean
  records: Request[]
  genuine: boolean
  audit: { breaks: string[]; entries: AuditEntry[] }
  threads: { card: Posted; replies: Posted[] }[]
  elasticIps: { id: string; address: string; status: string; on: string | null }[]
  /** Those that the account API did not refuse because of its limit. */
  writes: { method: string; path: string }[]
  crashes: string[]
  log: string[]
  /** What was sent to Slack and contains a secret. */
  said: string
  /** For created keys: those that live, all tokens, what the one person was shown, and what everybody was shown. */
  keys?: { live: { name: string; token: string }[]; issued: string[]; shown: string; made: string[]; saidOpenly: string }
  reportedTooEarly: string[]
  secrets: string[]
  to: string
  seconds: number
  approvers: string[]
}

/** Returns what was sent to Slack and contains one of these words. After a long run, all of it would exceed the size of a string. */
export function saidWith({ journal }: Pick<Slack, 'journal'>, words: string[], fits = (_method: string) => true): string {
  return journal
    .filter(({ method }) => fits(method))
    .map(({ method, args }) => JSON.stringify({ method, args }))
    .filter((said) => words.some((word) => said.includes(word)))
    .join('\n')
}

export function createEvidence(admin: Redis, prefix: string) {
  const keys = createKeys(prefix)

  async function records(): Promise<Request[]> {
    const ids = [...(await admin.zrange(keys.open, '0', '-1')), ...(await admin.zrange(keys.ended, '0', '-1'))]
    const found = await Promise.all([...new Set(ids)].map(async (id) => decodeRecord(id, await admin.hgetall(keys.record(id)))))
    return withChildren({ redis: admin, keys }, found)
  }

  async function audit(): Promise<Evidence['audit']> {
    const texts = (await admin.xrange(keys.audit, '-', '+')).map(([, [, text = '']]) => text)
    const verifier = createVerifier()
    const breaks = texts.map((text) => verifier.next(text)).filter((broken) => broken !== undefined)
    return { breaks, entries: texts.map((text) => AuditEntry.parse(JSON.parse(text))) }
  }

  async function comeToRest(requests: number, withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs
    while (Date.now() < deadline) {
      if (await isAtRest(requests)) return true
      await delay(200)
    }
    return false
  }

  /** Reads the records only if nothing is left to do. Reading thousands of them repeatedly would slow down Redis. */
  async function isAtRest(requests: number): Promise<boolean> {
    const [open, owed] = [await admin.zcard(keys.open), await admin.zrange(keys.outbox, '0', '-1')]
    // A look for a second copy is no message.
    if (open > 0 || owed.some((member) => !member.endsWith('/late-look'))) return false
    const all = await records()
    return all.length >= requests && all.every(({ state }) => !isOpen(state))
  }

  /** What is not at rest: open requests, owed messages, and how many requests are missing. */
  async function unrest(requests: number) {
    const [owed, all] = [await admin.zrange(keys.outbox, '0', '9', 'WITHSCORES'), await records()]
    const open = all
      .filter(({ state }) => isOpen(state))
      .map(({ id, kind, state, waits, expiresAt, cardTs }) => ({ id, kind, state, waits, expiresAt, cardTs }))
    const states = Map.groupBy(open, ({ kind, state, waits }) => `${kind} ${state} ${waits?.for ?? ''}`.trim())
    const counts = Object.fromEntries([...states].map(([state, { length }]) => [state, length]))
    const [freeze, lastTick] = [await admin.get(keys.freeze), await admin.get(keys.lastTick)]
    return { counts, open: open.slice(0, 10), owed, missing: requests - all.length, freeze, lastTick, now: Date.now() }
  }

  return { keys, records, audit, comeToRest, unrest }
}
