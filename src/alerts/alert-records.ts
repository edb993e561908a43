import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { claim as claimKey } from '../redis/claims.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import type { Alert } from './payload.ts'

const scripts = readScripts(import.meta.url, ['join-server', 'leave-server'])

const dayMs = 24 * 3_600_000

/** A request can wait for 30 days. After its decision, alerts about the same server are duplicates for 7 more days. */
const joinedMs = 37 * dayMs

/** How long an alert that a message lists is not listed again, unless it resolves. */
const listedMs = 7 * dayMs

/** How long after an alert resolved a late delivery, or one from another Alertmanager of a cluster, is recognized. */
const endedMs = 10 * 60_000

/** Longer than one delivery takes. The process of an older claim has died. */
const usualClaimMs = 60_000

/** How long a delivery waits for another one that handles the same alert, and how often it checks. */
const usualWaitMs = 5_000
const checkMs = 150

/** What is known of an alert. */
export interface AlertRecord {
  serverId?: string
  /** The key of the message that lists why it led to no request. Written before the message is posted. */
  list?: string
  /** Set once that message was posted. */
  listed?: string
  /** When an alert that has resolved since had begun, as it said itself. */
  ended?: string
}

/** Ends the right of this process to handle an alert. */
export type Release = () => Promise<void>

interface AlertRecordsParts {
  redis: Redis
  keys: Keys
  claimMs?: number | undefined
  waitMs?: number | undefined
}

/** What all processes know of alerts and their servers. The functions throw StoreUnavailableError if Redis does not answer. */
export function createAlertRecords({ redis, keys, claimMs = usualClaimMs, waitMs = usualWaitMs }: AlertRecordsParts) {
  const run = createScripts(redis, scripts)
  const memberOf = ({ key }: Alert) => `alert:${key}`

  /**
   * Claims an alert, so that no other process handles it. Two Alertmanagers of a cluster send the same alert at the same moment, and the second one
   * must not get 200 before the alert is recorded. Undefined if another process has the claim for too long.
   */
  async function claim({ key }: Alert, signal: AbortSignal): Promise<Release | undefined> {
    const token = randomUUID()
    const endsAt = Date.now() + waitMs
    while ((await claimKey(redis, keys.alertClaim(key), { token, lastsMs: claimMs })) !== undefined) {
      if (Date.now() > endsAt || signal.aborted) return undefined
      await pause(checkMs)
    }
    // A claim that is not released ends by itself.
    return async () => void (await run('release', [keys.alertClaim(key)], [token]).catch(() => undefined))
  }

  async function read({ key }: Alert): Promise<AlertRecord> {
    return guardStore(() => redis.hgetall(keys.alert(key)))
  }

  /** Adds a firing alert to those of its server. Returns the episode of the server, which names the request. */
  async function join(alert: Alert, serverId: string): Promise<string> {
    const begins = `${serverId}/${alert.key}/${alert.startsAt ?? new Date().toISOString()}`
    const values = [memberOf(alert), serverId, begins, String(joinedMs)]
    const [episode = begins] = await run('join-server', [keys.alert(alert.key), keys.alertedServer(serverId)], values)
    return episode
  }

  /** Begins the next episode of a server whose request does not stand. All processes that find it so choose the same one. */
  async function nextEpisode(serverId: string, requestId: string): Promise<string> {
    const episode = `${serverId}/${requestId}`
    await guardStore(() => redis.hset(keys.alertedServer(serverId), 'episode', episode))
    return episode
  }

  /** Takes a resolved alert from its server. Returns the episode if no other alert of it fires. */
  async function leave(alert: Alert, serverId: string): Promise<string | undefined> {
    const [episode] = await run('leave-server', [keys.alert(alert.key), keys.alertedServer(serverId)], [memberOf(alert)])
    return episode || undefined
  }

  /** Records that a message with this key lists these alerts, or, before it is posted, that it may. */
  async function setListed(alerts: Alert[], list: string, { isPosted }: { isPosted: boolean }): Promise<void> {
    const write = redis.multi()
    for (const { key } of alerts)
      write.hset(keys.alert(key), { list, ...(isPosted ? { listed: '1' } : {}) }).pexpire(keys.alert(key), listedMs)
    await guardStore(() => write.exec())
  }

  /** Records that an alert has resolved. */
  async function end({ key, startsAt = '' }: Alert): Promise<void> {
    const name = keys.alert(key)
    await guardStore(() => redis.multi().del(name).hset(name, 'ended', startsAt).pexpire(name, endedMs).exec())
  }

  /** Forgets an alert that has resolved, because it fires again. */
  async function forget({ key }: Alert): Promise<void> {
    await guardStore(() => redis.del(keys.alert(key)))
  }

  return { claim, read, join, nextEpisode, leave, setListed, end, forget }
}
export type AlertRecords = ReturnType<typeof createAlertRecords>
