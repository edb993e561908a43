import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { SourceAlert } from '../../domain/request.ts'
import { formatDuration, someOf } from '../../domain/text.ts'
import { unpostedAlerts } from '../../messages/operator-notices.ts'
import { newsOf } from '../../messages/request-content.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { isPassing, later, laterAfter, passingMs, postOnce } from '../../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../../record/owed.ts'
import { guardStore } from '../../redis/connect.ts'
import { actionsFor, message, wholeSection } from '../../slack/blocks.ts'
import { readJson } from '../../slack/payloads.ts'
import { itemButton } from '../../slack/table.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords, outsideLink, ownWords, truncate } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'

/** An alert that led to no request. */
export const ListedAlert = z.object({
  /** Its key in Redis, and its start in ms since 1970. */
  key: z.string(),
  startsAt: z.number(),
  source: SourceAlert,
  /** What it says is wrong. */
  summary: z.string().optional(),
  /** In markup of Slack. */
  why: z.string(),
  /** What the server is called, by the account or by the alert, and its id if the account shows it. */
  server: z.string().optional(),
  serverId: z.string().optional(),
  /** Set if an evacuation by hand can't help. */
  notByHand: z.literal(true).optional(),
})
export type ListedAlert = z.infer<typeof ListedAlert>

/** The message of alerts that led to no request, as Redis has it. `calls`: who has to see to them, in markup of Slack. Absent if nobody has to. */
export const AlertList = z.object({
  channelId: z.string(),
  command: z.string(),
  /** The kind of change that the buttons offer. */
  kind: z.string(),
  calls: z.string().optional(),
  listedAt: z.number(),
  alerts: z.array(ListedAlert),
})
export type AlertList = z.infer<typeof AlertList>

/** How an alert is named among others in Redis. */
export const nameOfAlert = ({ key, startsAt }: Pick<ListedAlert, 'key' | 'startsAt'>): string => `${key}@${startsAt}`

/** A message says of this many alerts why nothing was requested. Of the others it names some. */
const mostListed = 10

/** A phone shows the beginning: the servers that it is about. */
const mostNamed = 3

/** The servers that the message offers to evacuate. */
const mostOffered = 5

/** Says why the alerts of a delivery led to no request. `resolvedAt`: when each of them resolved, by its name. Nobody is called once all have. */
export function alertList(list: AlertList, resolvedAt: ReadonlyMap<string, number>): Message {
  const { alerts, command, calls, listedAt } = list
  const about = alerts.length === 1 ? 'an alert' : `${alerts.length} alerts`
  const names = [...new Set(alerts.map(({ server, source }) => nameOf(server ?? source.name).text))]
  const broken = mrkdwn`*${alerts.length === 1 ? 'Alert' : `${alerts.length} alerts`}:* ${ownWords(someOf(names, { most: mostNamed }))}.`
  const firing = alerts.filter((alert) => !resolvedAt.has(nameOfAlert(alert)))
  const who = calls ? mrkdwn` ${ownWords(calls)}, evacuate by hand:` : mrkdwn` By hand:`
  const cc = calls ? mrkdwn` cc ${ownWords(calls)}.` : mrkdwn``
  const isByHand = calls !== undefined && firing.some(({ notByHand }) => !notByHand)
  const toDo = isByHand ? mrkdwn`${who} ${code(`${command} evacuate`)}.` : cc
  const head =
    firing.length === 0
      ? mrkdwn`:white_check_mark: *Resolved.* Nothing was requested for ${about}. At that time:`
      : mrkdwn`:warning: ${broken} Nothing was requested.${toDo}`
  const lines = alerts.slice(0, mostListed).map((alert) => {
    const { server, why, source, summary, startsAt } = alert
    const at = resolvedAt.get(nameOfAlert(alert))
    const end = at === undefined ? '' : ` (resolved after ${formatDuration(at - (startsAt > 0 ? startsAt : listedAt))})`
    const news = newsOf({ alert: source, reason: summary, createdAt: listedAt })
    const about = server === undefined || news.includes(server) ? mrkdwn`` : mrkdwn`${nameOf(server)}: `
    const linked = outsideLink(source.link, 'Open the alert')
    return mrkdwn`•  ${about}${code(news)}. ${ownWords(why)}${linked ? mrkdwn` ${linked}` : ''}${end}`
  })
  const more = alerts.slice(mostListed).map(({ server, source }) => nameOf(server ?? source.name).text)
  const rest = more.length > 0 ? [mrkdwn`And ${more.length} more: ${ownWords(someOf(more))}.`] : []
  return message([...wholeSection(joinMrkdwn([head, ...lines, ...rest], '\n')), ...offers(firing, list)])
}

/** A press opens the form with that server, for those who may request it. Slack refuses two buttons of one action in one block. */
function offers(alerts: ListedAlert[], { kind, command, alerts: { length } }: AlertList): KnownBlock[] {
  const isOnly = length === 1
  const servers = new Map(alerts.flatMap(({ serverId, server }) => (serverId === undefined ? [] : [[serverId, server ?? serverId]])))
  const offered = [...servers].slice(0, mostOffered)
  return offered.flatMap(([id, name], index) => {
    const label = isOnly ? 'Evacuate…' : `Evacuate ${truncate(name, 60, 'plain')}…`
    return actionsFor(command, `evacuate${'abcde'[index]}`, itemButton({ of: 'server', kind, label }, { id, text: name }))
  })
}

/** No server has a longer name. */
export function nameOf(text: string): Mrkdwn {
  return nameWords(truncate(text, 253, 'plain'))
}

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
    const updated = await app.slack.messenger.update({ ...place, ts: String(JSON.parse(hash.cardTs)) }, message, leased.sendBefore)
    if (updated.is === 'refused' && isPassing(updated.error)) return later(passingMs)
    // Another process may have shown more ends meanwhile, and Slack this update after that.
    const isLast = (await guardStore(() => app.redis.hlen(app.keys.message(messageId)))) === Object.keys(hash).length
    if (updated.is === 'refused' || (updated.is === 'sent' && isLast)) return { status: 'dropped' }
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

/** The message shows when its alerts resolve for as long as this, in ms. */
export const listedMs = 7 * 24 * 3_600_000

const updateRetryMs = 3_000

/** What is owed once an alert of a message has resolved. */
export const UpdatedList = z.object({ updates: z.string() })
