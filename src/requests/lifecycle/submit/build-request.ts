import { hash } from 'node:crypto'
import { isMachine } from '../../../domain/approval/origin.ts'
import { type Finding, peopleIn } from '../../../domain/change/finding.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../../../domain/policy/policy.ts'
import { payloadHash } from '../../../domain/request/payload.ts'
import { type RequestRef, requestVersion } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { namesOfApprovers } from '../../messages/approvers.ts'
import type { NewRequest } from '../../store/new-requests.ts'
import type { RequestedChange } from './requested-change.ts'

interface BuildRequestParts {
  signatures: Pick<RequestSignatures, 'signRequest'>
  /** Returns the names of people and groups, by id. */
  names: (ids: string[]) => Promise<Map<string, string>>
}

/** What the checks of a change returned. */
export interface CheckedChange<Input, Facts> {
  input: Input
  facts: Facts
  resource: string
  /** What the change locks besides its resource. */
  moreResources: string[] | undefined
  unchecked: Finding[]
  warnings: Finding[]
  rule: PolicyRule
  reason: string | undefined
  undoes: RequestRef | undefined
  repeats: RequestRef | undefined
  /** The time of the request, in ms since 1970 by Redis' clock. */
  at: number
}

/** Creates the function that builds the record of a new request from what was requested and checked, and signs it. */
export function createBuildRequest({ signatures, names }: BuildRequestParts) {
  return async function buildRequest<Input, Facts>(
    { change, origin, fromMessage, alert, deliveryKey }: RequestedChange<Input, Facts>,
    { input, facts, resource, moreResources, unchecked, warnings, rule, reason, undoes, repeats, at }: CheckedChange<Input, Facts>,
  ): Promise<NewRequest> {
    const requested = {
      id: requestIdFor(deliveryKey),
      kind: change.kind,
      input,
      facts,
      resource,
      ...(moreResources ? { moreResources } : {}),
      unchecked,
      ...(warnings.length > 0 ? { warnings } : {}),
      origin,
      ...(reason ? { reason } : {}),
      ...(undoes ? { undoes } : {}),
      ...(repeats ? { repeats } : {}),
      ...(fromMessage ? { fromMessage } : {}),
      ...(alert ? { alert } : {}),
    }
    const underRule = {
      ...requested,
      hash: payloadHash(requested),
      rule: rule.name,
      needsApproval: rule.approve !== undefined,
      approvalsNeeded: rule.approve ? approvalsNeeded(rule.approve) : 0,
      ttlMs: rule.expiresMs,
      createdAt: at,
      ...(await namesFor(rule, warnings)),
    }
    return { ...underRule, signature: signatures.signRequest({ version: requestVersion, reason: undefined, ...underRule }) }
  }

  /** Names the people in the warnings, and the approvers if the rule mentions other people, because a mention would notify them. */
  async function namesFor(
    { approve, mention: mentioned }: PolicyRule,
    warnings: Finding[],
  ): Promise<Pick<NewRequest, 'approverNames' | 'personNames'>> {
    const isNamed = approve !== undefined && mentioned !== undefined
    const { users, userGroups } = isNamed ? approversOf(approve) : { users: [], userGroups: [] }
    const people = peopleIn(warnings).filter((userId) => !isMachine({ userId }))
    const nameOf = await names([...users, ...userGroups, ...people])
    const shown = (id: string) => nameOf.get(id) ?? id
    return {
      ...(isNamed ? { approverNames: namesOfApprovers(approve, shown) } : {}),
      ...(people.length > 0 ? { personNames: Object.fromEntries(people.map((id) => [id, shown(id)])) } : {}),
    }
  }
}

/** Derives the id of a request from its delivery, so that repeated deliveries become one request. */
export function requestIdFor(deliveryKey: string): string {
  return hash('sha256', `request:${deliveryKey}`).slice(0, 32)
}
