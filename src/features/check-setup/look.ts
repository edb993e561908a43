import { ApiContractError, ApiError, StoreUnavailableError } from '../../domain/errors.ts'
import { withinOr } from '../../domain/within.ts'
import type { Unanswered } from './facts.ts'

/** Each look by itself, so that one thing that hangs does not hide the others, and the answer comes at once. */
export const lookMs = 1_500

/** What a look found, or why it found nothing. Never throws. */
export async function look<T>(work: () => Promise<T>): Promise<T | Unanswered> {
  try {
    return await withinOr(lookMs, work(), { unanswered: `no answer within ${lookMs / 1_000} s` })
  } catch (error) {
    return { unanswered: whyNot(error) }
  }
}

/** In words of ours: messages of errors may name hosts, or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) return error.code === undefined ? 'Redis does not answer' : `Redis refuses it (${error.code})`
  if (error instanceof ApiError) return `the account API answers with status ${error.status}`
  if (error instanceof ApiContractError) return 'the account API answers with something that I do not understand'
  return 'no answer'
}
