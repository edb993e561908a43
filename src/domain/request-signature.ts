import { type Approval, type Decision, isGenuine, type Request } from './request.ts'
import { type Keyring, orForged, type Verdict } from './signing.ts'

/** How much text of genuine records is remembered, in characters. A record with one change has about 2,000. */
const rememberedCharacters = 4_000_000

/**
 * Creates the function that verifies a record, unless the same text was genuine before. A record is verified at each step and for each message,
 * and its signed part never changes.
 */
function createVerifyOnce() {
  const known = new Set<string>()
  let characters = 0

  function remember(text: string): void {
    known.add(text)
    characters += text.length
    for (const oldest of known) {
      if (characters <= rememberedCharacters) return
      known.delete(oldest)
      characters -= oldest.length
    }
  }

  return function verifyOnce(content: object, verify: () => Verdict): Verdict {
    const text = JSON.stringify(content)
    if (known.has(text)) return 'genuine'
    const verdict = verify()
    if (verdict === 'genuine') remember(text)
    return verdict
  }
}

type AsRequested = Pick<
  Request,
  | 'version'
  | 'id'
  | 'kind'
  | 'input'
  | 'facts'
  | 'resource'
  | 'hash'
  | 'rule'
  | 'needsApproval'
  | 'ttlMs'
  | 'unchecked'
  | 'origin'
  | 'createdAt'
  | 'approvalsNeeded'
  | 'reason'
  | 'undoes'
  | 'repeats'
> &
  Pick<Partial<Request>, 'fromMessage' | 'alert' | 'moreResources' | 'approverNames' | 'personNames' | 'parent' | 'otherRules'>

/**
 * What the signature of a request covers: all that was requested, under which rule, with how many approvals and until when, and the names of people
 * that its message shows.
 */
function requestContent({ origin, moreResources = [], ...request }: AsRequested) {
  const {
    version,
    id,
    kind,
    input,
    facts,
    resource,
    hash,
    rule,
    needsApproval,
    approvalsNeeded,
    ttlMs,
    unchecked,
    createdAt,
    reason,
    undoes,
    repeats,
    fromMessage,
    alert,
    approverNames,
    personNames,
    parent,
    otherRules,
  } = request
  const { userId, channelId, teamId } = origin
  const requested = { version, id, kind, input, facts, resource, hash, unchecked, userId, channelId, teamId, reason, undoes, repeats }
  const shown = { fromMessage, alert, approverNames, personNames, parent, otherRules }
  const locks = moreResources.length > 0 ? { moreResources } : {}
  return { signed: 'request', ...requested, ...shown, ...locks, rule, needsApproval, approvalsNeeded, ttlMs, createdAt }
}

/** What the signature of an approval covers. `via` is the party that it stands for, by which the rule allowed it. */
function approvalContent({ id, hash }: Pick<Request, 'id' | 'hash'>, { by, rule, via, at }: Omit<Approval, 'signature'>) {
  return { signed: 'approval', requestId: id, hash, by, rule, via, at }
}

/** What the signature of the last approver's decision covers: that these approvals were enough when they were counted. */
function approvedContent(
  { id, hash, approvals }: Pick<Request, 'id' | 'hash' | 'approvals'>,
  { by, at, allOf, counted }: Omit<Decision, 'signature'>,
) {
  return { signed: 'approved', requestId: id, hash, by, at, allOf, counted, approvals: approvals.map(({ signature }) => signature) }
}

function breakGlassContent({ id, hash }: Pick<Request, 'id' | 'hash'>, { by, rule, via, at, reason }: Omit<Decision, 'signature'>) {
  return { signed: 'break-glass', requestId: id, hash, by, rule, via, at, reason }
}

/**
 * Returns what the signature of the last read before the write covers. Later reads are compared with that read, and may lead to another
 * write.
 */
function seenContent({ id, hash }: Pick<Request, 'id' | 'hash'>, seen: unknown) {
  return { signed: 'seen', requestId: id, hash, seen }
}

/** Signs and verifies what decides whether a write is sent, so that nobody decides by writing to Redis. */
export function createRequestSignatures(keyring: Keyring) {
  const verifyRequest = (request: Request): Verdict => keyring.verify(requestContent(request), request.signature)
  const verifySeen = (request: Request): Verdict => keyring.verify(seenContent(request, request.seen), request.seenSignature)

  const verifyOnce = createVerifyOnce()

  /** Verifies everything that people are shown of a change: what was requested, its hash, and what was read before the write. */
  function verifyRecord(request: Request): Verdict {
    const { warnings, signature, seen, seenSignature } = request
    return orForged(() => verifyOnce({ ...requestContent(request), warnings, signature, seen, seenSignature }, () => verifyParts(request)))
  }

  function verifyParts(request: Request): Verdict {
    const verdicts = [verifyRequest(request), ...(request.seen === undefined ? [] : [verifySeen(request)])]
    const found = verdicts.find((verdict) => verdict === 'unknown-key') ?? verdicts.find((verdict) => verdict !== 'genuine') ?? 'genuine'
    return found === 'genuine' && !isGenuine(request) ? 'forged' : found
  }

  return {
    verifyRecord,
    verifyRequest,
    verifySeen,
    signRequest: (request: AsRequested): string => keyring.sign(requestContent(request)),
    signApproval: (request: Request, approval: Omit<Approval, 'signature'>): Approval => ({
      ...approval,
      signature: keyring.sign(approvalContent(request, approval)),
    }),
    verifyApproval: (request: Request, approval: Approval): Verdict =>
      keyring.verify(approvalContent(request, approval), approval.signature),
    /** `request` has all the approvals that were counted. */
    signApproved: (request: Request, decision: Omit<Decision, 'signature'>): Decision => ({
      ...decision,
      signature: keyring.sign(approvedContent(request, decision)),
    }),
    verifyApproved: (request: Request, decision: Decision): Verdict =>
      keyring.verify(approvedContent(request, decision), decision.signature),
    signBreakGlass: (request: Request, decision: Omit<Decision, 'signature'>): Decision => ({
      ...decision,
      signature: keyring.sign(breakGlassContent(request, decision)),
    }),
    verifyBreakGlass: (request: Request, decision: Decision): Verdict =>
      keyring.verify(breakGlassContent(request, decision), decision.signature),
    signSeen: (request: Request, seen: unknown): string => keyring.sign(seenContent(request, seen)),
  }
}
export type RequestSignatures = ReturnType<typeof createRequestSignatures>
