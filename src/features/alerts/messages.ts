import { z } from 'zod'
import type { App } from '../../app.ts'
import { unpostedAlerts } from '../../messages/operator-notices.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { isPassing, later, laterAfter, passingMs, postOnce } from '../../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../../record/owed.ts'
import { guardStore } from '../../redis/connect.ts'
import { readJson } from '../../slack/payloads.ts'
import { AlertList, alertList } from './words.ts'

/** The message shows when its alerts resolve for as long as this, in ms. */
export const listedMs = 7 * 24 * 3_600_000

const updateRetryMs = 3_000

/** What is owed once an alert of a message has resolved. */
export const UpdatedList = z.object({ updates: z.string() })

/**
 * Says which alerts led to no request, once, or shows in that message which of them have resolved. Somebody who can write to Redis could change what
 * it says, so it goes only to the channels that the policy names for alerts, and its buttons open the form that anybody can open.
 */
export async function sendAlerts(app: App, { id, name }: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const update = readJson(UpdatedList, facts)
  const messageId = update?.updates ?? id
  const hash = await guardStore(() => app.redis.hgetall(app.keys.message(messageId)))
  const list = readJson(AlertList, hash.facts ?? '')
  if (!list || !app.config.policy.alerts?.some(({ channelId }) => channelId === list.channelId)) return { status: 'dropped' }
  const ofAlert = Object.entries(hash).filter(([field]) => field.startsWith('resolved:'))
  const message = alertList(list, new Map(ofAlert.map(([field, at]) => [field.slice('resolved:'.length), Number(at)])))
  const place = { channelId: list.channelId, key: `${name}/${messageId}` }
  if (update) {
    // Once it is posted, this says where. Until then it may be posted as it was.
    if (hash.cardTs === undefined) return later(updateRetryMs)
    // Another process may have shown more ends since.
    const updated = await app.slack.messenger.update({ ...place, ts: String(JSON.parse(hash.cardTs)) }, message, leased.sendBefore)
    if (updated.is === 'refused' && isPassing(updated.error)) return later(passingMs)
    if (updated.is === 'sent' || updated.is === 'refused') return { status: 'dropped' }
    return later(updated.is === 'rate-limited' ? updated.retryInMs : updateRetryMs)
  }
  const posted = await postOnce(app, { message, place, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled', cardTs: posted.ts, rememberMs: listedMs }
  if (posted.is !== 'refused') return laterAfter(posted)
  if (isPassing(posted.error)) return later(passingMs)
  // They can be listed again once Lockkeeper is in the channel.
  const forget = list.alerts.reduce((all, { key, startsAt }) => all.hdel(app.keys.alert(key), String(startsAt)), app.redis.multi())
  await guardStore(() => forget.exec())
  await notifyOperators(app, 'alerts-unposted', unpostedAlerts(list.channelId, posted.error), { about: list.channelId })
  return { status: 'dropped', refused: posted.error }
}
