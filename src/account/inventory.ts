import { hash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { AccountLimitError, isUnanswered, StoreUnavailableError } from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import type { Keyring } from '../domain/signing.ts'
import { withinOr } from '../domain/within.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim, readClock, scriptsOf } from '../redis/scripts.ts'
import { open, seal } from '../redis/sealed.ts'
import type { AccountApi } from './client.ts'
import { pageSize } from './resource.ts'

const listNames = ['elasticIps', 'servers', 'virtualMachines', 'plans', 'baselines', 'apiKeys'] as const
export type ListName = (typeof listNames)[number]
type Lists = { [Name in ListName]: () => ReturnType<AccountApi[Name]['list']> }

const scripts = scriptsOf()

const slowMs = 1_000

const readMs = 10_000
const waitForOtherMs = 4_000
const lookAgainMs = 100
/** Longer lists are kept by each process alone. */
const longestShared = 4 * 1024 * 1024
/** A copy from further in the future was made by another clock, and its age is unknown. */
const clockOffMs = 2_000

/** What a list is known by, without reading all of it. */
const Head = z.object({ at: z.number(), digest: z.string() })

interface Copy {
  /** The head in Redis. Undefined if only this process has the copy. */
  head: string | undefined
  /** When the read began, in ms since 1970 by Redis' clock, and by the clock of this process. */
  at: number
  began: number
  /** Whether the account has changed since, so that it is only used if the list cannot be read. */
  isOutdated?: boolean
  list: List<unknown>
}

interface InventoryParts {
  accountApi: Pick<AccountApi, ListName>
  redis: Redis
  keys: Keys
  keyring: Keyring
  now?: () => number
  minuteMs?: number | undefined
}

/** One copy of each list in Redis, for all processes. Each list says how old it is. It holds no secret, as the account API lists no tokens. */
export function createInventory({ accountApi, redis, keys, keyring, now = () => performance.now(), minuteMs = 60_000 }: InventoryParts) {
  /** A copy younger than this is returned as it is, because what is about to be written is always read again. */
  const freshMs = minuteMs / 6
  /** A copy younger than this is returned with its age if a new read takes longer than `slowMs`. */
  const usableMs = minuteMs
  /** A copy younger than this is returned with its age if the list cannot be read. */
  const keptMs = 5 * minuteMs
  const run = scripts.bind(undefined, redis)
  const ageOf = ({ began }: Copy) => now() - began
  const isFresh = (copy: Copy) => !copy.isOutdated && ageOf(copy) < freshMs

  function createCopies(name: ListName) {
    const key = keys.list(name)
    let newest: Copy | undefined
    let running: Promise<Copy> | undefined

    async function look(): Promise<{ copy: Copy | undefined; at: number | undefined }> {
      try {
        const [at, head] = await Promise.all([readClock({ redis, keys }), guardStore(() => redis.hget(key.copy, 'head'))])
        if (head !== null && head !== newest?.head) await load(at)
        // It was removed, because Lockkeeper has changed something in the list.
        else if (head === null && newest?.head !== undefined) newest.isOutdated = true
        return { copy: newest, at }
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        return { copy: newest, at: undefined }
      }
    }

    async function load(redisNow: number): Promise<void> {
      const [head, text] = await guardStore(() => redis.hmget(key.copy, 'head', 'text'))
      const found = open(keyring, `list ${name}`, Head, head ?? '')
      if (found.is !== 'genuine' || !text || found.facts.digest !== hash('sha256', text)) return
      const { at } = found.facts
      if (at > redisNow + clockOffMs || at < (newest?.at ?? 0)) return
      newest = { head: head ?? undefined, at, began: now() - (redisNow - at), list: JSON.parse(text) }
    }

    async function list(): Promise<List<unknown>> {
      const { copy } = await look()
      const agoMs = copy ? ageOf(copy) : Number.POSITIVE_INFINITY
      if (copy && isFresh(copy)) return copy.list
      try {
        if (!copy || agoMs >= usableMs) return (await readShared()).list
        const read = await withinOr(slowMs, readShared(), undefined)
        return read ? read.list : { ...copy.list, old: { agoMs } }
      } catch (error) {
        const isAway = isUnanswered(error) || error instanceof StoreUnavailableError
        if (!copy || agoMs >= keptMs || !isAway) throw error
        return { ...copy.list, old: { agoMs, because: error } }
      }
    }

    function readShared(): Promise<Copy> {
      // The limit may be that of the one alone who began the read.
      if (running) return running.catch((error) => (error instanceof AccountLimitError ? read() : Promise.reject(error)))
      running = readOnce().finally(() => {
        running = undefined
      })
      return running
    }

    async function readOnce(): Promise<Copy> {
      const token = randomUUID()
      const until = now() + waitForOtherMs
      // Without Redis this process may read.
      const isClaimed = () => claim(redis, key.reading, { token, lastsMs: readMs }).catch(() => undefined)
      while ((await isClaimed()) !== undefined && now() < until) {
        await delay(lookAgainMs)
        const { copy } = await look()
        if (copy && isFresh(copy)) return copy
      }
      return read().finally(() => run('release', [key.reading], [token]).catch(() => {}))
    }

    async function read(): Promise<Copy> {
      const { copy, at } = await look()
      if (copy && isFresh(copy)) return copy
      const began = now()
      const list: List<unknown> = { ...(await accountApi[name].list({ signal: AbortSignal.timeout(readMs) })), readAt: at }
      newest = { head: at === undefined ? undefined : await store(list, at), at: at ?? Date.now(), began, list }
      return newest
    }

    async function store(list: List<unknown>, at: number): Promise<string | undefined> {
      const text = JSON.stringify(list)
      if (text.length > longestShared) return undefined
      const head = seal(keyring, `list ${name}`, { at, digest: hash('sha256', text) })
      const stored = await redis
        .multi()
        .hset(key.copy, { head, text })
        .pexpire(key.copy, keptMs)
        .exec()
        .catch(() => null)
      return stored ? head : undefined
    }

    return {
      list,
      isShort: () => (newest?.list.items.length ?? 0) < pageSize,
      async forget(): Promise<void> {
        if (newest) newest.isOutdated = true
        await guardStore(() => redis.del(key.copy))
      },
    }
  }

  const copies = Object.fromEntries(listNames.map((name) => [name, createCopies(name)])) as Record<
    ListName,
    ReturnType<typeof createCopies>
  >

  return {
    ...(Object.fromEntries(listNames.map((name) => [name, copies[name].list])) as Lists),
    /** Whether at most two reads show the whole list, as far as this process knows. */
    isShort: (name: ListName) => copies[name].isShort(),
    /** After Lockkeeper has changed something in the list. Throws StoreUnavailableError. */
    forget: (name: ListName) => copies[name].forget(),
  }
}
export type Inventory = ReturnType<typeof createInventory>
