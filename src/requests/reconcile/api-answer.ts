import type { ApiAnswer } from '../../audit/entry.ts'
import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/api-errors.ts'
import type { OnAnswer } from '../../domain/change.ts'

/** Keeps what the account API answered to a write, for the audit. */
export function createAnswerRecorder() {
  let last: ApiAnswer | undefined
  const onAnswer: OnAnswer = ({ operation, status }) => {
    last = typeof status === 'number' ? { operation, status } : { operation, problem: status }
  }
  /** Undefined where nothing was sent. */
  const answer = () => last
  return { onAnswer, answer }
}

/** What a failed write was answered with, without outside text. Undefined for an error before anything was sent. */
export function answerOf(error: unknown): ApiAnswer | undefined {
  if (error instanceof ApiError) {
    const { operation, status, codes } = error
    return { operation, status, ...(codes.length > 0 ? { codes } : {}) }
  }
  if (error instanceof ApiContractError) return { operation: error.operation, status: error.status, problem: 'unreadable answer' }
  if (error instanceof ApiUnreachableError) return { operation: error.operation, problem: error.problem }
  return undefined
}
