import type { Request } from '../../domain/request/request.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'

const scripts = readScripts(import.meta.url, ['postpone', 'clear-due-if-unchanged'])

/** The most requests, and the most messages, that one tick takes. The next tick takes the rest. */
export const dueAtOnce = 2_000

/** Creates the functions that read and set when requests are due. They throw StoreUnavailableError if Redis does not answer. */
export function createDueTimes({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** Returns the ids of requests that are due now, the oldest due time first. */
  async function due(limit = dueAtOnce): Promise<string[]> {
    return run('due', [keys.due], ['0', String(limit)])
  }

  /** Returns whether a request or a message is due within `withinMs`. Ticks run only while this is true. */
  async function isBusy(withinMs: number): Promise<boolean> {
    const [requests, messages] = await Promise.all([
      run('due', [keys.due], [String(withinMs), '1']),
      run('due', [keys.outbox], [String(withinMs), '1']),
    ])
    return requests.length + messages.length > 0
  }

  /** Counts the messages that Slack has not received yet. */
  async function countUnsent(): Promise<number> {
    return guardStore(() => redis.zcard(keys.outbox))
  }

  /** Makes a request due again in `inMs`, if it has a due time. `revision`: if its record still has this one. */
  async function postpone(id: string, inMs: number, revision?: number): Promise<void> {
    await run('postpone', [keys.due, keys.record(id)], [id, String(Math.round(inMs)), revision === undefined ? '' : String(revision)])
  }

  /** Makes a request due again in `inMs`. Does nothing if its record changed since it was read, because that step set a due time. */
  async function postponeIfUnchanged(request: Request, inMs: number): Promise<void> {
    await postpone(request.id, inMs, request.revision)
  }

  /** Clears the due time of a request, unless its record changed since `revision`. */
  async function clearDueIfUnchanged(id: string, revision: number): Promise<void> {
    await run('clear-due-if-unchanged', [keys.due, keys.record(id)], [id, String(revision)])
  }

  /**
   * Returns whether a request has a due time. Every step that removes a record removes its due time, too. So if a request still has one after
   * its record was not found, Redis has lost the record.
   */
  async function isDue(id: string): Promise<boolean> {
    return (await guardStore(() => redis.zscore(keys.due, id))) !== null
  }

  /** Clears the due time of a request without a record. Returns whether it had one. */
  async function clearDueWithoutRecord(id: string): Promise<boolean> {
    const [outcome] = await run('clear-due-if-unchanged', [keys.due, keys.record(id)], [id, ''])
    return outcome === 'removed'
  }

  return { due, isBusy, countUnsent, isDue, postpone, postponeIfUnchanged, clearDueIfUnchanged, clearDueWithoutRecord }
}
