import { ApiError, isKeyRefused, isRefusal } from '../../domain/api-errors.ts'
import { UserError } from '../../domain/errors.ts'
import { type Log, throttled } from './log.ts'

interface ApiErrorHandlerParts {
  log: Pick<Log, 'warn'>
  /** Counts an error. Called for each, even if the log has one line for many. */
  count: () => void
  /** Called if the account API rejects the key, so that a person replaces it. */
  onRefusedKey: (error: ApiError) => void
}

/** Creates the handler that counts and logs errors of the account API. A refusal, such as 404 or 422, is logged but not counted. */
export function createApiErrorHandler({ log, count, onRefusedKey }: ApiErrorHandlerParts) {
  const warn = throttled((error: unknown) => log.warn({ code: 'account-api-error', error }, 'A call to the account API failed'))
  // While the key is rejected, every read of every tracked move reports it.
  const reportRefusedKey = throttled(onRefusedKey)

  return function onApiError(error: unknown): void {
    if (error instanceof UserError) return
    if (!isRefusal(error)) count()
    warn(error)
    if (error instanceof ApiError && isKeyRefused(error)) reportRefusedKey(error)
  }
}
