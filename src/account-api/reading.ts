import { ApiError, isUnanswered, UserError } from '../domain/errors.ts'

export type Read<T> = { is: 'read'; value: T } | { is: 'unread' }

/** A read that gets no answer leaves its question open; that something does not exist is an answer, and refused with this sentence. */
export async function readOrNothing<T>(read: () => Promise<T>, absent: string): Promise<Read<T>> {
  try {
    return { is: 'read', value: await read() }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new UserError(absent)
    if (isUnanswered(error)) return { is: 'unread' }
    throw error
  }
}

/** For `.catch`: what does not exist is undefined, and everything else is still thrown. */
export function nothingIfAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}
