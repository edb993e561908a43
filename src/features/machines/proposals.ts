import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { hasToken, tokenAdvice } from '../../bolt/read-interactions.ts'
import type { Origin } from '../../domain/approval.ts'
import type { Change } from '../../domain/change.ts'
import { CheckFailed, UnknownName } from '../../domain/errors.ts'
import type { Request } from '../../domain/request.ts'
import { canonicalJson } from '../../domain/signing.ts'
import { NotSeen, seenBy } from '../../kit/seen.ts'
import { requestIdFor, StartRefused } from '../../life/submit.ts'
import { gate, ReasonRequired } from '../../rights/authorize.ts'
import { isRefused, nothingRequested, notRequested, Refusal } from '../../slack/errors.ts'
import { code, mrkdwn, nameWords, ownWords } from '../../slack/text.ts'
import { claimKey } from './idempotency.ts'

interface Proposed {
  change: Change
  origin: Origin
  meant: unknown
  start: string | undefined
}

/** Returns the request that the call makes, or the one that an earlier call has made. */
export async function propose(
  app: App,
  change: Change,
  origin: Origin,
  input: Record<string, string | undefined>,
): Promise<{ request: Request; isNew: boolean }> {
  const { idempotency_key: key, reason, link, start, ...members } = input
  if ([...Object.values(members), reason, link].some((text) => text !== undefined && hasToken(text)))
    throw new Refusal('token-typed', tokenAdvice)
  const deliveryKey = key === undefined ? `call:${randomUUID()}` : await claimKey(app, origin.userId, key, { kind: change.kind, ...input })
  const earlier = await findOwn(app, origin, requestIdFor(deliveryKey))
  if (earlier) return { request: earlier, isNew: false }
  const requester = await gate(app, origin, change.kind)
  const given = members as Record<string, string>
  const meant = await change.machines?.read(given, origin, AbortSignal.timeout(readMs)).catch((error: unknown) => {
    if (error instanceof UnknownName)
      throw new Refusal(
        'unknown-name',
        mrkdwn`Not requested: no ${error.what} ${nameWords(error.typed)}. List what there is, and use an id.`,
      )
    throw nothingRequested(error instanceof NotSeen ? error.cause : error)
  })
  const proposed: Proposed = { change, origin, meant, start }
  const findSame = async () => (key === undefined ? (await ownOpen(app, proposed)).find((each) => isSame(each, proposed)) : undefined)
  const same = await findSame()
  if (same) return { request: same, isNew: false }
  try {
    const { requestId, isNew = false } = await app.submit({ change, input: meant, origin, requester, reason, link, start, deliveryKey })
    const request = await findOwn(app, origin, requestId)
    if (!request) throw new Error('a request that was just made is gone')
    return { request, isNew }
  } catch (error) {
    // Another call was first at the same moment.
    const first = isRefused(error, 'locked') ? await findSame() : undefined
    if (first) return { request: first, isNew: false }
    const [own] = isRefused(error, 'locked') ? await ownOpen(app, proposed) : []
    // A machine may have lost the id of the request that it could wait for, or withdraw.
    if (own) throw new Refusal('locked', mrkdwn`You have an open request for it: ${code(own.id)}. Withdraw it, or wait.`)
    if (error instanceof CheckFailed && (await namesUnseen(app, origin, error))) throw new Refusal('addresses-unseen', withUnseen)
    // In Slack a form shows these, which is still open.
    if (error instanceof StartRefused || error instanceof ReasonRequired) {
      const { text } = error instanceof StartRefused ? error.whole : error.words
      throw new Refusal(error instanceof StartRefused ? 'start-not-possible' : 'reason-required', ownWords(notRequested(text)))
    }
    throw nothingRequested(error)
  }
}

const readMs = 8_000

const withUnseen = mrkdwn`Not requested: the server also has addresses that you may not see. Ask a person to evacuate it.`

const Causes = z.object({ causes: z.array(z.object({ address: z.string() })) })

/** Whether a check names an address of the server that is of a project that no rule of the machine covers. People read which, and where. */
async function namesUnseen(app: App, origin: Origin, { finding }: CheckFailed): Promise<boolean> {
  const { causes = [] } = Causes.safeParse(finding).data ?? {}
  if (causes.length === 0) return false
  const seen = await seenBy(app, origin).lists.elasticIps()
  return !causes.every(({ address }) => seen.items.some((each) => each.address === address))
}

/** The open requests of the machine for the same thing. An agent tries again when an answer is late. */
async function ownOpen(app: App, { change, origin, meant }: Proposed): Promise<Request[]> {
  const others = await app.store.othersFor({ id: '', resource: change.resource(meant) })
  return others.filter((each) => each.origin.userId === origin.userId && app.signatures.verifyRecord(each) === 'genuine')
}

function isSame({ kind, input, start }: Request, proposed: Proposed): boolean {
  const whole = input as Record<string, unknown>
  const isPart = Object.entries(proposed.meant as object).every(([name, value]) => canonicalJson(value) === canonicalJson(whole[name]))
  return kind === proposed.change.kind && isPart && (start === undefined) === (proposed.start === undefined)
}

/** A machine only sees what it requested itself. */
export async function findOwn(app: App, { userId }: Origin, id: string): Promise<Request | undefined> {
  const [request] = await app.store.findMany([id])
  const isOwn = request?.origin.userId === userId && !request.parent && app.signatures.verifyRecord(request) === 'genuine'
  return isOwn ? request : undefined
}
