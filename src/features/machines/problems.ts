import type { App } from '../../app.ts'
import { reportInWords } from '../../bolt/errors.ts'
import { denialCodes } from '../../domain/approval.ts'
import type { RefusalCode } from '../../domain/codes.ts'
import { AccountLimitError, ApiContractError, ApiError, isUnanswered, StoreUnavailableError, UserError } from '../../domain/errors.ts'
import { plainWords } from '../../kit/plain-words.ts'
import { NotSeen } from '../../kit/seen.ts'
import { causeOf, Refusal } from '../../slack/errors.ts'
import { nameInWords } from '../../slack/text.ts'
import type { Caller } from './operations.ts'

export interface Problem {
  status: number
  /** For programs. */
  code: string
  /** The sentence that Slack would show, with the next step. */
  detail: string
  /** When to try again, in seconds. */
  retryAfter?: number | undefined
}

/** Puts an error into words, and reports it. `called`: by whom and what, if the call came so far. */
export async function problemOf(app: App, thrown: unknown, called?: Caller & { tool: string }): Promise<Problem> {
  const known = thrown instanceof NotSeen ? thrown.cause : thrown
  const words = await reportInWords(app, known, { at: `machine ${called?.tool ?? 'call'}`, origin: called?.origin })
  const detail = plainWords(app, nameInWords(app.config, words))
  return { ...kindOfProblem(causeOf(known)), detail }
}

const laterS = 60

const ofRefusals = {
  ...{ 'unknown-request': 404, 'too-many': 429 },
  ...{ locked: 409, 'too-late': 409, 'idempotency-key-used': 409 },
  ...{ 'account-slow': 503, 'person-unknown': 503, 'channel-unknown': 503, 'group-unknown': 503, 'project-unknown': 503 },
} satisfies Partial<Record<RefusalCode, number>>

/** The HTTP status of each code of a problem. Of all other refusals, a denial has 403, and what the machine can send differently 422. */
export const statuses = {
  ...{ invalid: 400, 'wrong-token': 401, 'from-a-browser': 403, 'not-found': 404, 'wrong-method': 405, 'too-large': 413, 'no-json': 415 },
  ...{ unexpected: 500, 'account-refused': 502, 'account-away': 503, 'account-limit': 503, 'redis-away': 503 },
  ...ofRefusals,
}

function kindOfProblem(error: unknown): Omit<Problem, 'detail'> {
  if (error instanceof UserError) {
    const { code } = error
    const ofCode: Record<string, number> = ofRefusals
    const status = ofCode[code] ?? (denialCodes.has(code) ? 403 : 422)
    const inMs = (error instanceof Refusal ? (error.retryAt ?? 0) : 0) - Date.now()
    const retryAfter = status === 503 && inMs < 0 ? laterS : Math.max(1, Math.ceil(inMs / 1_000))
    return status === 429 || status === 503 ? { status, code, retryAfter } : { status, code }
  }
  if (error instanceof StoreUnavailableError) return problem('redis-away', laterS)
  if (error instanceof AccountLimitError) return problem('account-limit', Math.ceil(error.waitMs / 1_000))
  if (isUnanswered(error)) return problem('account-away', laterS)
  if (error instanceof ApiError || error instanceof ApiContractError) return problem('account-refused')
  return problem('unexpected')
}

function problem(code: keyof typeof statuses, retryAfter?: number): Omit<Problem, 'detail'> {
  return { status: statuses[code], code, retryAfter }
}
