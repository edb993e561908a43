import type { CallKind } from '../../../domain/account/lane.ts'
import type { Request, Waits } from '../../../domain/request/request.ts'
import type { Wake } from '../../../redis/queues.ts'
import { approvalHoldsMs } from '../../access/check-authority.ts'
import type { Opened } from '../../catalog.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import type { Store } from '../../store/store.ts'
import { repeatPreflight } from './repeat-preflight.ts'

const retryPreflightMs = 10_000

/** A wait that ends this much earlier or later than its message says is not shown again. */
const sameWaitMs = 10_000

interface CheckAgainParts {
  store: Pick<Store, 'take' | 'now' | 'postponeIfUnchanged'>
  wake: Wake
  perMinute: Record<CallKind, number>
  onApiError: (error: unknown) => void
}

/**
 * Creates what an approved request does until its write may be sent: the preflight check is repeated, and the request waits for the account API or
 * for its turn. A wait prolongs no approval.
 */
export function createCheckAgain({ store, wake, perMinute, onApiError }: CheckAgainParts) {
  /** Returns what the check read, or ends or postpones the request and returns undefined. */
  async function checkAgain(request: Request, opened: Opened): Promise<{ facts: unknown } | undefined> {
    const result = await repeatPreflight(opened, onApiError)
    switch (result.is) {
      case 'unchanged':
        return { facts: result.facts }
      case 'changed':
        await store.take(request, 'void', { set: { causes: result.causes } })
        return undefined
      case 'refused':
        await drop(request, result.cause)
        return undefined
      case 'limited':
        await waitForTurn(request, 'reads', result.waitMs)
        return undefined
      case 'unread':
        await waitForAccount(request, result.cause)
        return undefined
    }
  }

  /** Repeats the check later, or ends a request that has waited too long. The first time that nothing answers, the request message says so. */
  async function waitForAccount(request: Request, cause: CommonFinding): Promise<void> {
    if (isTooLate(request, await store.now())) return drop(request, cause)
    // If the account API rejects the key, it does answer, and the message must not say otherwise.
    if (request.waits?.for !== 'account' && !('refusal' in cause))
      await store.take(request, 'wait-for-account', { set: { waits: { for: 'account' } }, dueInMs: retryPreflightMs })
    else await store.postponeIfUnchanged(request, retryPreflightMs)
  }

  const waitForWrites = (request: Request, waitMs: number) => waitForTurn(request, 'writes', waitMs)

  /** Waits until a call may be free, or ends a request whose approval is over. */
  async function waitForTurn(request: Request, what: 'reads' | 'writes', waitMs: number): Promise<void> {
    const now = await store.now()
    if (isTooLate(request, now)) return drop(request, { code: 'limit-used-up', perMinute: perMinuteOf(what) })
    const waits: Waits = { for: what, ms: waitMs, until: now + waitMs, perMinute: perMinuteOf(what) }
    const { waits: shown } = request
    const isShown = shown?.for === what && Math.abs((shown.until ?? 0) - now - waitMs) < sameWaitMs
    if (isShown) await store.postponeIfUnchanged(request, waitMs)
    else await store.take(request, 'wait-for-turn', { set: { waits }, dueInMs: waitMs })
    await wake(request, waitMs + 20)
  }

  const perMinuteOf = (what: 'reads' | 'writes') => perMinute[what === 'reads' ? 'read' : 'write']

  async function drop(request: Request, cause: CommonFinding): Promise<void> {
    await store.take(request, 'drop', { set: { causes: [cause] } })
  }

  return { checkAgain, waitForWrites }
}

function isTooLate(request: Request, now: number): boolean {
  return sinceApprovalMs(request, now) >= approvalHoldsMs
}

/** Returns the time since the last approval, or since the request if its rule needs none. `now`: ms since 1970 by Redis' clock. */
export function sinceApprovalMs({ decidedAt, createdAt }: Request, now: number): number {
  return now - (decidedAt ?? createdAt)
}
