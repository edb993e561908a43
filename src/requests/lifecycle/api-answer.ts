import type { OnAnswer } from '../../domain/change.ts'
import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/errors.ts'

/** Keeps what the account API answered to a write, for the audit: `elasticIps.move: 202`. */
export function listenForAnswer() {
  let heard: string | undefined
  const onAnswer: OnAnswer = ({ operation, status }) => {
    heard = `${operation}: ${status}`
  }
  return { onAnswer, words: () => heard ?? 'nothing was sent' }
}

/** What a failed write was answered with, without outside text. */
export function answerOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof ApiContractError || error instanceof ApiUnreachableError) return error.message
  return 'failed before it was answered'
}
