import { currentRequest } from '../../domain/account/lane.ts'
import { AccountLimitError, ApiError, isKeyRefused, isRefusal } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError, UserError } from '../../domain/errors/errors.ts'
import { likenessOf } from './likeness.ts'
import type { RepeatedLines } from './repeated-lines.ts'

interface ApiErrorHandlerParts {
  lines: Pick<RepeatedLines, 'write'>
  /** Counts an error. Called for each, even if the log has one line for many. */
  count: () => void
  /** Called if the account API rejects the key, so that a person replaces it. While it does, every read of every tracked move has this error. */
  onRefusedKey: (error: ApiError) => void
}

/** Creates the handler that counts and logs errors of the account API. A refusal, such as 404 or 422, is logged but not counted. */
export function createApiErrorHandler({ lines, count, onRefusedKey }: ApiErrorHandlerParts) {
  return function onApiError(error: unknown): void {
    // Without Redis no call is sent.
    if (error instanceof UserError || error instanceof StoreUnavailableError) return
    // A limit is no failure.
    if (!isRefusal(error) && !(error instanceof AccountLimitError)) count()
    lines.write({
      fields: { code: 'account-api-error', error, requestId: currentRequest() },
      text: 'A call to the account API failed',
      about: likenessOf(error),
      onWritten: () => error instanceof ApiError && isKeyRefused(error) && onRefusedKey(error),
    })
  }
}
