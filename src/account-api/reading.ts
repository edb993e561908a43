import { ApiError, isUnanswered, UserError } from '../domain/errors.ts'

/**
 * For a read that a preflight check depends on. Undefined where the account API does not answer: the check stays open. That something
 * does not exist is an answer, and throws UserError with this sentence.
 */
export async function readOrRefuse<T>(read: () => Promise<T>, absent: string): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new UserError(absent)
    if (isUnanswered(error)) return undefined
    throw error
  }
}

/** For `.catch`: what does not exist is undefined, and everything else is still thrown. */
export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
