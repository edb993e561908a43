import type { ApiAnswer } from '../../../audit/entry.ts'
import type { OnAnswer } from '../../../domain/change/on-answer.ts'
import { AccountLimitError, ApiContractError, ApiError, ApiUnreachableError, rateLimitCode } from '../../../domain/errors/api-errors.ts'

/** Creates a recorder of the account API's answer to a write, for the audit. */
export function createAnswerRecorder() {
  let last: ApiAnswer | undefined
  const onAnswer: OnAnswer = ({ operation, status }) => {
    last = typeof status === 'number' ? { operation, status } : { operation, problem: status }
  }
  /** Returns the last answer, or undefined if nothing was sent. */
  const answer = () => last
  return { onAnswer, answer }
}

/**
 * Returns the answer to a failed write, without text from outside. Returns undefined for an error that occurred before anything was sent.
 */
export function answerOf(error: unknown): ApiAnswer | undefined {
  if (error instanceof AccountLimitError)
    return error.answered ? { operation: error.operation, status: 429, codes: [rateLimitCode] } : undefined
  if (error instanceof ApiError) {
    const { operation, status, codes } = error
    return { operation, status, ...(codes.length > 0 ? { codes } : {}) }
  }
  if (error instanceof ApiContractError) return { operation: error.operation, status: error.status, problem: 'unreadable answer' }
  if (error instanceof ApiUnreachableError) return { operation: error.operation, problem: error.problem }
  return undefined
}
