import { describe, expect, test } from 'vitest'
import { AuditEntry } from '../../src/audit/chain.ts'
import type { FoundEntry } from '../../src/audit/find.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import type { AuthorityProblem, Request } from '../../src/domain/request.ts'
import { createRequestSignatures } from '../../src/domain/request-signature.ts'
import { createKeyring, Secret } from '../../src/domain/signing.ts'
import { checkApproval, checkPast, retractionProblem, searchedSince } from '../../src/life/authority.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import { fakeApp, noPolicy } from '../fake-app.ts'
import { minutes, requestedAt, requestFor, ruleFor } from '../given/request.ts'

const keyringOf = (secret: string) => createKeyring([new Secret(secret.padEnd(32, '!'))], { purpose: 'requests', prefix: 'lockkeeper' })
const signatures = createRequestSignatures(keyringOf('ours'))
const theirs = createRequestSignatures(keyringOf('of somebody else'))

const approvedAt = requestedAt + 60 * minutes
const now = approvedAt + 1_000
const byBen = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: approvedAt }
const byChi = { ...byBen, by: 'U0CHI00001' }

/** Ada's request as it is signed, approved by Ben. */
function approved(more: Partial<Request> = {}, by = [byBen]): Request {
  const requested = requestFor({ state: 'approved', ...more })
  const signed = { ...requested, signature: signatures.signRequest(requested) }
  return decided({ ...signed, approvals: by.map((approval) => signatures.signApproval(signed, approval)) })
}

/** The request as the last approver's process stores it. */
function decided(request: Request, allOf?: string[], counted?: number[]): Request {
  const { by, rule, via, at } = request.approvals.at(-1) ?? byBen
  return request.approvals.length === 0
    ? request
    : { ...request, decision: signatures.signApproved(request, { by, rule, via, at, allOf, counted }) }
}

/** The same, approved by its requester alone. */
function approvedAlone(more: Partial<Request> = {}, at = approvedAt) {
  const waiting = approved(more, [])
  const by = waiting.origin.userId
  const decision = { by, rule: 'APPROVERS', via: by, reason: 'all is down', breakGlass: true, at }
  return { ...waiting, decision: signatures.signBreakGlass(waiting, decision) }
}

/** What is checked right before the write, and the problem that is found. Without one, the write is sent. */
interface Row {
  of?: Request
  /** Null: no rule covers it any more. */
  rule?: Partial<PolicyRule> | null
  /** What the audit has of the request, the newest first. */
  sent?: FoundEntry[]
  at?: number
  is?: AuthorityProblem['code']
}

async function problemOf({ of = approved(), rule = {}, sent = [], at = now }: Row): Promise<AuthorityProblem | undefined> {
  const policy = { ...noPolicy, bundles: undefined, rules: rule ? [ruleFor(rule)] : [] }
  const app = fakeApp({ signatures, catalog: createCatalog([]), config: { policy }, confirmations: {} })
  const found = sent.filter((entry) => entry.at >= searchedSince(of))
  return (await checkApproval(app, of, at, { freezes: [] })) ?? checkPast(app, of, Promise.resolve(found))
}

const notGenuine = { is: 'approvals-not-genuine' } as const
const neededNow = { is: 'approval-needed-now' } as const
const alreadySent = { is: 'already-sent' } as const

const exempt = { needsApproval: false, approvalsNeeded: 0, decidedAt: approvedAt }
const noApproval = { approve: undefined }
const byTwoPeople = { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2 }
const byTwo = approved({}, [{ ...byChi, at: approvedAt - minutes }, byBen])
const underTwoRules = { approve: { ...byTwoPeople, also: [{ anyOf: toGroup(['S0LEADS001']), allOf: [], approvals: 1 }] } }
const raised = decided(byTwo, [], [2, 0])
const requiring = (...allOf: string[]) => ({ approve: { anyOf: toGroup([]), allOf, approvals: 1 } })
const withNetwork = decided(approved(), ['S0NETWORK1', 'U0BEN00001'])
const withoutDecision = { ...byTwo, decision: undefined }
const foreign = { ...requestFor({ state: 'approved' }), signature: theirs.signRequest(requestFor({ state: 'approved' })) }
const [send, limit] = [entryOf('send'), entryOf('limit')]

const rows: Record<string, Row> = {
  'genuine, with a genuine approval': {},
  'approved by two, as its rule asks': { of: byTwo, rule: { approve: byTwoPeople } },
  'approved twice by one person': {
    of: approved({}, [byBen, { ...byBen, at: approvedAt - 1 }]),
    rule: { approve: byTwoPeople },
    ...neededNow,
  },
  'under two rules, with enough for each at the last approval': { of: decided(byTwo, [], [2, 1]), rule: underTwoRules },
  'under two rules, with too few for the second': { of: raised, rule: underTwoRules, ...neededNow },
  'under two rules, with too few for the first': { of: decided(byTwo, [], [1, 1]), rule: underTwoRules, ...neededNow },
  'under a second rule since': { of: decided(byTwo, [], [2]), rule: underTwoRules, ...neededNow },
  'under two rules, without a count': { of: decided(byTwo, []), rule: underTwoRules, ...neededNow },
  'under two rules, with a count that somebody raised': {
    of: { ...raised, decision: { ...raised.decision, rule: 'APPROVERS', via: 'S0ONCALL01', counted: [2, 1] } },
    rule: underTwoRules,
    ...notGenuine,
  },
  'exempt, at the request and now': { of: approved(exempt, []), rule: noApproval },
  'exempt at the request, and no more': { of: approved(exempt, []), ...neededNow },
  'approved alone, as its rule allows': { of: approvedAlone(), rule: { breakGlass: true } },
  'approved alone, which its rule allows no more': { of: approvedAlone(), ...neededNow },
  'approved alone, with another reason': {
    of: { ...approvedAlone(), decision: { ...approvedAlone().decision, reason: 'a test' } },
    rule: { breakGlass: true },
    ...notGenuine,
  },
  'without a rule': { rule: null, is: 'rule-gone' },
  'with a click alone, and its rule asks for more now': { rule: { confirmBy: 'passkey' }, is: 'confirmation-needed-now' },
  'without somebody whom its rule requires now': { rule: requiring('U0CHI00001'), ...neededNow },
  'with the person whom its rule requires now': { of: approved({}, [byChi]), rule: requiring('U0CHI00001') },
  'with both people whom its rule requires now': { of: approved({}, [byChi, byBen]), rule: requiring('U0CHI00001', 'U0BEN00001') },
  'without a group that its rule requires now': { rule: requiring('S0NETWORK1'), ...neededNow },
  'with a group that was required at the last approval': { of: withNetwork, rule: requiring('S0NETWORK1') },
  'with another group than is required now': { of: withNetwork, rule: requiring('S0SECURE01'), ...neededNow },
  'with a group that somebody put in': {
    of: { ...withNetwork, decision: { rule: 'APPROVERS', via: 'U0BEN00001', ...withNetwork.decision, allOf: ['S0SECURE01'] } },
    rule: requiring('S0SECURE01'),
    ...notGenuine,
  },
  'with the approval that its rule asked for, and asks for no more': { of: approved({ approvalsNeeded: 1 }), rule: noApproval },
  'with fewer than its rule asked for, and asks for no more': { of: approved({ approvalsNeeded: 2 }), rule: noApproval, ...neededNow },
  'without the approval that its rule asked for, and asks for no more': { of: approved({}, []), rule: noApproval, ...notGenuine },
  // All members of the record are in domain/request/signatures.
  'with another reason than was requested': { of: { ...approved(), reason: 'trust me' }, is: 'record-changed' },
  'without a signature': { of: { ...approved(), signature: undefined }, is: 'record-changed' },
  'signed with a key that this process does not have': { of: foreign, is: 'unknown-key' },
  'approved from before the request': { of: approved({}, [{ ...byBen, at: requestedAt - minutes - 1 }]), ...notGenuine },
  'approved after its deadline': {
    of: approved({}, [{ ...byBen, at: requestedAt + 241 * minutes + 1 }]),
    at: requestedAt + 241 * minutes + 1,
    ...notGenuine,
  },
  'with two approvals, of which nobody decided': { of: withoutDecision as Request, ...notGenuine },
  'with one of the two approvals that were counted': { of: { ...byTwo, approvals: byTwo.approvals.slice(0, 1) }, ...notGenuine },
  'at the end of the half hour after its approval': { at: approvedAt + 30 * minutes },
  'later than half an hour after its approval': { at: approvedAt + 30 * minutes + 1, is: 'approved-too-long-ago' },
  'sent before, by its audit': { sent: [send], ...alreadySent },
  'sent before, by a Redis whose clock was behind': {
    of: approved({}, [{ ...byBen, at: requestedAt - 3_000 }]),
    sent: [{ ...send, at: requestedAt - 3_000 }],
    at: requestedAt - 3_000,
    ...alreadySent,
  },
  'withdrawn, by its audit': { sent: [entryOf('withdraw')], is: 'already-ended' },
  'sent and refused because of the limit': { sent: [limit, send] },
  'sent and refused twice because of the limit': { sent: [limit, send, limit, send] },
  'sent twice and refused once because of the limit': { sent: [send, limit, send], ...alreadySent },
  'refused because of the limit, and withdrawn since': { sent: [entryOf('withdraw'), limit, send], is: 'already-ended' },
}

for (const verdict of ['copied', 'forged', 'unsigned', 'unknown-key'] as const)
  rows[`sent, with a refusal in the audit that is ${verdict}`] = { sent: [{ ...limit, verdict }, send], ...alreadySent }

// After a failover, the clock of Redis is up to a minute off.
const clocks = {
  '3 s behind': requestedAt - 3_000,
  'a minute behind': requestedAt - minutes,
  'a minute ahead': requestedAt + 241 * minutes,
}
for (const [off, at] of Object.entries(clocks)) {
  rows[`approved by a Redis whose clock was ${off}`] = { of: approved({}, [{ ...byBen, at }]), at }
  rows[`approved alone, by a Redis whose clock was ${off}`] = { of: approvedAlone({}, at), rule: { breakGlass: true }, at }
}

for (const userId of ['alerts', 'machine:ci']) {
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId, command: '/infra' }
  const named = { alerts: true, machines: ['machine:ci'] }
  rows[`requested by ${userId}, and approved by people`] = { of: approved({ origin }), rule: named }
  rows[`requested by ${userId}, and exempt`] = { of: approved({ ...exempt, origin }, []), rule: { ...named, ...noApproval }, ...neededNow }
  rows[`requested and approved by ${userId} alone`] = { of: approvedAlone({ origin }), rule: { ...named, breakGlass: true }, ...notGenuine }
}

test.each(Object.entries(rows))('before its write, a request that is %s', async (_, row) => {
  expect((await problemOf(row))?.code).toBe(row.is)
})

test('somebody who writes to Redis cannot approve: not by the state alone, nor with approvals that they made themselves', async () => {
  const request = approved()
  const [genuine] = request.approvals
  if (!genuine) throw new Error('there is no approval')
  const forgeries = [
    [],
    [{ ...byBen }],
    [{ ...genuine, by: 'U0MAL00001' }],
    [{ ...genuine, via: 'U0MAL00001' }],
    [{ ...genuine, at: now }],
    [theirs.signApproval(request, byBen)],
    [signatures.signApproval({ ...request, id: '0'.repeat(32) }, byBen)],
    [signatures.signApproval({ ...request, hash: '0'.repeat(64) }, byBen)],
  ]
  // Not even if a process had counted them.
  for (const approvals of forgeries)
    for (const forged of [{ ...request, approvals }, decided({ ...request, approvals })])
      expect((await problemOf({ of: forged }))?.code).toMatch(/^approvals-not-genuine$|^unknown-key$/)
})

describe('before a key that nobody has seen is deleted', () => {
  const facts = { name: 'ci-deploy', readOnly: true, allowedIps: [] }

  /** A request for a key whose write was sent, as it is signed. */
  function sentRequest(more: Partial<Request> = {}): Request {
    const requested = requestFor({ kind: 'key.create', input: facts, facts, state: 'starting' })
    const signed = { ...requested, signature: signatures.signRequest(requested), seen: facts }
    return { ...signed, seenSignature: signatures.signSeen(signed, facts), ...more }
  }
  const changed = 'record-changed'
  const putBack = ['finish', 'fail', 'not-start', 'withdraw-key', 'accept', undefined]

  test.each<[what: string, more: Partial<Request>, last: string | undefined, problem: string | undefined]>([
    ['in the state of its last entry', {}, 'issue', undefined],
    ['in the next state of its last entry', { state: 'tracking' }, 'accept', undefined],
    ...putBack.map((act) => [`put back to starting after ${act}`, {}, act, changed] satisfies [string, object, unknown, string]),
    ['for another key', { input: { ...facts, name: 'production' } }, 'issue', changed],
    ['with something else that it saw before its write', { seen: { ...facts, name: 'production' } }, 'issue', changed],
    ['without a signature of what it saw', { seenSignature: undefined }, 'issue', changed],
    ['without a signature', { signature: undefined }, 'issue', changed],
  ])('a request is %s', (_, more, last, problem) => {
    const found = last === undefined ? [] : [entryOf(last)]
    expect(retractionProblem(fakeApp({ signatures }), sentRequest(more), found)?.code).toBe(problem)
  })
})

function entryOf(act: string): FoundEntry {
  return { ...AuditEntry.parse({ version: 1, act, at: approvedAt + 1, seq: 9, prev: '' }), verdict: 'genuine' }
}
