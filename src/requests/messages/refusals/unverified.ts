import type { Description } from '../../../domain/change/description.ts'
import { unverifiedRecord } from '../../../domain/request/authority-problem.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { Phrase } from '../../../domain/text/phrase.ts'
import { shortId } from '../words.ts'

/**
 * Describes a request whose record cannot be verified. It shows nothing of what the record says: approvers approve what they see, so somebody
 * who can write to Redis must not choose it.
 */
export function unverifiedDescription(request: Pick<Request, 'id'>): Description {
  return {
    title: [`Unverified request ${shortId(request)}`],
    facts: [{ label: 'Not shown', value: "The record in Redis doesn't match its signature, or was signed with an unknown key." }],
    ids: [],
    underway: 'in progress',
  }
}

export const unverifiedDone: Phrase = ["Its record can't be verified. Check the account."]

/** Whether the tracking of a request ended because its record could not be verified. */
export function isDistrusted({ state, causes }: Pick<Request, 'state' | 'causes'>): boolean {
  return state === 'untracked' && causes.some(({ code }) => code === unverifiedRecord.code)
}

/** Takes out of a record what people wrote, and who decided. */
export function withoutContent(request: Request): Request {
  const { reason: _, decision: __, approverNames: ___, personNames: ____, alert: _____, ...rest } = request
  return { ...rest, approvals: [], unchecked: [], warnings: [] }
}
