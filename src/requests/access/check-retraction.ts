import type { AuditEntry } from '../../audit/entry.ts'
import { type AuthorityProblem, problemOf } from '../../domain/request/authority-problem.ts'
import { isOpen, type Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import { stateOfAct } from '../steps.ts'

/** How long after its end the secret of a request may be retracted. Much longer than it is tracked then, because all processes may be stopped. */
const retractAfterEndMs = 24 * 3_600_000

interface CheckRetractionParts {
  signatures: RequestSignatures
  /** Finds the newest genuine entry of the audit in which this request changed its state, since this time in ms by Redis' clock. */
  findLastTransition: (request: Request, since: number) => Promise<AuditEntry | undefined>
}

/**
 * Checks that a request with a secret may be observed, because the observation retracts a secret that nobody has seen. The signatures must
 * be genuine, and the state must be the one in the audit. Otherwise somebody could put an ended request back to an earlier state, and a key
 * that is in use would be deleted. `now` is in ms by Redis' clock.
 */
export function createCheckRetraction({ signatures, findLastTransition }: CheckRetractionParts) {
  return async function checkRetraction(request: Request, now: number): Promise<AuthorityProblem | undefined> {
    const problem = problemOf(signatures.verifyRequest(request), signatures.verifySeen(request))
    if (problem) return problem
    const last = await findLastTransition(request, request.createdAt)
    if (!last || stateOfAct(last.act) !== request.state) return { code: 'record-changed' }
    return !isOpen(request.state) && now - last.at > retractAfterEndMs ? { code: 'record-changed' } : undefined
  }
}
export type CheckRetraction = ReturnType<typeof createCheckRetraction>
