import type { Request } from '../../../domain/request/request.ts'
import type { Opened } from '../../catalog.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import type { Store } from '../../store/store.ts'
import { repeatPreflight } from './repeat-preflight.ts'

/** How long after the approval the preflight check is repeated while the account cannot be read. */
export const patienceMs = 10 * 60_000

const retryPreflightMs = 10_000

interface CheckAgainParts {
  store: Pick<Store, 'take' | 'now' | 'postponeIfUnchanged'>
  onApiError: (error: unknown) => void
}

/**
 * Creates the function that repeats the preflight check of an approved request. It returns what the check read, or ends or postpones the
 * request and returns undefined.
 */
export function createCheckAgain({ store, onApiError }: CheckAgainParts) {
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
      case 'unread':
        await waitForAccount(request, result.cause)
        return undefined
    }
  }

  /** Repeats the check later, or ends a request that has waited too long. The first time that nothing answers, the request message says so. */
  async function waitForAccount(request: Request, cause: CommonFinding): Promise<void> {
    if (sinceApprovalMs(request, await store.now()) >= patienceMs) return drop(request, cause)
    // If the account API rejects the key, it does answer, and the message must not say otherwise.
    if (request.unreadAt === undefined && !('refusal' in cause))
      await store.take(request, 'wait-for-account', { dueInMs: retryPreflightMs })
    else await store.postponeIfUnchanged(request, retryPreflightMs)
  }

  async function drop(request: Request, cause: CommonFinding): Promise<void> {
    await store.take(request, 'drop', { set: { causes: [cause] } })
  }

  return checkAgain
}

/** Returns the time since the last approval, or since the request if its rule needs none. `now`: ms since 1970 by Redis' clock. */
export function sinceApprovalMs({ decidedAt, createdAt }: Request, now: number): number {
  return now - (decidedAt ?? createdAt)
}
