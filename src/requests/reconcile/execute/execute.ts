import type { Audit } from '../../../audit/intake.ts'
import { type WriteTurns, withTurnTaken } from '../../../domain/account/lane.ts'
import type { Items } from '../../../domain/change/change.ts'
import type { AuthorityProblem } from '../../../domain/request/authority-problem.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestItem } from '../../../domain/request/request-item.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import type { Wake } from '../../../redis/queues.ts'
import type { CheckAuthority } from '../../access/check-authority.ts'
import { approvalHoldsMs } from '../../access/check-authority.ts'
import type { Catalog } from '../../catalog.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import type { StepName } from '../../steps.ts'
import type { NoteOf } from '../../store/request-note.ts'
import type { Store } from '../../store/store.ts'
import type { SendItems } from '../items/send-items.ts'
import { createCheckAgain, sinceApprovalMs } from './check-again.ts'
import { createRequestOutcomes, firstObservationMs } from './request-outcomes.ts'
import { sendWrite } from './send-write.ts'

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
