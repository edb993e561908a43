import { ApiError, isKeyRefused, isRefusal, UserError } from '../domain/errors.ts'
import { type Log, throttled } from './log.ts'

interface ApiTroubleParts {
  log: Pick<Log, 'warn'>
  /** Counts one, however often the log is told. */
  count: () => void
  /** Told where a person has to see to it. */
  onRefusedKey: (error: ApiError) => void
}

/** Hears of everything that goes wrong with the account API. Its refusals of what was asked are answers: they are not counted. */
export function createApiTrouble({ log, count, onRefusedKey }: ApiTroubleParts) {
  const warn = throttled((error: unknown) => log.warn({ error }, 'account API'))
  // A refused key is met with at every look at every move.
  const tell = throttled(onRefusedKey)

  return function onApiError(error: unknown): void {
    if (error instanceof UserError) return
    if (!isRefusal(error)) count()
    warn(error)
    if (error instanceof ApiError && isKeyRefused(error)) tell(error)
  }
}
