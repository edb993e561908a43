import { randomUUID } from 'node:crypto'
import { placeFact } from '../../src/domain/account.ts'
import type { PolicyRule } from '../../src/domain/policy.ts'
import { payloadHash, Request } from '../../src/domain/request.ts'
import { phrase } from '../../src/domain/text.ts'
import type { NewRequest, Store } from '../../src/record/store.ts'
import { rule, terms } from './people.ts'

/** 18 November 2026, 14:00 UTC. */
export const requestedAt = Date.UTC(2026, 10, 18, 14)
export const minutes = 60_000

const payload = {
  id: 'b7e23ec29af22b0b4e41da31e868d572',
  kind: 'ip.move' as const,
  input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_22mUQSvUfeqdv' },
  facts: { address: '203.0.113.10' },
  resource: 'elastic_ip:eip_1GijF7NsZe3bN',
  unchecked: [],
  origin: { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' },
}

/** Ada's recorded request to move an address. It waits for four hours, and its card is in #ops. */
export function requestFor({ items, ...more }: Partial<Request> = {}): Request {
  const request = Request.parse({
    ...payload,
    hash: payloadHash(payload),
    version: 1,
    rule: 'APPROVERS',
    state: 'waiting',
    revision: 1,
    needsApproval: true,
    approvalsNeeded: 1,
    createdAt: requestedAt,
    expiresAt: requestedAt + 240 * minutes,
    ttlMs: 240 * minutes,
    cardTs: '1795010400.000100',
    ...more,
  })
  return items ? { ...request, items } : request
}

/** The facts of that move. */
export const moveFacts = {
  elasticIpId: 'eip_1GijF7NsZe3bN',
  address: '203.0.113.10',
  from: { id: 'sv_1WFgWmkF9Mzju', name: 'web-1' },
  to: { id: 'sv_22mUQSvUfeqdv', name: 'web-2' },
}

/** The same request before it is recorded, just now and unsigned, with a new id and the hash of its content. */
export function newRequestFor(more: Partial<NewRequest> = {}): NewRequest {
  const requested = { ...payload, facts: moveFacts, id: randomUUID().replaceAll('-', ''), ...more }
  return {
    rule: 'APPROVERS',
    hash: payloadHash(requested),
    needsApproval: true,
    approvalsNeeded: 1,
    ttlMs: 240 * minutes,
    createdAt: Date.now(),
    signature: '',
    ...requested,
  }
}

/** Records such a request and returns it. */
export async function recordRequest(store: Pick<Store, 'create' | 'find'>, more: Partial<NewRequest> = {}): Promise<Request> {
  const { outcome, id } = await store.create(newRequestFor(more))
  const request = await store.find(id)
  if (outcome !== 'created' || !request) throw new Error(`the request was not recorded: ${outcome}`)
  return request
}

/** The rule of the request: the people on call approve. */
export function ruleFor(more: Partial<PolicyRule> = {}): PolicyRule {
  return { ...rule, approve: terms(['S0ONCALL01']), expiresMs: 240 * minutes, ...more }
}

/** The description of the move on its card. */
export const description = {
  title: phrase`Move ${'203.0.113.10'}: ${'web-1'} → ${'web-2'}`,
  facts: [placeFact({ id: 'proj_1', name: 'Storefront' }, 'ASH')],
  ids: [
    { label: 'Elastic IP', value: 'eip_1GijF7NsZe3bN' },
    { label: 'From', value: 'sv_1WFgWmkF9Mzju' },
    { label: 'To', value: 'sv_22mUQSvUfeqdv' },
  ],
  underway: 'moving',
}
