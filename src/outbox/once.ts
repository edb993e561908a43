import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { deadlineIn } from '../domain/deadline.ts'
import { asRepeat } from '../messages/reports.ts'
import type { Lease, Outgoing, Owed, Settlement } from '../record/owed.ts'
import { type ReportName, reportNames } from '../record/steps.ts'
import { guardStore } from '../redis/connect.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { sendWithTable } from '../slack/interactions.ts'
import { readJson } from '../slack/payloads.ts'
import { longestCallMs, type Posted, rejectedTokenErrors, type SearchResult, type SlackFailure } from '../slack/web-api.ts'

/**
 * Everything that is posted by itself goes through here, each message once: one process at a time leases it, searches Slack for it if an earlier
 * try may have posted it, posts it, and settles it. A process that dies in between leaves the lease, and the next one searches. Where Slack may
 * show an earlier try only after that search, a late look deletes what is there twice.
 */
const run = scriptsOf(readScripts(import.meta.url, ['lease', 'settle', 'owe']))

export const isReport = (name: string): name is ReportName => reportNames.some((each) => each === name)

/** What the record of a request owes: it is rendered when it is sent. Every other message is stored with its facts, for its sender. */
export const isAboutRequest = (name: string): boolean => name === 'card' || isReport(name)

export const memberOf = ({ id, name }: Owed): string => `${id}/${name}`

/**
 * `leased-elsewhere`: another process sends it. `settled`: it was sent, or nothing owes it. `missing`: what owes it is gone. `cardless`: send the card first.
 * `behind`: send that report first.
 */
type Leased =
  | { is: 'leased'; lease: Lease /** What owes it, at the lease. */; fields: Record<string, string>; leasedAtMs: number }
  | { is: 'leased-elsewhere' | 'settled' | 'missing' | 'cardless' }
  | { is: 'behind'; first: ReportName }

interface LeaseOptions {
  /** Slack refused the card, so the report does not wait for it. */
  isCardRefused?: boolean
  /** The facts of a message that is owed from now on, in place of those that Redis has. */
  facts?: string
}

/** How long after a try that Slack did not answer in time a message is searched for, in ms. A slow Slack shows it only then. */
export const searchesAfterMs = [3_000, 10_000, 30_000]

/** How long a lease lasts, in ms. A search takes several requests to Slack, so it gets more time. */
const leaseMs = { fresh: 10_000, unsure: 20_000 }

/** The wait for another version of Lockkeeper, which wrote the request or owes the message. It stays due for that version. */
export const otherVersionRetryMs = 60_000

/** How long a message that is about no request is owed, in ms. Nobody needs an older one. */
export const owedMs = 24 * 3_600_000

/** How long Slack has had such a message before it can be owed again, over all processes and requests. */
const rememberedMs = 3_600_000

/** Throws StoreUnavailableError if Redis does not answer. */
export async function lease(app: App, owed: Owed, { isCardRefused = false, facts }: LeaseOptions = {}): Promise<Leased> {
  const token = randomUUID()
  const clock = { fresh: deadlineIn(leaseMs.fresh - longestCallMs), unsure: deadlineIn(leaseMs.unsure - longestCallMs) }
  const times = [String(leaseMs.fresh), String(leaseMs.unsure)]
  const values = [memberOf(owed), owed.name, token, ...times, isCardRefused ? '1' : '0', reportNames.join()]
  const answer = await run(app.redis, 'lease', keysOf(app, owed), facts === undefined ? values : [...values, facts, String(owedMs)])
  const [is, searchedForMs, triedUntilMs, owedBy, isSlow, leasedAtMs, ...flat] = answer
  if (is === 'behind') return { is, first: answer[1] as ReportName }
  if (is !== 'fresh' && is !== 'unsure') return { is: is as 'leased-elsewhere' }
  const sinceTryMs = Number(leasedAtMs) - Number(triedUntilMs)
  const leased: Lease = {
    of: owed,
    token,
    mode: is,
    searchedForMs: Number(searchedForMs),
    searchAgainInMs: isSlow === '1' ? searchesAfterMs.map((ms) => ms - sinceTryMs).find((leftMs) => leftMs > 0) : undefined,
    triedUntilMs: triedUntilMs ? Number(triedUntilMs) : undefined,
    owedBy: owedBy ? Number(owedBy) : undefined,
    sendBefore: clock[is],
    untilMs: Number(leasedAtMs) + leaseMs[is],
  }
  const fields = Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]))
  return { is: 'leased', lease: leased, fields, leasedAtMs: Number(leasedAtMs) }
}

/** `again`: the record changed, so send the card again. `lost`: another process holds the lease now. */
type Settled = 'settled' | 'again' | 'later' | 'lost'

/** Stores the result of a try. Throws StoreUnavailableError if Redis does not answer. */
export async function settle(app: App, owed: Owed, leased: Lease, result: Settlement): Promise<Settled> {
  const { status, retryInMs = 0, cardTs = '', shownRevision = 0, owes = '', rememberMs = rememberedMs, isSlow = false } = result
  const shown = [cardTs, String(shownRevision), owes]
  const slow = [isSlow ? '1' : '', String(lateLookMs)]
  const values = [memberOf(owed), owed.name, leased.token, status, String(retryInMs), ...shown, String(rememberMs), ...slow]
  const [outcome] = await run(app.redis, 'settle', keysOf(app, owed), values)
  // The process that holds the lease now may have searched for it before Slack showed it.
  if (outcome === 'lost' && leased.posted) await oweLateLook(app, leased, leased.posted)
  return outcome as Settled
}

/** Owes a message about no request, with facts that another module reads and verifies. `keepMs`: how long it is owed. `inMs`: when it is due. */
export async function oweFacts(app: App, owed: Owed, facts: string, keepMs: number, inMs = 0): Promise<void> {
  await run(app.redis, 'owe', [app.keys.message(owed.id), app.keys.outbox], [memberOf(owed), facts, String(keepMs), String(inMs)])
}

/** How long after a message may have been sent twice the look is due, in ms. Until then, Slack shows also what took it long. */
const lateLookMs = 45_000

/** Owes a look for a second message with this key. In direct messages, no app can search without further scopes. */
async function oweLateLook(app: App, { of, untilMs }: Lease, { place, sinceMs }: Outgoing): Promise<void> {
  const { channelId, threadTs, key } = place
  const facts = JSON.stringify({ of, key, channelId, threadTs, sinceMs, untilMs } satisfies z.input<typeof LateLook>)
  await oweFacts(app, { id: `late-look:${key}`, name: 'late-look' }, facts, owedMs, lateLookMs)
}

/** What Slack may have twice, and where. */
const LateLook = z.object({
  of: z.object({ id: z.string(), name: z.string() }),
  key: z.string(),
  channelId: z.string(),
  threadTs: z.string().optional(),
  /** Since and until when it may have been sent, in ms since 1970 by Redis' clock. A later one is a repeat that is meant. */
  sinceMs: z.number(),
  untilMs: z.number(),
})

function keysOf({ keys }: App, { id, name }: Owed): [hash: string, outbox: string] {
  return [isAboutRequest(name) ? keys.record(id) : keys.message(id), keys.outbox]
}

/** Whether a message is settled, and as which message Slack has it, if its record says so. */
async function readSettled(app: App, owed: Owed): Promise<{ isSettled: boolean; ts: string | undefined }> {
  const [item, ts] = await guardStore(() => app.redis.hmget(keysOf(app, owed)[0], `outbox:${owed.name}`, 'cardTs'))
  return { isSettled: !item || JSON.parse(item).status === 'settled', ts: ts ? String(JSON.parse(ts)) : undefined }
}

/** `sent`: Slack has the message. `refused`: Slack does not take it. `later`: it stays in the outbox. */
export type Delivered = { is: 'sent' } | { is: 'refused'; error: string } | { is: 'later' }

export function deliveredOf({ status, refused }: Settlement): Delivered {
  if (refused !== undefined) return { is: 'refused', error: refused }
  return { is: status === 'settled' || status === 'dropped' ? 'sent' : 'later' }
}

/** This attempt has certainly sent nothing. */
interface Unsent {
  is: 'unsent-for'
  retryInMs: number
}

const unsentFor = (ms: number): Unsent => ({ is: 'unsent-for', retryInMs: ms })

/** The wait after a lost answer, and after a failure of Slack. */
const retryInMs = 3_000

/** How long a failing search is repeated before the message is sent again: a repeated message is better than a missing one. */
const longestSearchMs = 10 * 60_000

/** Redis' clock may be fast or slow, the process may have been suspended before it sent, and Redis may have lost the latest try. */
const margins = { afterMs: 10 * 60_000, beforeMs: 60_000 }

/** Posts it while the lease holds, unless a search finds it (`found`). If Slack allows no search, it says that it may be a repeat. */
export async function postOnce(app: App, out: Outgoing, leased: Lease): Promise<Posted | Unsent | { is: 'found'; ts: string }> {
  const found = await search(app, out, leased)
  if (found.is === 'rate-limited') return found
  const isAnswered = found.is === 'found' || found.is === 'absent'
  // Only the search failed: nothing was sent.
  if (!isAnswered && found.is !== 'cannot-search') return unsentFor(retryInMs)
  if (found.is !== 'found' && leased.searchAgainInMs !== undefined) return unsentFor(leased.searchAgainInMs)
  // Before it is posted, because the process may end right after that. A notice that is posted without Redis has no lease.
  if (isAnswered && leased.mode === 'unsure' && leased.token !== '') await oweLateLook(app, leased, out)
  if (found.is === 'found') return found
  const message = found.is === 'cannot-search' ? asRepeat(out.message) : out.message
  leased.posted = out
  return sendWithTable(message, (one) => app.slack.messenger.post(out.place, one, leased.sendBefore))
}

async function search(app: App, { place, sinceMs }: Outgoing, leased: Lease): Promise<SearchResult> {
  if (leased.mode === 'fresh') return { is: 'absent' }
  const range = {
    oldestMs: sinceMs - margins.beforeMs,
    latestMs: leased.triedUntilMs === undefined ? undefined : leased.triedUntilMs + margins.afterMs,
  }
  const found = await app.slack.messenger.find({ ...place, ...range })
  const hasFailed = found.is !== 'found' && found.is !== 'absent' && found.is !== 'cannot-search'
  return hasFailed && leased.searchedForMs > longestSearchMs ? { is: 'cannot-search' } : found
}

export function later(inMs: number): Settlement {
  return { status: 'queued', retryInMs: inMs }
}

export function laterAfter(failure: Exclude<SlackFailure, { is: 'refused' }> | Unsent): Settlement {
  if ('retryInMs' in failure) return later(failure.retryInMs)
  return failure.is === 'unsent' ? later(retryInMs) : { status: 'unsure', retryInMs, isSlow: failure.is === 'timed-out' }
}

const looked: Settlement = { status: 'dropped' }

/** Deletes all messages with a key but the one that the record names, or else the oldest. A second search decides the same. */
export async function lookLate(app: App, facts: string): Promise<Settlement> {
  const look = readJson(LateLook, facts)
  if (!look) return looked
  const { of, key, channelId, threadTs, sinceMs, untilMs } = look
  const { isSettled, ts: named } = await readSettled(app, of)
  // Its next try may find any of them, and names it only then.
  if (!isSettled) return later(lateLookMs)
  const range = { oldestMs: sinceMs - margins.beforeMs, latestMs: untilMs + margins.afterMs }
  const result = await app.slack.messenger.find({ channelId, threadTs, key, ...range, wantsAll: true })
  if (result.is === 'absent') return looked
  if (result.is === 'cannot-search') {
    app.log.info({ message: key }, "Couldn't look for a second copy of a message, because Slack allows no search there")
    return looked
  }
  if (result.is !== 'found') return laterAfter(result)
  const inOrder = result.all.toSorted((one, other) => Number(one) - Number(other))
  const kept = inOrder.find((ts) => ts === named) ?? inOrder[0]
  for (const ts of inOrder) {
    if (ts === kept) continue
    const removed = await app.slack.messenger.remove({ channelId, ts })
    if (removed.is !== 'sent' && removed.is !== 'refused') return laterAfter(removed)
    const text = removed.is === 'sent' ? 'Deleted the second copy of a message' : 'Slack refused to delete the second copy of a message'
    app.log.info({ message: key, problem: removed.is === 'refused' ? removed.error : undefined }, text)
  }
  return looked
}

/** Slack's refusals that no message causes: the token is being exchanged, or the app is being installed again. */
const passing = new Set([...rejectedTokenErrors, 'missing_scope', 'accesslimited', 'org_login_required'])

/** The wait after a refusal that passes. */
export const passingMs = 30_000

export function isPassing(error: string): boolean {
  return passing.has(error)
}
