import type { AuditEntry } from '../../audit/entry.ts'
import type { FoundEntry } from '../../audit/find-entries.ts'
import type { Audit } from '../../audit/intake.ts'
import type { Request } from '../../domain/request/request.ts'
import { sendsOrEnds, stateOfAct } from '../../requests/steps.ts'

/**
 * Finds the entries that decide whether this request or an item of it may still be sent. Entries that cannot be verified are found too, because
 * somebody who breaks a signature must not cause a second write.
 */
export function findSendsAndEnds(audit: Audit, request: Request, since: number): Promise<FoundEntry[]> {
  return findEntriesOf(audit, request, sendsOrEnds, since)
}

/** Finds the newest genuine entry in which this request changed its state. */
export async function findLastTransition(audit: Audit, request: Request, since: number): Promise<AuditEntry | undefined> {
  const entries = await findEntriesOf(audit, request, (act) => stateOfAct(act) !== undefined, since)
  return entries.find(({ verdict }) => verdict === 'genuine')
}

async function findEntriesOf(audit: Audit, { id }: Request, fits: (act: string) => boolean, since: number): Promise<FoundEntry[]> {
  const whole = { limit: Number.POSITIVE_INFINITY, scan: Number.POSITIVE_INFINITY, since, allChained: true, requestId: id }
  const { entries } = await audit.find(({ act }) => fits(act), whole)
  return entries
}
