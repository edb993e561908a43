import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createVerifier } from '../../src/audit/chain.ts'
import { AuditEntry } from '../../src/audit/entry.ts'
import { isOpen, type Request } from '../../src/domain/request.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { decodeRecord } from '../../src/requests/store/record.ts'

/** A message as far as the invariants look at it. */
interface Posted {
  ts: string
  text: string
  metadata?: unknown
}

/** What is there in the end, for the invariants to be checked. */
export interface Evidence {
  /** Nothing was open or owed any more. */
  rested: boolean
  records: Request[]
  genuine: boolean
  audit: { breaks: string[]; entries: AuditEntry[] }
  threads: { card: Posted; replies: Posted[] }[]
  elasticIps: { id: string; address: string; status: string; on: string | null }[]
  writes: { method: string; path: string }[]
  crashes: string[]
  log: string[]
  /** To Slack; where that is much, only what holds a secret. */
  said: string
  /** Of keys that were made: which live, which tokens there were, what was shown to the one person, and what was said to all others. */
  keys?: { live: { name: string; token: string }[]; issued: string[]; shown: string; made: string[]; saidOpenly: string }
  toldTooEarly: string[]
  secrets: string[]
  /** Where each Elastic IP was to go. */
  to: string
  seconds: number
  approvers: string[]
}

/** Reads what bots have left in their Redis. */
export function createEvidence(admin: Redis, prefix: string) {
  const keys = createKeys(prefix)

  async function records(): Promise<Request[]> {
    const ids = [...(await admin.zrange(keys.open, '0', '-1')), ...(await admin.zrange(keys.ended, '0', '-1'))]
    const hashes = await Promise.all([...new Set(ids)].map((id) => admin.hgetall(keys.record(id))))
    return hashes.map(decodeRecord)
  }

  async function audit(): Promise<Evidence['audit']> {
    const links = (await admin.xrange(keys.audit, '-', '+')).map(([, [, entry = '', , hash = '']]) => ({ entry, hash }))
    const verifier = createVerifier()
    const breaks = links.map((link) => verifier.next(link)).filter((broken) => broken !== undefined)
    return { breaks, entries: links.map(({ entry }) => AuditEntry.parse(JSON.parse(entry))) }
  }

  /** Waits until so many requests have all ended, and every message is sent. */
  async function comeToRest(requests: number, withinMs: number): Promise<boolean> {
    const deadline = Date.now() + withinMs
    while (Date.now() < deadline) {
      if (await isAtRest(requests)) return true
      await delay(200)
    }
    return false
  }

  /** Reads the records only where nothing is left to do: thousands of them, again and again, would keep Redis from what is. */
  async function isAtRest(requests: number): Promise<boolean> {
    const [open, owed] = [await admin.zcard(keys.open), await admin.zcard(keys.outbox)]
    if (open + owed > 0) return false
    const all = await records()
    return all.length >= requests && all.every(({ state }) => !isOpen(state))
  }

  return { keys, records, audit, comeToRest }
}
