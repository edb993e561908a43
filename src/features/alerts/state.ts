import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { openStates } from '../../domain/request.ts'
import { requestIdFor } from '../../life/submit.ts'
import { memberOf } from '../../outbox/once.ts'
import { guardStore } from '../../redis/connect.ts'
import { readClock, readScripts, scriptsOf } from '../../redis/scripts.ts'
import { readJson } from '../../slack/payloads.ts'
import { type AlertList, listedMs, nameOfAlert } from './alert-list.ts'
import type { Alert } from './payload.ts'

/** What all processes know of alerts. An alert here is one outage: its labels and when it began. Every change is one script. */
const run = scriptsOf(readScripts(import.meta.url, ['alert-fires', 'alert-joins', 'alert-resolves', 'alerts-listed']))

const dayMs = 24 * 3_600_000

/** Alertmanager resolves by time-out what it no longer receives, and another one of its cluster may deliver late. */
const doubtMs = 2 * 60_000

/** A request can wait for 30 days, and one that ended is kept for as long. */
const keptMs = 31 * dayMs

/** An alert that does not say when it began can't be told from its next outage, so it is forgotten once it was not repeated for a day. */
const keptWithoutStartMs = dayMs

/** An alert whose end got lost counts as firing until it was not repeated for this long. Senders repeat alerts at least once a day. */
const firingMs = 2 * dayMs

const mostStarts = 20
const mostOfRequest = 100

const Known = z.object({
  server: z.string().optional(),
  request: z.string().optional(),
  /** What the id of that request is made from, if this alert led to it. */
  made: z.string().optional(),
  /** The id of the message that lists it. */
  listed: z.string().optional(),
  /** How often it fired again after it had resolved. */
  again: z.number().default(0),
})
export type Known = z.infer<typeof Known>

/** Notes that it fires. Undefined if it resolved a moment ago. */
export async function fires({ redis, keys }: App, alert: Alert, serverId?: string): Promise<Known | undefined> {
  const about = serverId === undefined ? keys.alert(alert.key) : keys.alertsAbout(serverId)
  const lasts = alert.startsAt > 0 ? keptMs : keptWithoutStartMs
  const times = [doubtMs, lasts, firingMs, mostStarts].map(String)
  const values = [String(alert.startsAt), nameOfAlert(alert), serverId ?? '', ...times, keys.alertsOf('')]
  const [known = ''] = await run(redis, 'alert-fires', [keys.alert(alert.key), about], values)
  return known === 'resolved' ? undefined : (readJson(Known, known) ?? { again: 0 })
}

/** A request that an alert leads to. Its id comes from `made`, so that all attempts of all processes make the same one. */
export interface Begun {
  id: string
  made: string
}

/** Continues what an earlier attempt began for the alert, or begins a new request in place of the one that is `over`. */
export function begin({ request, made }: Known, over?: string): Begun {
  if (request !== undefined && made !== undefined && request !== over) return { id: request, made }
  const fresh = randomUUID()
  return { id: requestIdFor(deliveryKeyOf(fresh)), made: fresh }
}

export const deliveryKeyOf = (made: string) => `alert:${made}`

type Joined = 'joined' | 'resolved' | 'leaving' | 'ended' | 'other'

/** Adds the alert to those of a request, open or begun. `over`: the request of the alert that the begun one follows. */
export async function join(
  { redis, keys }: App,
  alert: Alert,
  { id, made = '' }: Partial<Begun> & { id: string },
  over = '',
): Promise<Joined> {
  const names = [keys.alert(alert.key), keys.alertsOf(id), keys.record(id)]
  const open = openStates.map((state) => JSON.stringify(state)).join(' ')
  const bounds = [open, String(keptMs), String(mostOfRequest), keys.alertsOf('')]
  const [joined] = await run(redis, 'alert-joins', names, [String(alert.startsAt), nameOfAlert(alert), id, made, over, ...bounds])
  return joined as Joined
}

/** An alert that ended. `left`: how many alerts of its request still fire. `quiet`: its server, if no alert about that fires. `listed`: the message that lists it. */
interface Ended {
  name: string
  request: string | undefined
  left: number
  quiet: string | undefined
  listed: string | undefined
}

export async function resolves({ redis, keys }: App, { key, startsAt, endsAt }: Alert): Promise<Ended[]> {
  const prefixes = [keys.alertsOf(''), keys.alertsAbout(''), keys.message('')]
  const values = [String(startsAt), String(endsAt), nameOfAlert({ key, startsAt: 0 }).slice(0, -1), ...prefixes]
  const answer = await run(redis, 'alert-resolves', [keys.alert(key)], [...values, String(firingMs), String(doubtMs)])
  return Array.from({ length: answer.length / 5 }, (_, index) => {
    const [request, left, quiet, listed, name = ''] = answer.slice(index * 5, index * 5 + 5)
    return { name, request: request || undefined, left: Number(left), quiet: quiet || undefined, listed: listed || undefined }
  })
}

/** Owes the message that lists these alerts, unless some of them are listed already. `left`: the indexes of those that are not. `known`: the same alerts. */
export async function owesList({ redis, keys }: App, list: AlertList, known: Known[]): Promise<{ id: string | undefined; left: number[] }> {
  // From the alerts, so that the repeat of a delivery owes the same message.
  const outages = list.alerts.map((alert, index) => `${nameOfAlert(alert)}/${known[index]?.again}`)
  const id = hash('sha256', outages.join()).slice(0, 32)
  const names = [keys.message(id), keys.outbox, ...list.alerts.map(({ key }) => keys.alert(key))]
  const starts = list.alerts.map(({ startsAt }) => String(startsAt))
  const values = [id, memberOf({ id, name: 'alerts' }), JSON.stringify(list), String(listedMs), ...starts]
  const [listed, ...left] = await run(redis, 'alerts-listed', names, values)
  return { id: listed === 'listed' ? id : undefined, left: left.map(Number) }
}

/** How long, and how often within it, the alerts of a server may resolve before anybody has decided, until it counts as flapping. */
const flappingMs = 30 * 60_000
const flapsAt = 2

export async function noteWithdrawal({ redis, keys }: App, serverId: string, requestId: string): Promise<void> {
  const [key, now] = [keys.alertsWithdrawn(serverId), await readClock({ redis, keys })]
  await guardStore(() => redis.multi().zadd(key, 'NX', now, requestId).pexpire(key, flappingMs).exec())
}

export async function isFlapping({ redis, keys }: App, serverId: string): Promise<boolean> {
  const now = await readClock({ redis, keys })
  return (await guardStore(() => redis.zcount(keys.alertsWithdrawn(serverId), now - flappingMs, '+inf'))) >= flapsAt
}
