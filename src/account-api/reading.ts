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
    // The person, or the approved request, waits for its turn: that is sooner than an account API that is away.
    if (isUnanswered(error) && !(error instanceof AccountLimitError)) return undefined
    throw error
  }
}

/** Handles a failed read in `.catch`: returns undefined if the resource does not exist (404), and throws every other error again. */
export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
