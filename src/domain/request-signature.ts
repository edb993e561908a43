import { type Approval, type Decision, isGenuine, type Request } from './request.ts'
import { type Keyring, orForged, type Verdict } from './signing.ts'

/** What the signature of a request covers besides its place: all that was requested, under which rule, with how many approvals and until when. */
const requested = [
  'version',
  'id',
  'kind',
  'input',
  'facts',
  'resource',
  'hash',
  'unchecked',
  'reason',
  'undoes',
  'repeats',
  'rule',
  'needsApproval',
  'approvalsNeeded',
  'ttlMs',
  'createdAt',
] as const satisfies (keyof Request)[]

/** What not each request has, and the names of people that its message shows. */
const shown = [
  'start',
  'fromMessage',
  'alert',
  'link',
  'approverNames',
  'personNames',
  'parent',
  'otherRules',
] as const satisfies (keyof Request)[]

type AsRequested = Pick<Request, (typeof requested)[number] | 'origin'> & Partial<Pick<Request, (typeof shown)[number] | 'moreResources'>>

type Unsigned<Signed> = Omit<Signed, 'signature'>

function requestContent(request: AsRequested) {
  const { userId, channelId, teamId } = request.origin
  const content = Object.fromEntries([...requested, ...shown].map((name) => [name, request[name]]))
  const locks = request.moreResources?.length ? { moreResources: request.moreResources } : {}
  return { signed: 'request', ...content, userId, channelId, teamId, ...locks }
}

/** What the signature of a person's decision covers. `via` is the party that it stands for, by which the rule allowed it. */
function contentOf(signed: 'approval' | 'break-glass' | 'start-now') {
  return ({ id, hash }: Pick<Request, 'id' | 'hash'>, decided: Unsigned<Decision> & Pick<Approval, 'emergency'>) => {
    const { by, rule, via, at, reason, passed, emergency, confirmed } = decided
    return { signed, requestId: id, hash, by, rule, via, at, reason, passed, emergency, confirmed }
  }
}

/** What the signature of the last approver's decision covers: that these approvals were enough when they were counted. */
function approvedContent(
  { id, hash, approvals }: Pick<Request, 'id' | 'hash' | 'approvals'>,
  { by, at, allOf, counted }: Unsigned<Decision>,
) {
  return { signed: 'approved', requestId: id, hash, by, at, allOf, counted, approvals: approvals.map(({ signature }) => signature) }
}

/** Later reads are compared with the last read before the write, and may lead to another write. */
function seenContent({ id, hash }: Pick<Request, 'id' | 'hash'>, seen: unknown) {
  return { signed: 'seen', requestId: id, hash, seen }
}

/** Signs and verifies what decides whether a write is sent, so that nobody decides by writing to Redis. */
export function createRequestSignatures({ sign, verify }: Pick<Keyring, 'sign' | 'verify'>) {
  const verifyRequest = (request: Request): Verdict => verify(requestContent(request), request.signature)
  const verifySeen = (request: Request): Verdict => verify(seenContent(request, request.seen), request.seenSignature)

  function verifyRecord(request: Request): Verdict {
    const verdicts = [verifyRequest(request), ...(request.seen === undefined ? [] : [verifySeen(request)])]
    const failed = verdicts.find((verdict) => verdict === 'unknown-key') ?? verdicts.find((verdict) => verdict !== 'genuine')
    return failed ?? orForged(() => (isGenuine(request) ? 'genuine' : 'forged'))
  }

  const pair = <Decided extends { signature?: string }>(content: (request: Request, decided: Unsigned<Decided>) => object) => ({
    sign: (request: Request, decided: Unsigned<Decided>) => ({ ...decided, signature: sign(content(request, decided)) }) as Decided,
    verify: (request: Request, decided: Decided): Verdict => verify(content(request, decided), decided.signature),
  })
  const approval = pair<Approval>(contentOf('approval'))
  const approved = pair<Decision>(approvedContent)
  const breakGlass = pair<Decision>(contentOf('break-glass'))
  // An approver lets a request start before its signed start.
  const startNow = pair<Approval>(contentOf('start-now'))

  return {
    verifyRecord,
    verifyRequest,
    verifySeen,
    signRequest: (request: AsRequested): string => sign(requestContent(request)),
    signApproval: approval.sign,
    verifyApproval: approval.verify,
    /** `request` has all the approvals that were counted. */
    signApproved: approved.sign,
    verifyApproved: approved.verify,
    signBreakGlass: breakGlass.sign,
    verifyBreakGlass: breakGlass.verify,
    signStartNow: startNow.sign,
    verifyStartNow: startNow.verify,
    signSeen: (request: Request, seen: unknown): string => sign(seenContent(request, seen)),
  }
}
export type RequestSignatures = ReturnType<typeof createRequestSignatures>
