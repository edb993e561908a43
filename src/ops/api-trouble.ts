import { ApiError, UserError } from '../domain/errors.ts'
import { type Log, throttled } from './log.ts'

/** Hears of everything that goes wrong with the account API. `onRejectedKey` is told where a person has to see to it. */
export function createApiTrouble({ log, onRejectedKey }: { log: Pick<Log, 'warn'>; onRejectedKey: (error: ApiError) => void }) {
  const warn = throttled((error: unknown) => log.warn({ error }, 'account API'))
  // A rejected key is met with at every look at every move.
  const tell = throttled(onRejectedKey)

  return function onApiError(error: unknown): void {
    if (error instanceof UserError) return
    warn(error)
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) tell(error)
  }
}
