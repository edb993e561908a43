import { AccountLimitError, ApiError, isUnanswered } from '../domain/errors/api-errors.ts'

/**
 * Runs a read for a preflight check. Returns undefined if the account API gives no answer; the check then stays open.
 * Calls `refuse` if the resource does not exist (404), and throws every other error unchanged.
 */
export async function readOrRefuse<T>(read: () => Promise<T>, refuse: () => never): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) refuse()
    if (staysUnchecked(error)) return undefined
    throw error
  }
}

/**
 * Whether a preflight check goes on without a read that ended so. Not after the account's limit: the person, or the approved request, waits for its
 * turn, which comes sooner than an account API that is away.
 */
export function staysUnchecked(error: unknown): boolean {
  return isUnanswered(error) && !(error instanceof AccountLimitError)
}

/** Handles a failed read in `.catch`: returns undefined if the resource does not exist (404), and throws every other error again. */
export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
