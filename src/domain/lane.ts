import { AsyncLocalStorage } from 'node:async_hooks'
import type { Deadline } from './deadline.ts'

/**
 * Who a call to the account API is for. The account allows few calls a minute, so each call names its lane, and a lane leaves to those above
 * it what is kept for them:
 *
 * - `send`: the check before a write, its write, and the reads that settle a lost answer
 * - `person`: somebody waits for the answer
 * - `track`: the looks at moves under way
 * - `background`: reads that no person waits for
 * - `bundle`: the writes of a request that changes several things
 * - `retract`: the deletion of a key that nobody saw
 *
 * Reads of the last two are for a write, and count as `send`.
 */
export type Lane = 'send' | 'person' | 'track' | 'background' | 'bundle' | 'retract'
export type CallKind = 'read' | 'write'

/** Returns how many writes a minute everything but deletions of keys may spend: all but 2 of the documented 20. */
export function writesForChanges(perMinute: number): number {
  return perMinute - Math.min(2, Math.floor(perMinute / 10))
}

/** Returns how long it takes until the last of so many writes is sent, in ms: each minute sends as many as the account allows. */
export function sendingMs(writes: number, perMinute: number): number {
  return Math.max(0, Math.ceil(writes / writesForChanges(perMinute)) - 1) * 60_000
}

export interface Spender {
  lane: Lane
  userId?: string
}

/** `turn`: it was taken before the step that allows the write, so that the write does not wait after it. Until then the write may use it. */
interface Context extends Spender {
  turn?: Deadline | undefined
  requestId: string | undefined
}

const contexts = new AsyncLocalStorage<Context>()

export function inLane<Result>(
  lane: Lane,
  work: () => Result,
  { userId, requestId = currentRequest() }: { userId?: string; requestId?: string } = {},
): Result {
  return contexts.run({ lane, userId, requestId }, work)
}

export function withTurn<Result>(lane: Lane, turn: Deadline, work: () => Result): Result {
  return contexts.run({ lane, turn, requestId: currentRequest() }, work)
}

/** Notes which request the present work is for. That of a click is known only after its record was read. */
export function noteRequest(requestId: string): void {
  const context = contexts.getStore()
  if (context) context.requestId = requestId
}

export function currentRequest(): string | undefined {
  return contexts.getStore()?.requestId
}

/** Returns for whom the present call is. Throws outside every lane, because a call that names none would count for nobody. */
export function currentSpender(operation: string): Spender {
  const context = contexts.getStore()
  if (!context) throw new Error(`${operation} names no lane`)
  return context
}

export function nobodyWaits(): boolean {
  return contexts.getStore()?.lane === 'background'
}

/** Uses up a turn that was taken before. */
export function useTakenTurn(): Deadline | undefined {
  const context = contexts.getStore()
  const turn = context?.turn
  if (context) context.turn = undefined
  return turn
}
