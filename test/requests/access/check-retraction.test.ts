import { expect, test } from 'vitest'
import { AuditEntry } from '../../../src/audit/chain.ts'
import type { Request } from '../../../src/domain/request.ts'
import { retractionProblem } from '../../../src/requests/authority.ts'
import { fakeApp } from '../../fake-app.ts'
import { minutes, requestedAt, requestFor } from '../request-for-test.ts'
import { signatures } from '../signatures-for-test.ts'

const now = requestedAt + 60 * minutes
const facts = { name: 'ci-deploy', readOnly: true, allowedIps: [] }

/** A request for a key whose write was sent, as it is signed. */
function sentRequest(more: Partial<Request> = {}): Request {
  const requested = requestFor({ kind: 'key.create', input: facts, facts, state: 'starting', ...more })
  const signed = { ...requested, signature: signatures.signRequest(requested), seen: facts }
  return { ...signed, seenSignature: signatures.signSeen(signed, facts) }
}

/** Checks a request whose last step in the audit is this one. */
function check(request: Request, act: string | undefined, at = now - minutes) {
  const entry = act === undefined ? [] : [{ ...AuditEntry.parse({ version: 1, act, at, seq: 9, prev: '' }), verdict: 'genuine' as const }]
  return retractionProblem(fakeApp({ signatures }), request, entry)
}

test('a request in the state that the audit shows may have its secret retracted', async () => {
  expect(check(sentRequest(), 'issue')).toBeUndefined()
  expect(check(sentRequest({ state: 'tracking' }), 'accept')).toBeUndefined()
})

test.each(['finish', 'fail', 'not-start', 'withdraw-key', 'accept', undefined])(
  'a request that was put back to starting may not: the audit ends with %s',
  async (act) => {
    expect(check(sentRequest(), act)).toEqual({ code: 'record-changed' })
  },
)

test.each<[what: string, change: Partial<Request>]>([
  ['is for another key', { input: { ...facts, name: 'production' } }],
  ['saw something else before its write', { seen: { ...facts, name: 'production' } }],
  ['has no signature of what it saw', { seenSignature: undefined }],
  ['has no signature', { signature: undefined }],
])('a request that %s may not', async (_, change) => {
  expect(check({ ...sentRequest(), ...change }, 'issue')).toEqual({ code: 'record-changed' })
})
