import { randomBytes } from 'node:crypto'
import { waits } from '../../waits.ts'
import { type Json, stringOf } from './json.ts'
import type { Notification } from './message-store.ts'
import type { Fault, FaultPlan } from './slack.ts'
import type { NewBlocksAre } from './validate-blocks.ts'

export interface Change {
  rev: number
  /** Whether people can see it. Otherwise only the journal has grown. */
  visible: boolean
  notice?: { userId: string; text: string }
  notification?: Notification
}

/** Keeps the change counter, the clock and the ids of a stand-in. `now` is wall clock in ms. */
export function createState(now: () => number) {
  const listeners = new Set<(change: Change) => void>()
  let rev = 0
  let lastMicroseconds = 0
  let lastId = 0

  function changed(change: Omit<Change, 'rev'>): void {
    rev += 1
    for (const listener of [...listeners]) listener({ rev, ...change })
  }

  return {
    /** Whether messages may hold a data table and a chart. */
    newBlocks: 'taken' as NewBlocksAre,
    now,
    rev: () => rev,
    changed,

    subscribe(listener: (change: Change) => void): () => void {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },

    /** Returns seconds with six decimals, larger than every earlier stamp: the `ts` of a message, an `action_ts`. */
    stamp(): string {
      lastMicroseconds = Math.max(now() * 1000, lastMicroseconds + 1)
      return `${Math.floor(lastMicroseconds / 1e6)}.${String(lastMicroseconds % 1e6).padStart(6, '0')}`
    },

    /** Returns an id that was never used before: `id('V')` is such as `V0000000001`. */
    id(prefix: string): string {
      lastId += 1
      return `${prefix}${lastId.toString(36).toUpperCase().padStart(10, '0')}`
    },
  }
}
export type State = ReturnType<typeof createState>

export interface Trigger {
  userId: string
  /** The channel that the person was looking at, for pickers that default to it. */
  channel?: string
}

interface StoredTrigger extends Trigger {
  madeAt: number
  exchanged: boolean
}

/** Trigger ids: valid for 3 s and for one view (docs.slack.dev/interactivity/handling-user-interaction#modal_responses). */
export function createTriggers(state: State, lifeMs: number) {
  const triggers = new Map<string, StoredTrigger>()

  return {
    issue(trigger: Trigger): string {
      const id = `${Math.floor(state.now() / 1000)}.${1_000_000 + triggers.size}.${randomBytes(16).toString('hex')}`
      triggers.set(id, { ...trigger, madeAt: state.now(), exchanged: false })
      return id
    },

    exchange(id: string): Trigger | { error: string } {
      const found = triggers.get(id)
      if (found === undefined) return { error: 'invalid_trigger_id' }
      if (found.exchanged) return { error: 'exchanged_trigger_id' }
      if (state.now() - found.madeAt > lifeMs) return { error: 'expired_trigger_id' }
      found.exchanged = true
      return found
    },
  }
}
export type Triggers = ReturnType<typeof createTriggers>

/** Keeps the planned faults. A request gets the oldest one that fits. */
export function createFaults() {
  let faults: (FaultPlan & { fired: number })[] = []

  return {
    add(plan: FaultPlan): Fault {
      const stored = { ...plan, fired: 0 }
      faults.push(stored)
      const remove = () => {
        faults = faults.filter((fault) => fault !== stored)
      }
      return Object.assign(stored, { remove })
    },
    clear: () => {
      faults = []
    },
    /** Returns the fault for a request with one of these names, and counts it as fired. */
    take(names: string[], args: Json): FaultPlan | undefined {
      const fault = faults.find((one) => names.includes(one.method) && one.fired < (one.times ?? 1) && (one.when?.(args) ?? true))
      if (fault) fault.fired += 1
      return fault
    },
  }
}
export type Faults = ReturnType<typeof createFaults>

interface Limit {
  calls: number
  perMs: number
  by?: string
}

const perMinute = (calls: number): Limit => ({ calls, perMs: 60_000 })

/**
 * Slack's published tiers. A burst of posts to one channel is allowed before the limit of one a second applies
 * (docs.slack.dev/apis/web-api/rate-limits).
 */
const limits: Record<string, Limit> = {
  'chat.postMessage': { calls: 5, perMs: 5000, by: 'channel' },
  'chat.update': perMinute(50),
  'chat.postEphemeral': perMinute(100),
  'views.open': perMinute(100),
  'views.update': perMinute(100),
  'views.publish': perMinute(100),
  'users.info': perMinute(100),
  'usergroups.list': perMinute(20),
  'usergroups.users.list': perMinute(20),
  'conversations.info': perMinute(50),
  'conversations.history': perMinute(50),
  'conversations.replies': perMinute(50),
}

export function createRateLimits(now: () => number) {
  const calls = new Map<string, number[]>()

  return {
    /** Returns the seconds for `Retry-After`, or undefined if the call is within the limit. */
    retryAfter(method: string, args: Json): number | undefined {
      const limit = limits[method]
      if (limit === undefined) return undefined
      const key = `${method} ${limit.by ? stringOf(args[limit.by]) : ''}`
      const recent = (calls.get(key) ?? []).filter((at) => at > now() - limit.perMs)
      const oldest = recent[0]
      if (oldest !== undefined && recent.length >= limit.calls) return Math.max(1, Math.ceil((oldest + limit.perMs - now()) / 1000))
      calls.set(key, [...recent, now()])
      return undefined
    },
  }
}

/**
 * Resolves with the first truthy value of `predicate`, which is called now and after every change. A throw means "not yet". `describe`: what
 * has happened so far, for the message of a timeout.
 */
export function until<T>(
  { subscribe }: Pick<State, 'subscribe'>,
  describe: () => string,
  predicate: () => T,
  { timeoutMs = waits.until, what = 'the condition' } = {},
): Promise<NonNullable<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<NonNullable<T>>()
  let lastError: unknown
  const timer = setTimeout(() => {
    reject(new Error(`Waited ${timeoutMs} ms without success for ${what}.\n${describe()}`, { cause: lastError }))
  }, timeoutMs)
  const check = () => {
    try {
      const value = predicate()
      if (value) resolve(value)
    } catch (error) {
      lastError = error
    }
  }
  const stop = subscribe(check)
  check()
  return promise.finally(() => {
    clearTimeout(timer)
    stop()
  })
}
