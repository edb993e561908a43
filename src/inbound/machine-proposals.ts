import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { asFarAsRead } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { CheckFailed, UnknownName, UserError } from '../domain/errors.ts'
import type { Request } from '../domain/request.ts'
import { canonicalJson } from '../domain/signing.ts'
import { NotSeen, seenBy } from '../kit/seen.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { ReasonRequired } from '../requests/access.ts'
import { Held, requestIdFor, StartRefused } from '../requests/submit.ts'
import { nothingRequested, notRequested, Refusal } from '../slack/errors.ts'
import { hasToken, tokenAdvice } from '../slack/read-interactions.ts'
import { code, mrkdwn, nameWords, ownWords } from '../slack/text.ts'

const run = scriptsOf(readScripts(import.meta.url, ['claim-idempotency', 'end-idempotent']))

/** What was asked for is not possible any more, or contradicts an earlier call. */
export class Conflict extends Refusal {
  override name = 'Conflict'
}

type Proposed = Record<'reason' | 'link' | 'start', string | undefined> & { members: Record<string, string> }

/** Returns the request that the call makes, or the one that an earlier call has made. */
export async function propose(
  app: App,
  change: Change,
  origin: Origin,
  input: Record<string, string | undefined>,
): Promise<{ request: Request; isNew: boolean }> {
  const { idempotency_key: key, reason, link, start, ...members } = input
  const proposed = { members: members as Record<string, string>, reason, link, start }
  if ([...Object.values(members), reason, link].some((text) => text !== undefined && hasToken(text))) throw new Refusal(tokenAdvice)
  if (key === undefined) return proposeOnce(app, change, origin, proposed)
  const claimed = await claimKey(app, origin.userId, key, { kind: change.kind, ...input })
  let end: 'refused' | '' = ''
  try {
    const earlier = await findOwn(app, origin, requestIdFor(claimed.call))
    return earlier ? { request: earlier, isNew: false } : await proposeOnce(app, change, origin, proposed, claimed.call)
  } catch (error) {
    if (isRefused(error)) end = 'refused'
    throw error
  } finally {
    // If Redis goes away, the key stays as it is, for a day.
    await run(app.redis, 'end-idempotent', [claimed.name], [claimed.claim, claimed.token, end]).catch(app.errors.of('people'))
  }
}

async function proposeOnce(app: App, change: Change, origin: Origin, { members, reason, link, start }: Proposed, claimed?: string) {
  const requester = await app.access.gate(origin, change.kind)
  const meant = await change.machines?.read(members, origin, AbortSignal.timeout(readMs)).catch((error: unknown) => {
    if (error instanceof UnknownName)
      throw new Refusal(mrkdwn`Not requested: no ${error.what} ${nameWords(error.typed)}. List what there is, and use an id.`)
    throw nothingRequested(error instanceof NotSeen ? error.cause : error)
  })
  const findSame = async () => (claimed === undefined ? await findOpen(app, origin, change, { meant, start }) : undefined)
  const same = await findSame()
  if (same) return { request: same, isNew: false }
  const deliveryKey = claimed ?? `call:${randomUUID()}`
  try {
    const submitted = { change, input: meant, origin, requester, reason, link, start, deliveryKey }
    const { requestId, isNew = false } = await app.submit(submitted)
    const request = await findOwn(app, origin, requestId)
    if (!request) throw new Error('a request that was just made is gone')
    return { request, isNew }
  } catch (error) {
    // Another call was first at the same moment.
    const first = error instanceof Held ? await findSame() : undefined
    if (first) return { request: first, isNew: false }
    if (error instanceof Held) throw (await ownHeld(app, origin, change.resource(meant))) ?? error
    if (error instanceof CheckFailed && (await namesUnseen(app, origin, error))) throw new Refusal(withUnseen)
    // In Slack a form shows these, which is still open.
    const words = error instanceof StartRefused ? error.whole : error instanceof ReasonRequired ? error.words : undefined
    if (words) throw new Refusal(ownWords(notRequested(words.text)))
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
  const seen = await asFarAsRead(seenBy(app, origin).lists.elasticIps())
  return !causes.every(({ address }) => seen.items.some((each) => each.address === address))
}

/** A machine may have lost the id of the request that it could wait for, or withdraw. */
async function ownHeld(app: App, { userId }: Origin, resource: string): Promise<Held | undefined> {
  const { now, later } = await app.store.othersFor({ id: '', resource })
  const own = [...now, ...later].find((each) => each.origin.userId === userId)
  return own && new Held(mrkdwn`You have an open request for it: ${code(own.id)}. Withdraw it, or wait.`)
}

const keyMs = 24 * 3_600_000

/**
 * Begins a call with a key. `call`: what the id of its request comes from, the same for all calls with the key, in all processes, also if one of
 * them dies before it answers. After 24 hours the key makes another request. Throws a Conflict if the first call with it sent something else.
 */
async function claimKey({ redis, keys }: App, userId: string, key: string, sent: object) {
  const ofKey = hash('sha256', canonicalJson([userId, key]))
  const name = keys.idempotency(ofKey)
  const sentHash = hash('sha256', canonicalJson(sent))
  const token = randomUUID()
  const [claim = ''] = await run(redis, 'claim-idempotency', [name], [sentHash, `${sentHash}.${Date.now()}`, String(keyMs), token])
  if (claim === '')
    throw new Conflict(mrkdwn`Not requested: this idempotency key was used for another request in the last 24 hours. Use a new key.`)
  return { name, claim, token, call: `call:${ofKey}.${claim}` }
}

/** Whether nothing was requested for certain. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Error && error.name === 'NothingRequested' ? error.cause : error
  return cause instanceof UserError
}

/** The same proposal of the same machine, as long as it is open. An agent tries again when an answer is late. */
async function findOpen(
  app: App,
  { userId }: Origin,
  change: Change,
  { meant, start }: { meant: unknown; start: string | undefined },
): Promise<Request | undefined> {
  const { now, later } = await app.store.othersFor({ id: '', resource: change.resource(meant) })
  const isSame = ({ kind, origin, input, start: startsAt }: Request) => {
    if ((start === undefined) !== (startsAt === undefined)) return false
    const whole = input as Record<string, unknown>
    const isPart = Object.entries(meant as object).every(([name, value]) => canonicalJson(value) === canonicalJson(whole[name]))
    return kind === change.kind && origin.userId === userId && isPart
  }
  return [...now, ...later].find((each) => isSame(each) && app.signatures.verifyRecord(each) === 'genuine')
}

/** A machine only sees what it requested itself. */
export async function findOwn(app: App, { userId }: Origin, id: string): Promise<Request | undefined> {
  const [request] = await app.store.findMany([id])
  const isOwn = request?.origin.userId === userId && !request.parent && app.signatures.verifyRecord(request) === 'genuine'
  return isOwn ? request : undefined
}
