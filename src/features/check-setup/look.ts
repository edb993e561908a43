import { ApiContractError, ApiError, StoreUnavailableError } from '../../domain/errors.ts'
import type { Unanswered } from './facts.ts'

/** Each look by itself, so that one thing that hangs does not hide the others, and the answer comes at once. */
export const lookMs = 1_500

/** What a look found, or why it found nothing. Never throws. */
export async function look<T>(work: () => Promise<T>): Promise<T | Unanswered> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Unanswered>((resolve) => {
    timer = setTimeout(() => resolve({ unanswered: `no answer within ${lookMs / 1_000} s` }), lookMs)
  })
  try {
    return await Promise.race([work(), late])
  } catch (error) {
    return { unanswered: whyNot(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** In words of ours: messages of errors may name hosts, or quote what was sent. */
function whyNot(error: unknown): string {
  if (error instanceof StoreUnavailableError) return storeProblem(error) ?? 'Redis does not answer'
  if (error instanceof ApiError) return `the account API answers with status ${error.status}`
  if (error instanceof ApiContractError) return 'the account API answers with something that I do not understand'
  return 'no answer'
}

/** A refusal of Redis' own, whose messages begin with a code; undefined where it did not answer at all. */
export function storeProblem({ message }: StoreUnavailableError): string | undefined {
  const [, code] = /^Redis: ReplyError ([A-Z]{2,20})\b/.exec(message) ?? []
  return code === undefined ? undefined : `Redis refuses it (${code})`
}
