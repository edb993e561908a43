import { describe, expect, test } from 'vitest'
import { AuditEntry } from '../../src/audit/chain.ts'
import type { FoundEntry } from '../../src/audit/find.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import type { Request } from '../../src/domain/request.ts'
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

const byTwoPeople = { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2 }

/** Ada's request as it is signed, approved by Ben. */
function approvedRequest(more: Partial<Request> = {}, by = [byBen]): Request {
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
  const waiting = approvedRequest(more, [])
  const by = waiting.origin.userId
  const decision = { by, rule: 'APPROVERS', via: by, reason: 'all is down', breakGlass: true, at }
  return { ...waiting, decision: signatures.signBreakGlass(waiting, decision) }
}

interface World {
  rule?: PolicyRule | undefined
  /** What the audit has of the request. */
  sent?: FoundEntry[]
}

async function check(request: Request, { sent = [], ...world }: World = {}, at = now) {
  const rule = 'rule' in world ? world.rule : ruleFor()
  const app = fakeApp({
    signatures,
    catalog: createCatalog([]),
    config: { policy: { ...noPolicy, bundles: undefined, rules: rule ? [rule] : [] } },
  })
  const found = sent.filter((entry) => entry.at >= searchedSince(request))
  return (await checkApproval(app, request, at, { freezes: [] })) ?? checkPast(app, request, Promise.resolve(found))
}

describe('a write is sent', () => {
  test('if the request and enough approvals are genuine', async () => {
    expect(await check(approvedRequest())).toBeUndefined()
    const byTwo = approvedRequest({}, [byBen, { ...byBen, by: 'U0CHI00001', at: approvedAt - minutes }])
    expect(await check(byTwo, { rule: ruleFor({ approve: byTwoPeople }) })).toBeUndefined()
  })

  test('if the approvals were enough under each of two rules, as counted at the last one', async () => {
    const also = { anyOf: toGroup(['S0LEADS001']), allOf: [], approvals: 1 }
    const both = { rule: ruleFor({ approve: { ...byTwoPeople, also: [also] } }) }
    const byTwo = approvedRequest({}, [{ ...byBen, by: 'U0CHI00001', at: approvedAt - minutes }, byBen])

    expect(await check(decided(byTwo, [], [2, 1]), both)).toBeUndefined()
    for (const counted of [[2, 0], [1, 1], [2], undefined]) {
      expect(await check(decided(byTwo, [], counted), both), String(counted)).toEqual({ code: 'approval-needed-now' })
    }
    const raised = decided(byTwo, [], [2, 0])
    expect(await check({ ...raised, decision: { ...raised.decision, via: 'S0ONCALL01', counted: [2, 1] } }, both)).toEqual({
      code: 'approvals-not-genuine',
    })
  })

  test('without approvals if the rule asked for none at the request and asks for none now', async () => {
    const exempt = approvedRequest({ needsApproval: false, approvalsNeeded: 0, decidedAt: approvedAt }, [])
    expect(await check(exempt, { rule: ruleFor({ approve: undefined }) })).toBeUndefined()
  })

  test('if the requester approved it alone, with their own signed reason, and the rule still allows that', async () => {
    const alone = approvedAlone()

    expect(await check(alone, { rule: ruleFor({ breakGlass: true }) })).toBeUndefined()
    expect(await check(alone)).toEqual({ code: 'approval-needed-now' })
    const otherReason = { ...alone, decision: { ...alone.decision, reason: 'a test' } }
    expect(await check(otherReason, { rule: ruleFor({ breakGlass: true }) })).toEqual({ code: 'approvals-not-genuine' })
  })
})

describe('after a failover to a Redis whose clock is up to a minute off', () => {
  test.each([
    ['3 s behind', requestedAt - 3_000],
    ['a minute behind', requestedAt - minutes],
    ['a minute ahead of the deadline', requestedAt + 241 * minutes],
  ])('an approval counts that was given %s', async (_, at) => {
    expect(await check(approvedRequest({}, [{ ...byBen, at }]), {}, at)).toBeUndefined()

    expect(await check(approvedAlone({}, at), { rule: ruleFor({ breakGlass: true }) }, at)).toBeUndefined()
  })

  test('a write is found that the audit has from before the request', async () => {
    const at = requestedAt - 3_000
    const sent = { ...entryOf('send'), at }
    expect(await check(approvedRequest({}, [{ ...byBen, at }]), { sent: [sent] }, at)).toEqual({ code: 'already-sent' })
  })
})

describe.each(['alerts', 'machine:ci'])('what %s requested', (userId) => {
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId, command: '/infra' }
  const named = { alerts: true, machines: ['machine:ci'] }

  test('is sent if people approved it', async () => {
    expect(await check(approvedRequest({ origin }), { rule: ruleFor({ ...named }) })).toBeUndefined()
  })

  test('is never sent without approvals, whatever the rule says', async () => {
    const exempt = approvedRequest({ origin, needsApproval: false, approvalsNeeded: 0 }, [])

    expect(await check(exempt, { rule: ruleFor({ ...named, approve: undefined }) })).toEqual({ code: 'approval-needed-now' })
  })

  test('is never approved by them alone', async () => {
    expect(await check(approvedAlone({ origin }), { rule: ruleFor({ ...named, breakGlass: true }) })).toEqual({
      code: 'approvals-not-genuine',
    })
  })
})

describe('somebody who writes to Redis', () => {
  test.each<[what: string, change: Partial<Request>]>([
    ['needs no approval', { needsApproval: false }],
    ['needs fewer approvals', { approvalsNeeded: 0 }],
    ['is for another server', { input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_evil' } }],
    ['is of another kind', { kind: 'key.create' }],
    ['is about other facts', { facts: { address: '203.0.113.99' } }],
    ['is under another rule', { rule: 'anybody' }],
    ['can be approved for longer', { ttlMs: 9_999 * minutes }],
    ['was requested later', { createdAt: requestedAt + minutes }],
    ['was requested by somebody else', { origin: { ...requestFor().origin, userId: 'U0MAL00001' } }],
    ['was requested elsewhere', { origin: { ...requestFor().origin, channelId: 'C0EVIL0001' } }],
    ['has another reason', { reason: 'trust me' }],
    ['has no signature', { signature: undefined }],
  ])('cannot have it that a request %s', async (_, change) => {
    expect(await check({ ...approvedRequest(), ...change })).toEqual({ code: 'record-changed' })
  })

  test('cannot approve: not by the state alone, nor with approvals that they made themselves', async () => {
    const request = approvedRequest()
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
    for (const approvals of forgeries) {
      const refused = { code: expect.stringMatching(/^approvals-not-genuine$|^unknown-key$/) }
      expect(await check({ ...request, approvals })).toMatchObject(refused)
      // Not even if a process had counted them.
      expect(await check(decided({ ...request, approvals }))).toMatchObject(refused)
    }
  })

  test('cannot have too few approvals count as enough, nor more than were counted', async () => {
    const byTwo = approvedRequest({}, [byBen, { ...byBen, by: 'U0CHI00001' }])
    const { decision: _, ...undecided } = byTwo
    for (const request of [undecided, { ...byTwo, approvals: byTwo.approvals.slice(0, 1) }]) {
      expect(await check(request as Request)).toEqual({ code: 'approvals-not-genuine' })
    }
  })

  test('cannot use an approval from before the request, or from after its deadline', async () => {
    for (const at of [requestedAt - minutes - 1, requestedAt + 241 * minutes + 1]) {
      expect(await check(approvedRequest({}, [{ ...byBen, at }]), {}, Math.max(at, now))).toEqual({ code: 'approvals-not-genuine' })
    }
  })

  test('cannot have one person count twice', async () => {
    const request = approvedRequest({}, [byBen, { ...byBen, at: approvedAt - 1 }])
    expect(await check(request, { rule: ruleFor({ approve: byTwoPeople }) })).toEqual({ code: 'approval-needed-now' })
  })

  test('cannot have it sent again, later than 30 minutes after the approval, or while the audit has that it was sent or has ended', async () => {
    const sent = entryOf('send')
    expect(await check(approvedRequest(), {}, approvedAt + 30 * minutes)).toBeUndefined()
    expect(await check(approvedRequest(), {}, approvedAt + 30 * minutes + 1)).toEqual({ code: 'approved-too-long-ago' })
    expect(await check(approvedRequest(), { sent: [sent] })).toEqual({ code: 'already-sent' })
    expect(await check(approvedRequest(), { sent: [{ ...sent, act: 'withdraw' }] })).toEqual({ code: 'already-ended' })
  })
})

describe('what changed in the policy since', () => {
  test('an exemption that was withdrawn exempts nothing', async () => {
    expect(await check(approvedRequest({ needsApproval: false, approvalsNeeded: 0 }, []))).toEqual({ code: 'approval-needed-now' })
  })

  test('without a rule nothing is sent', async () => {
    expect(await check(approvedRequest(), { rule: undefined })).toEqual({ code: 'rule-gone' })
  })

  test('people whom the rule requires now must be among those who approved', async () => {
    const requiring = (...allOf: string[]) => ({ rule: ruleFor({ approve: { anyOf: toGroup([]), allOf, approvals: 1 } }) })
    const byChi = { ...byBen, by: 'U0CHI00001' }

    expect(await check(approvedRequest(), requiring('U0CHI00001'))).toEqual({ code: 'approval-needed-now' })
    expect(await check(approvedRequest({}, [byChi]), requiring('U0CHI00001'))).toBeUndefined()
    expect(await check(approvedRequest({}, [byChi, byBen]), requiring('U0CHI00001', 'U0BEN00001'))).toBeUndefined()
    expect(await check(approvedRequest(), requiring('S0NETWORK1'))).toEqual({ code: 'approval-needed-now' })
  })

  test('a group that the rule required at the last approval is not read again', async () => {
    const request = decided(approvedRequest(), ['S0NETWORK1', 'U0BEN00001'])
    const requiring = (...allOf: string[]) => ({ rule: ruleFor({ approve: { anyOf: toGroup([]), allOf, approvals: 1 } }) })
    expect(await check(request, requiring('S0NETWORK1'))).toBeUndefined()
    expect(await check(request, requiring('S0SECURE01'))).toEqual({ code: 'approval-needed-now' })

    const forged = { ...request, decision: { rule: 'APPROVERS', via: 'U0BEN00001', ...request.decision, allOf: ['S0SECURE01'] } }
    expect(await check(forged, requiring('S0SECURE01'))).toEqual({ code: 'approvals-not-genuine' })
  })

  test('where the rule asks for no approval any more, those count that it asked for', async () => {
    const rule = ruleFor({ approve: undefined })
    expect(await check(approvedRequest({ approvalsNeeded: 1 }), { rule })).toBeUndefined()
    expect(await check(approvedRequest({ approvalsNeeded: 2 }), { rule })).toEqual({ code: 'approval-needed-now' })
    expect(await check(approvedRequest({ approvalsNeeded: 1 }, []), { rule })).toEqual({ code: 'approvals-not-genuine' })
  })
})

test('a key that this process does not have ends nothing: whether it is genuine cannot be said', async () => {
  const requested = requestFor({ state: 'approved' })
  const foreign = { ...requested, signature: theirs.signRequest(requested) }
  expect(await check(foreign)).toEqual({ code: 'unknown-key' })
})

describe('a write that the account API refused because of its limit', () => {
  const refused = entryOf('limit')

  test('may be sent again, as often as it was refused', async () => {
    expect(await check(approvedRequest(), { sent: [refused, entryOf('send')] })).toBeUndefined()
    expect(await check(approvedRequest(), { sent: [refused, entryOf('send'), refused, entryOf('send')] })).toBeUndefined()
    expect(await check(approvedRequest(), { sent: [entryOf('send'), refused, entryOf('send')] })).toEqual({ code: 'already-sent' })
  })

  test.each(['copied', 'forged', 'unsigned', 'unknown-key'] as const)('may not, if the entry that says so is %s', async (verdict) => {
    expect(await check(approvedRequest(), { sent: [{ ...refused, verdict }, entryOf('send')] })).toEqual({ code: 'already-sent' })
  })

  test('may not after the request has ended', async () => {
    expect(await check(approvedRequest(), { sent: [entryOf('withdraw'), refused, entryOf('send')] })).toEqual({ code: 'already-ended' })
  })
})

const facts = { name: 'ci-deploy', readOnly: true, allowedIps: [] }

/** A request for a key whose write was sent, as it is signed. */
function sentRequest(more: Partial<Request> = {}): Request {
  const requested = requestFor({ kind: 'key.create', input: facts, facts, state: 'starting', ...more })
  const signed = { ...requested, signature: signatures.signRequest(requested), seen: facts }
  return { ...signed, seenSignature: signatures.signSeen(signed, facts) }
}

/** Checks a request whose last step in the audit is this one. */
function checkRetraction(request: Request, act: string | undefined) {
  return retractionProblem(fakeApp({ signatures }), request, act === undefined ? [] : [entryOf(act)])
}

test('a request in the state that the audit shows may have its secret retracted', async () => {
  expect(checkRetraction(sentRequest(), 'issue')).toBeUndefined()
  expect(checkRetraction(sentRequest({ state: 'tracking' }), 'accept')).toBeUndefined()
})

test.each(['finish', 'fail', 'not-start', 'withdraw-key', 'accept', undefined])(
  'a request that was put back to starting may not: the audit ends with %s',
  async (act) => {
    expect(checkRetraction(sentRequest(), act)).toEqual({ code: 'record-changed' })
  },
)

test.each<[what: string, change: Partial<Request>]>([
  ['is for another key', { input: { ...facts, name: 'production' } }],
  ['saw something else before its write', { seen: { ...facts, name: 'production' } }],
  ['has no signature of what it saw', { seenSignature: undefined }],
  ['has no signature', { signature: undefined }],
])('a request that %s may not', async (_, change) => {
  expect(checkRetraction({ ...sentRequest(), ...change }, 'issue')).toEqual({ code: 'record-changed' })
})

function entryOf(act: string): FoundEntry {
  return { ...AuditEntry.parse({ version: 1, act, at: approvedAt + 1, seq: 9, prev: '' }), verdict: 'genuine' }
}
