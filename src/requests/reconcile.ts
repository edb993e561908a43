import type { Audit } from '../audit/audit.ts'
import { isMachine } from '../domain/approval.ts'
import type { Items } from '../domain/change.ts'
import { inLane, type WriteTurns, withTurnTaken } from '../domain/lane.ts'
import { type AuthorityProblem, isItemUnderway, isOpen, type Request, type RequestItem } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import { refusedCard } from '../messages/words.ts'
import type { Delivered } from '../outbox/once.ts'
import type { Deliver, Show } from '../outbox/outbox.ts'
import type { Wake } from '../redis/queues.ts'
import { notice } from '../slack/blocks.ts'
import { type Messenger, unreachableChannelErrors } from '../slack/web-api.ts'
import { approvalHoldsMs, type CheckAuthority, type CheckRecord, type Distrust } from './authority.ts'
import type { Catalog } from './catalog.ts'
import { approvalData } from './decide.ts'
import type { SendItems } from './items.ts'
import { createCheckAgain, createRequestOutcomes, firstObservationMs, sendWrite, sinceApprovalMs } from './send.ts'
import type { StepName } from './steps.ts'
import { firstReminderAt, type NoteOf, type Store } from './store.ts'
import type { Track } from './track.ts'

/** The wait before a request that was signed with an unknown key is tried again, because a deployment may bring the key. */
const retryUnknownKeyMs = 30_000

/**
 * How long the result of the preflight check allows the write. Redis may not answer between the two, and the account may change meanwhile.
 */
const preflightValidMs = 20_000

interface ExecuteParts {
  store: Store
  audit: Pick<Audit, 'note'>
  noteOf: NoteOf
  catalog: Catalog
  onApiError: (error: unknown) => void
  budget: WriteTurns
  wake: Wake
  sendItems: SendItems
  signatures: RequestSignatures
  /** Checks that people allowed the write. */
  checkAuthority: CheckAuthority
  /** Called with a request whose record, approvals or history cannot be genuine, or that was signed with an unknown key. */
  onDistrusted: (request: Request, problem: AuthorityProblem) => Promise<void> | void
}

/**
 * Creates the function that carries out an approved request: it repeats the preflight check, and sends the write at most once. Only the
 * process that takes the step `send` sends the write. All others, and every process after a crash, only observe the outcome.
 */
export function createExecute({
  store,
  audit,
  noteOf,
  catalog,
  onApiError,
  budget,
  wake,
  sendItems,
  signatures,
  checkAuthority,
  onDistrusted,
}: ExecuteParts) {
  const { checkAgain, waitForWrites } = createCheckAgain({ store, wake, perMinute: budget.perMinute, onApiError })
  const outcomesOf = createRequestOutcomes({ store, audit, noteOf, wake, perMinute: budget.perMinute.write })

  return async function execute(request: Request): Promise<void> {
    const opened = catalog.open(request)
    const now = await store.now()
    const startedAt = performance.now()
    if (await dropOutdated(request, now)) return
    // Without this, a record that somebody changed in Redis would be reported as a change of the account. A request that has waited too long
    // for the account API ends with what that API answered.
    const early = await checkAuthority(request, now)
    if (early && early.code !== 'approved-too-long-ago') return refuseWithoutAuthority(request, early)
    const { items } = opened.change
    // The items of a bundle each wait for their own turn.
    const waitMs = items ? 0 : await budget.waitForWrite('execute', request.id)
    if (waitMs > 0) return waitForWrites(request, waitMs)
    const checked = await checkAgain(request, opened)
    if (!checked) return
    const { facts } = checked
    const problem = await checkAuthority(request, await store.now())
    if (problem) return refuseWithoutAuthority(request, problem)

    // Before the step, so that the write does not wait after it. A turn of a write that is not sent is lost, which only sends less.
    const turnMs = items ? 0 : await budget.takeWrite('execute', request.id)
    if (turnMs > 0) return waitForWrites(request, turnMs)
    const claimed = await store.take(request, items ? 'begin' : 'send', {
      set: {
        seen: facts,
        seenSignature: signatures.signSeen(request, facts),
        usualMs: (await store.usualDuration(items?.change.kind ?? request.kind))?.medianMs,
        ...(items ? { items: itemsOf(items, opened.facts) } : {}),
      },
      reports: opened.change.remark?.(facts) === undefined ? [] : ['remark'],
      dueInMs: firstObservationMs,
      notAfter: now + preflightValidMs,
    })
    if (claimed.outcome === 'outdated') return store.postpone(request.id, 0)
    if (claimed.outcome !== 'won') return
    if (items) return sendItems(request.id, await store.now())
    // This process may have been suspended after Redis took the step. Then a tick may already have ended the request, so do not write.
    if (performance.now() - startedAt > preflightValidMs) return end(request, 'not-start', { code: 'suspended' })
    await withTurnTaken('execute', () => sendWrite(opened, facts, outcomesOf(request), onApiError))
  }

  /**
   * Ends a request whose present content nobody allowed. A request that was signed with an unknown key waits until this process has that
   * key.
   */
  async function refuseWithoutAuthority(request: Request, problem: AuthorityProblem): Promise<void> {
    // Another process may have sent the write since the request was read. Then the audit shows a newer state.
    const current = await store.find(request.id)
    if (current?.revision !== request.revision) return
    if (problem.code !== 'approved-too-long-ago') await onDistrusted(request, problem)
    if (problem.code === 'unknown-key') return store.postponeIfUnchanged(request, retryUnknownKeyMs)
    await end(request, 'drop', problem)
  }

  /** Ends a request that was approved too long ago, for example before a long outage. Returns whether it did. */
  async function dropOutdated(request: Request, now: number): Promise<boolean> {
    if (sinceApprovalMs(request, now) < request.ttlMs + approvalHoldsMs) return false
    await end(request, 'drop', { code: 'approved-too-long-ago' })
    return true
  }

  async function end(request: Request, step: StepName, cause: CommonFinding | AuthorityProblem): Promise<void> {
    await store.take(request, step, { set: { causes: [cause] } })
  }
}
export type Execute = ReturnType<typeof createExecute>

/** Returns the items at the beginning. An item that must not be sent ends when it is its turn, with an audit note. */
function itemsOf({ of }: Items<unknown, unknown>, approved: unknown): RequestItem[] {
  return of(approved).map(({ id }) => ({ id, state: 'waiting', causes: [] }))
}

interface DiscardUnpostedParts {
  store: Pick<Store, 'discard'>
  messenger: Pick<Messenger, 'post'>
  /** Receives a request of a machine, which has no direct messages, with Slack's error code. */
  onUndeliverable: (request: Request, error: string) => Promise<void> | void
}

/**
 * Creates the function that discards a request whose card Slack refuses, after a direct message to the requester. `error` is Slack's code.
 */
export function createDiscardUnposted({ store, messenger, onUndeliverable }: DiscardUnpostedParts) {
  /** Returns whether the requester, or the operators for a machine, got the news as far as Slack takes it. */
  async function notifyRequester(request: Request, error: string): Promise<boolean> {
    if (isMachine(request.origin)) {
      await onUndeliverable(request, error)
      return true
    }
    const posted = await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
    return posted.is === 'sent' || posted.is === 'refused'
  }

  return async function discardUnposted(request: Request, error: string): Promise<void> {
    // If the outcome of the message is unknown, keep the request, so that it is reconciled again.
    if (await notifyRequester(request, error)) await store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
  }
}
export type DiscardUnposted = ReturnType<typeof createDiscardUnposted>

/** The share of the time to act after which people get each reminder: approvers of a waiting request, requesters of an approved one. */
const reminders = [
  { waiting: 'remind-half', approved: 'remind-handover-half', at: firstReminderAt },
  { waiting: 'remind-last', approved: 'remind-handover-last', at: 0.9 },
] as const

type Reminder = (typeof reminders)[number]['waiting' | 'approved']

/**
 * Returns the reminder that is due for a request that waits for people, the number of reminders whose time has passed, and when the next one
 * is due, in ms since 1970. If several are due because no worker was running, only the last one is returned.
 */
export function remindersOf(request: Request, now: number): { due: Reminder | undefined; passed: number; nextAt: number } {
  const isApproved = request.state === 'approved'
  // The approval gives the requester of a secret the whole time again.
  const from = isApproved ? request.expiresAt - request.ttlMs : request.createdAt
  const times = reminders.map(({ at, ...name }) => ({ name: isApproved ? name.approved : name.waiting, at: from + request.ttlMs * at }))
  const passed = times.filter(({ at }) => now >= at).length
  const due = passed > request.reminded ? times[passed - 1]?.name : undefined
  return { due, passed, nextAt: times[passed]?.at ?? request.expiresAt }
}

/** The wait before a card that Slack has not taken, or has refused, is posted again. A refusal can be temporary, too. */
const cardRetryMs = 2_000
const refusedCardRetryMs = 60_000

/** The wait before a request that changed at the same moment is reconciled again. */
const changedRetryMs = 500

export interface WaitingParts {
  store: Store
  catalog: Catalog
  deliver: Deliver
  show: Show
  discardUnposted: DiscardUnposted
  wake: Wake
}

/** Creates what requests need while they wait for a person: a card, reminders, and an end at the deadline. */
export function createWaiting({ store, catalog, deliver, show, discardUnposted, wake }: WaitingParts) {
  /**
   * Posts the card of a request that waits for approval, and sends its reminders, until its deadline. Returns `exempt` if it was approved
   * because its rule needs no approval.
   */
  async function forApproval(request: Request): Promise<'exempt' | undefined> {
    const now = await store.now()
    if (now >= request.expiresAt) {
      await store.take(request, 'expire')
      await show(request.id)
      return undefined
    }
    if (request.cardTs === undefined) {
      const shown = await deliver(request.id, 'card')
      // Execute nothing before its card is posted, even if it needs no approval.
      if (shown.is !== 'sent') return void (await retryOrDiscard(request, shown))
    }
    if (!request.needsApproval) {
      const { change } = catalog.open(request)
      const approved = await store.take(request, 'exempt', approvalData(change, request, { rule: request.rule, via: 'no-approval' }))
      return approved.outcome === 'won' ? 'exempt' : undefined
    }
    await remind(request, now)
    return undefined
  }

  async function retryOrDiscard(request: Request, shown: Exclude<Delivered, { is: 'sent' }>): Promise<void> {
    if (shown.is === 'refused' && unreachableChannelErrors.has(shown.error)) return discardUnposted(request, shown.error)
    await store.postponeIfUnchanged(request, shown.is === 'refused' ? refusedCardRetryMs : cardRetryMs)
  }

  /** Sends the reminders of an approved request whose requester has to start the change, until its deadline. */
  async function forHandover(request: Request): Promise<void> {
    const now = await store.now()
    if (now < request.expiresAt) return remind(request, now)
    await store.take(request, 'expire-approved', { set: { causes: [{ code: 'not-used' } satisfies CommonFinding] } })
    await show(request.id)
  }

  /** Takes the step of a reminder that is due, and makes the request due again at its next reminder or its deadline. */
  async function remind(request: Request, now: number): Promise<void> {
    const { due, passed, nextAt } = remindersOf(request, now)
    const inMs = nextAt - now + 50
    if (!due) {
      await store.postponeIfUnchanged(request, inMs)
      return wake(request, inMs)
    }
    const reminded = await store.take(request, due, { set: { reminded: passed }, dueInMs: inMs })
    // Another process sent the reminder, or a person acted, at the same moment.
    if (reminded.outcome === 'changed') return store.postpone(request.id, changedRetryMs)
    await wake(request, inMs)
    await show(request.id)
  }

  return { forApproval, forHandover }
}

/** When a request is reconciled again if this attempt takes longer or fails. Two attempts at the same time do no harm. */
const holdMs = 15_000

/** How often items that were reported as not started or failed are observed. */
const trackedItemsMs = 60_000

/** The wait before a request that only another version of Lockkeeper can handle is read again. */
const unknownRetryMs = 10 * 60_000

interface ReconcileParts extends WaitingParts {
  checkRecord: CheckRecord
  distrust: Distrust
  execute: Execute
  track: Track['track']
  sendItems: SendItems
  /** Receives the id of a request that is due and whose record is gone. */
  onLostRecord?: (id: string) => Promise<void> | void
}

/**
 * Creates the function that reads one request and does what it needs now. It may be called for any request, at any time, by several
 * processes at once.
 */
export function createReconcile({ checkRecord, distrust, execute, track, sendItems, ...parts }: ReconcileParts) {
  const { store, catalog, show, onLostRecord = () => {} } = parts
  const waiting = createWaiting(parts)

  async function reconcile(id: string): Promise<void> {
    const request = await store.find(id)
    return request ? inLane('execute', () => reconcileRequest(request), { requestId: id }) : noteLost(id)
  }

  async function reconcileRequest(request: Request): Promise<void> {
    const { id } = request
    if (!catalog.openIfFit(request)) return reconcileUnfit(request)
    await store.postponeIfUnchanged(request, holdMs)
    if (request.state === 'waiting') return (await waiting.forApproval(request)) === 'exempt' ? reconcile(id) : undefined
    if (request.state === 'approved') {
      // A change with a handover is carried out by its requester. Here it can only expire.
      if (catalog.open(request).change.handover) return waiting.forHandover(request)
      await execute(request)
      // While the writes of items are sent, their own steps update the card.
      return (await store.find(id))?.items ? undefined : show(id)
    }
    if (request.items) return reconcileItems(request)
    if (request.state === 'starting' || request.state === 'tracking' || request.trackedUntil !== undefined) {
      await track([request])
      return show(id)
    }
    return store.clearDueIfUnchanged(id, request.revision)
  }

  /** Leaves a genuine record that does not fit to the version of Lockkeeper that wrote it. Any other was changed in Redis. */
  function reconcileUnfit(request: Request): Promise<void> {
    const problem = checkRecord(request)
    if (!problem) return store.postponeIfUnchanged(request, unknownRetryMs)
    const isTracked = isOpen(request.state) || request.trackedUntil !== undefined
    return isTracked ? distrust(request, problem) : store.clearDueIfUnchanged(request.id, request.revision)
  }

  async function noteLost(id: string): Promise<void> {
    if (!(await store.isDue(id))) return
    await onLostRecord(id)
    await store.forgetLost(id)
  }

  /** Sends the remaining items of a request that has begun. Its card is updated later, because many items change at once. */
  async function reconcileItems(request: Request): Promise<void> {
    if (request.state === 'tracking') {
      await sendItems(request.id)
      const sent = await store.find(request.id)
      // Items under way are observed at the next tick, even if other items have to wait longer.
      return sent?.items?.some(isItemUnderway) ? store.postpone(request.id, 0) : undefined
    }
    if (request.trackedUntil === undefined || request.trackedUntil < (await store.now())) {
      return store.clearDueIfUnchanged(request.id, request.revision)
    }
    await track([request])
    await store.postpone(request.id, trackedItemsMs)
  }

  return reconcile
}
export type Reconcile = ReturnType<typeof createReconcile>
