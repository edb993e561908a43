import pLimit from 'p-limit'
import type { App } from '../app.ts'
import { isMachine } from '../domain/approval.ts'
import type { Request } from '../domain/request.ts'
import { withinOr } from '../domain/within.ts'
import { actorsIn, asDirect, asRepeat } from '../messages/reports.ts'
import { withChildren } from '../record/children.ts'
import { dueAtOnce } from '../record/due.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { type ReportName, reportNames } from '../record/steps.ts'
import { decodeRecord } from '../record/store.ts'
import { guardStore } from '../redis/connect.ts'
import { scriptsOf } from '../redis/scripts.ts'
import { type Answerable, sendWithTable } from '../slack/interactions.ts'
import { deliverText } from './notices.ts'
import {
  type Delivered,
  deliveredOf,
  isAboutRequest,
  isPassing,
  isReport,
  later,
  laterAfter,
  lease,
  memberOf,
  otherVersionRetryMs,
  passingMs,
  postOnce,
  settle,
} from './once.ts'
import { onUndeliverable } from './operators.ts'
import { canRender, renderCard, renderReport, waitsForPress } from './render.ts'

/** One call sends a card at most five times. If the record changes more often meanwhile, the card stays in the outbox. */
const mostRounds = 5

/**
 * A lease lets one process send. A card is sent again until Slack shows the latest revision; reports go in the order of steps, after it, and to the
 * requester directly if Slack refuses it.
 */
export async function deliver(app: App, id: string, name: string): Promise<Delivered> {
  if (!isAboutRequest(name)) return deliverText(app, { id, name })
  let cardError: string | undefined
  for (let round = 0; round < mostRounds; round += 1) {
    const leased = await lease(app, { id, name }, { isCardRefused: cardError !== undefined })
    switch (leased.is) {
      case 'leased-elsewhere':
        return { is: 'later' }
      case 'settled':
      case 'missing':
        return { is: 'sent' }
      case 'cardless': {
        const card = await deliver(app, id, 'card')
        if (card.is === 'later') return card
        if (card.is === 'refused') cardError = card.error
        continue
      }
      case 'behind':
        return (await deliver(app, id, leased.first)).is === 'later' ? { is: 'later' } : deliver(app, id, name)
    }
    const [request] = await withChildren(app, decode(app, id, leased.fields))
    const isKnown = request && (name === 'card' || isReport(name)) && canRender(app, request)
    // Another version of Lockkeeper wrote the request, or owes the message.
    const result = !isKnown
      ? later(otherVersionRetryMs)
      : name === 'card'
        ? await sendCard(app, request, leased.lease, leased.fields)
        : await sendReport(app, request, name as ReportName, leased.lease, cardError)
    const settled = await settle(app, { id, name }, leased.lease, result)
    const delivered = deliveredOf(result)
    const { kind, sentAt, endedAt } = request ?? {}
    // The time from the end of a change that was sent to its report.
    if (name === 'ended' && delivered.is === 'sent' && settled === 'settled' && kind && sentAt !== undefined && endedAt !== undefined)
      app.metrics.reported(kind, leased.leasedAtMs - endedAt)
    if (settled !== 'again') return delivered
  }
  return { is: 'later' }
}

/** Shows a request's new state without waiting for the next tick: its card, then every report that it owes. */
export async function show(app: App, id: string): Promise<void> {
  await deliver(app, id, 'card')
  const owed = await guardStore(() => app.redis.zmscore(app.keys.outbox, ...reportNames.map((name) => memberOf({ id, name }))))
  // The reports after one that waits wait, too.
  for (const [index, name] of reportNames.entries()) if (owed[index] !== null && (await deliver(app, id, name)).is === 'later') return
}

/** Lets the messages of these requests be updated, although their records did not change. */
export async function showAgain({ redis, keys, store }: Pick<App, 'redis' | 'keys' | 'store'>, requests: Request[]): Promise<void> {
  const now = await store.now()
  const update = redis.multi()
  for (const { id, cardTs } of requests)
    if (cardTs !== undefined) update.hdel(keys.record(id), 'cardRevision').zadd(keys.outbox, now, memberOf({ id, name: 'card' }))
  await guardStore(() => update.exec())
}

const run = scriptsOf()

/** How many requests have their messages sent at the same time. */
const parallel = 16

/** Reports before cards, because people wait for them. `onRefusedCard` gets the id of a request whose card Slack refuses. */
export async function sweepOutbox(app: App, onRefusedCard: (id: string) => void): Promise<void> {
  const members = await run(app.redis, 'due', [app.keys.outbox], ['0', String(dueAtOnce)])
  const owed = await withoutMalformed(app, members)
  owed.sort((a, b) => Number(a.name === 'card') - Number(b.name === 'card'))
  const limit = pLimit(parallel)
  const ofEach = [...Map.groupBy(owed, ({ id }) => id)]
  const sending = ofEach.map(([id, messages]) =>
    limit(async () => {
      let isWaiting = false
      for (const { name } of messages) {
        if (isWaiting && name !== 'card') continue
        const delivered = await deliver(app, id, name).catch((error: unknown) => app.errors.of('jobs')(error, id))
        isWaiting ||= delivered?.is === 'later'
        // Nobody can answer a request without a card, so it is reconciled: it may have to be discarded.
        if (name === 'card' && delivered?.is === 'refused') onRefusedCard(id)
      }
    }),
  )
  await Promise.all(sending)
}

/** Removes members that no version of Lockkeeper wrote: they would be due for ever. */
async function withoutMalformed(app: App, members: string[]): Promise<Owed[]> {
  const malformed = members.filter((member) => !/^.+\/[a-z\d-]+$/.test(member))
  if (malformed.length > 0) {
    await guardStore(() => app.redis.zrem(app.keys.outbox, ...malformed))
    app.errors.of('jobs')(new Error(`removed ${malformed.length} malformed members of the outbox`))
  }
  return members
    .filter((member) => !malformed.includes(member))
    .map((member) => {
      const slash = member.lastIndexOf('/')
      return { id: member.slice(0, slash), name: member.slice(slash + 1) }
    })
}

function decode(app: App, id: string, fields: Record<string, string>): Request[] {
  try {
    return [decodeRecord(id, fields)]
  } catch (error) {
    app.errors.of('jobs')(error, id)
    return []
  }
}

/** The wait after Slack has refused to post a card, and after a failed update. */
const refusedRetryMs = 60_000
const updateRetryMs = 3_000

/** Slack's codes for a card that is gone, or whose channel is. `is_inactive`: the channel is frozen, archived or deleted (docs.slack.dev, "chat.update"). */
const goneErrors = new Set(['message_not_found', 'channel_not_found', 'is_archived', 'is_inactive'])

async function sendCard(app: App, request: Request, leased: Lease, fields: Record<string, string>): Promise<Settlement> {
  const place = { channelId: request.origin.channelId, key: `${request.id}/card` }
  // Its message says what would hold it.
  if (waitsForPress(app, request)) await app.freezes.read()
  const message = renderCard(app, request)
  const posted = request.cardTs
    ? { is: 'found' as const, ts: request.cardTs }
    : await postOnce(app, { message, place, sinceMs: request.createdAt }, leased)
  if (posted.is === 'sent') return { status: 'settled', cardTs: posted.ts, shownRevision: request.revision }
  if (posted.is === 'refused') return { ...later(refusedRetryMs), refused: posted.error }
  if (posted.is !== 'found') return laterAfter(posted)

  const updated = await app.slack.messenger.update({ ...place, ts: posted.ts }, message, leased.sendBefore)
  const settlement: Settlement = { status: 'settled', cardTs: posted.ts, shownRevision: request.revision }
  if (updated.is === 'sent') return settlement
  if (updated.is !== 'refused' || isPassing(updated.error))
    // An update is safe to repeat, also after a lost answer.
    return { ...later(updated.is === 'rate-limited' ? updated.retryInMs : updateRetryMs), isSlow: updated.is === 'timed-out' }
  // The card was posted, so the request counts. A deleted card or a closed channel cannot be repaired: reports then go to the requester directly.
  if (goneErrors.has(updated.error)) return settlement
  if (fields['outbox:outdated'] === undefined) await onUndeliverable(app, request, updated.error, 'outdated')
  return { ...settlement, owes: 'outdated' }
}

/** A Slack that is slow to name people must not use up the lease. Their ids are shown then. */
const longestNamingMs = 1_000

/** `cardError`: Slack's code for refusing the card, so that there is no thread. */
async function sendReport(app: App, request: Request, name: ReportName, leased: Lease, cardError = 'no message'): Promise<Settlement> {
  const names = await withinOr(longestNamingMs, app.directory.names(actorsIn(request, name)), new Map<string, string>())
  const message = renderReport(app, request, name, names)
  if (!message) return { status: 'settled' }
  const { cardTs, createdAt: sinceMs } = request
  // A report that a later step owes again has another key, because it is another message.
  const key = `${request.id}/${name}${leased.owedBy === undefined ? '' : `/${leased.owedBy}`}`
  const place = { channelId: request.origin.channelId, key, threadTs: cardTs, broadcast: name === 'break-glass' }
  const posted = cardTs ? await postOnce(app, { message, place, sinceMs }, leased) : { is: 'refused' as const, error: cardError }
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  if (posted.is !== 'refused') return laterAfter(posted)
  if (isPassing(posted.error)) return later(passingMs)
  if (name === 'break-glass') await onUndeliverable(app, request, posted.error, name)
  // A machine has no direct messages.
  if (isMachine(request.origin)) return giveUp(app, request, posted.error)
  return sendDirectly(app, request, message, { key, error: posted.error }, leased)
}

async function sendDirectly(
  app: App,
  request: Request,
  message: Answerable,
  failed: { key: string; error: string },
  leased: Lease,
): Promise<Settlement> {
  // The bot has no scope to search direct messages, so a message that may have been sent is marked as a repeat.
  const marked = leased.mode === 'unsure' ? asRepeat(message) : message
  const place = { channelId: request.origin.userId, key: failed.key }
  const posted = await sendWithTable(asDirect(marked, request, failed.error), (one) =>
    app.slack.messenger.post(place, one, leased.sendBefore),
  )
  if (posted.is === 'sent') return { status: 'settled' }
  if (posted.is !== 'refused') return laterAfter(posted)
  return isPassing(posted.error) ? later(passingMs) : giveUp(app, request, posted.error)
}

async function giveUp(app: App, request: Request, error: string): Promise<Settlement> {
  await onUndeliverable(app, request, error)
  return { status: 'settled', refused: error }
}
