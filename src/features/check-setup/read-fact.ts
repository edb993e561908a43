import { ApiContractError, ApiError } from '../../domain/errors/api-errors.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { writeRefusalOf } from '../../domain/errors/write-refusal.ts'
import { withinOr } from '../../domain/within.ts'
import type { Unavailable } from './facts.ts'

/** The time limit of each read. One read that hangs neither hides the others nor delays the report. */
export const factTimeoutMs = 1_500

/** Returns the fact, or why it is unavailable. Never throws. */
export async function readFact<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await withinOr(factTimeoutMs, work(), { unavailable: `no answer within ${factTimeoutMs / 1_000} s` })
  } catch (error) {
    return { unavailable: whyNot(error) }
  }
}

/** Uses Lockkeeper's own words, because the messages of errors may name hosts or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) {
    if (error.code === undefined) return "Redis isn't responding"
    return writeRefusalOf(error.code) ? `Redis refuses writes (${error.code})` : `Redis refused the command (${error.code})`
  }
  if (error instanceof ApiError) return `the account API returned an error (${error.status})`
  if (error instanceof ApiContractError) return 'the account API returned an unreadable answer'
  return 'no answer'
}
