import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { turnValidMs } from '../account/budget.ts'
import type { App } from '../app.ts'
import type { ApiAnswer } from '../audit/chain.ts'
import { showSecret } from '../bolt/answers.ts'
import type { Handover, Issued, RetractedBecause } from '../domain/change.ts'
import { deadlineIn } from '../domain/deadline.ts'
import { AccountLimitError, certainlyNotApplied, StoreUnavailableError, UserError } from '../domain/errors.ts'
import { inLane, withTurn } from '../domain/lane.ts'
import type { Request } from '../domain/request.ts'
import { heldFrom } from '../domain/starts.ts'
import { soonerWords } from '../messages/request-status.ts'
import { heldWords, notConfirmed, nothingMade, notReadBefore, notRecorded, pressAgain, tookTooLong } from '../messages/request-words.ts'
import { type CommonFinding, findingWords, tooLate, unappliedCause, unknownRequest, wordsOfFindings } from '../messages/why-not.ts'
import { onApiError, onDistrusted } from '../outbox/operators.ts'
import type { Opened } from '../record/catalog.ts'
import { noteOf, type StepResult } from '../record/store.ts'
import { guardStore } from '../redis/connect.ts'
import { authorize } from '../rights/authorize.ts'
import { ruleOf } from '../rights/judge.ts'
import { timesOf } from '../rights/times.ts'
import { notice } from '../slack/blocks.ts'
import { Refusal, toUserWords } from '../slack/errors.ts'
import type { Click } from '../slack/interactions.ts'
import { mrkdwn, phraseWords } from '../slack/text.ts'
import { checkApproval, checkPast } from './authority.ts'
import { showTaken } from './decide.ts'
import { answerOf, repeatPreflight } from './send.ts'

const notOnHome = mrkdwn`Nothing was created. The Home tab can't show the token to you alone. Press the button on the request message in the channel.`

interface Claimed {
  request: Request
  opened: Opened
  handover: Handover<unknown, unknown>
  /** The account at the repeated preflight check. */
  facts: unknown
  /** The time before the step, in ms of `performance.now()`. */
  startedAt: number
  /** From when on another process may make the secret worthless, in ms by Redis' clock. */
  notAfter: number
}

/** If anything fails after the write, the secret is made worthless: one that nobody saw must not stay valid, and is never stored. */
export async function handOver(app: App, request: Request, click: Click): Promise<void> {
  const { store, timings, budget } = app
  const opened = app.catalog.open(request)
  const grant = await authorize(app, click.origin, { to: 'issue', request })
  const { handover } = opened.change
  if (request.state !== 'approved' || !handover) throw tooLate(request, click.origin.userId)
  if (click.onHome) throw new Refusal('on-home', notOnHome)
  // Before the first read of the account, which is counted as one for a write: a press that nothing comes of must not spend it.
  await requireAuthority(app, request)
  requireTurn(app, await budget.waitForWrite('send', request.id))
  const facts = await inLane('send', () => readBeforeIssuing(app, request, opened, click))
  const freeze = await requireAuthority(app, request, facts)
  // Before the step, so that the write does not wait after it.
  const turn = deadlineIn(turnValidMs)
  requireTurn(app, await budget.takeWrite('send', request.id))

  const startedAt = performance.now()
  const notAfter = (await store.now()) + timings.handoverMs
  const claimed = await store.take(request, 'issue', {
    set: { seen: facts, seenSignature: app.signatures.signSeen(request, facts) },
    dueInMs: timings.handoverMs,
    freeze,
    audit: { by: click.origin.userId, ...grant },
  })
  if (claimed.outcome === 'expired') return expire(app, request, click)
  if (claimed.outcome === 'frozen') return handOver(app, request, click)
  if (claimed.outcome !== 'won') return refuseTaken(app, request, click)
  // If this process dies before it shows the secret, a worker makes it worthless.
  await app.queues.wake(request, timings.handoverMs)
  await withTurn('send', turn, () => issueAndShow(app, { request, opened, handover, facts, startedAt, notAfter }, click))
  await showTaken(app, request)
}

/** Refuses a press after another one has taken the step. */
async function refuseTaken(app: App, request: Request, { origin }: Click): Promise<never> {
  const now = await app.store.find(request.id)
  throw now ? tooLate(now, origin.userId) : new Refusal('unknown-request', unknownRequest(origin.command))
}

/** Refuses a press that has to wait, because nothing is made without the person who sees it. */
function requireTurn({ budget }: App, waitMs: number): void {
  if (waitMs > 0) throw new Refusal('account-limit', pressAgain({ kind: 'write', perMinute: budget.perMinute.write, waitMs }))
}

/** Each press reads the account at the cost of what is kept for writes, so one that could not read it makes this person's next ones wait. */
const afterFailedPressMs = 10_000

/** Repeats the preflight check. Voids the request if the account changed. Throws a UserError for the person who clicked. */
async function readBeforeIssuing(app: App, request: Request, opened: Opened, click: Click): Promise<unknown> {
  const { redis, keys } = app
  const failedPress = keys.failedPress(click.origin.userId)
  const waitMs = await guardStore(() => redis.pttl(failedPress))
  if (waitMs > 0) throw new Refusal('account-away', notReadBefore(waitMs))
  const result = await repeatPreflight(app, opened)
  if (result.is === 'unchanged') return result.facts
  if (result.is === 'unread' || result.is === 'refused') await guardStore(() => redis.set(failedPress, '1', 'PX', afterFailedPressMs))
  if (result.is === 'limited')
    throw new Refusal('account-limit', pressAgain({ kind: 'read', perMinute: app.budget.perMinute.read, waitMs: result.waitMs }))
  if (result.is === 'unread')
    throw new UserError('account-away', "The account API isn't responding. Nothing was created. Press the button again in a minute.")
  const causes = result.is === 'changed' ? result.causes : [result.cause]
  const { why } = wordsOfFindings(opened.change, causes)
  if (result.is === 'refused') throw new UserError(result.cause.code, why)
  const { outcome } = await app.store.take(request, 'void', { set: { causes } })
  // Another press may have created the key that this one found.
  if (outcome !== 'won') return refuseTaken(app, request, click)
  await showTaken(app, request)
  throw new UserError('account-changed', `Canceled. Nothing was created. ${why}`)
}

/**
 * Refuses a request whose present content nobody allowed, or that may not start now. An approved key can be created for as long as it could be
 * approved. `facts`: what the account shows now, once it was read. Returns the record of the freeze.
 */
async function requireAuthority(app: App, request: Request, facts?: unknown): Promise<string> {
  const { store } = app
  const { text, freezes } = await app.freezes.read()
  const now = await store.now()
  const unapproved = await checkApproval(app, request, now, { withinMs: request.ttlMs, freezes, facts })
  const { signed, times } = timesOf(app, request, freezes)
  const held = heldFrom(now, signed, times)
  if (held && !unapproved)
    throw new Refusal(
      'on-hold',
      mrkdwn`Nothing was created. ${heldWords(held.waits)} Press the button again then.${soonerWords(ruleOf(app, request), held.waits)}`,
    )
  const problem = unapproved ?? (await checkPast(app, request))
  if (!problem) return text
  // Another click may have taken a step since the request was read. Then the audit shows a newer state.
  const current = await store.find(request.id)
  if (current && current.revision !== request.revision) throw tooLate(current, request.origin.userId)
  await onDistrusted(app, request, problem)
  if (problem.code !== 'unknown-key') await store.take(request, 'drop', { set: { causes: [problem] } })
  await showTaken(app, request)
  throw new UserError(problem.code, wordsOfFindings(undefined, [problem]).why)
}

async function expire(app: App, request: Request, click: Click): Promise<never> {
  const set = { causes: [{ code: 'not-used' } satisfies CommonFinding] }
  await app.store.take(request, 'expire-approved', { set })
  await showTaken(app, request)
  throw tooLate({ ...request, ...set, state: 'expired' }, click.origin.userId)
}

/** If the requester may not have seen the secret, it is made worthless: here, or by the worker that next observes the request. */
async function issueAndShow(app: App, claimed: Claimed, click: Click): Promise<void> {
  const { request, opened, handover, facts } = claimed
  const answers: ApiAnswer[] = []
  const onAnswer = (answer: ApiAnswer) => void answers.push(answer)
  const issued = await issue(app, request, () => handover.issue(opened.input, facts, { onAnswer, request }), click)
  if (!issued) return
  if (performance.now() - claimed.startedAt >= app.timings.handoverMs / 2) return retract(app, claimed, issued, 'too-slow', click)
  const words = { heading: mrkdwn`*${issued.heading}*`, note: phraseWords(issued.note) }
  const place = { responseUrl: click.responseUrl, channelId: click.origin.channelId, userId: click.origin.userId }
  const shown = await showSecret(app, place, words, issued.secret)
  if (shown === 'undelivered') return retract(app, claimed, issued, 'not-shown', click)
  await endShown(app, claimed, issued, answers.at(-1), click)
}

/** Sends the write. Returns undefined if there is nothing to show; the requester has then got an explanation. */
async function issue(app: App, request: Request, write: () => Promise<Issued>, click: Click): Promise<Issued | undefined> {
  const { store } = app
  try {
    return await write()
  } catch (error) {
    const answer = answerOf(error)
    if (error instanceof AccountLimitError) {
      // The request is as before the press. Nothing is made later by itself.
      await store.take(request, 'limit', { dueInMs: 0, audit: { answer } })
      await click.answer.ephemeral(notice(pressAgain(error)))
      return undefined
    }
    onApiError(app, error)
    await app.audit.note(noteOf(app, request, 'answer', { answer }))
    if (!certainlyNotApplied(error)) {
      await click.answer.ephemeral(notice(notConfirmed))
      return undefined
    }
    await store.take(request, 'fail', { set: { causes: [unappliedCause(error, 'not-made')] } })
    const words = toUserWords(error, nothingMade)
    if (words) await click.answer.ephemeral(notice(words))
    return undefined
  }
}

const retryMs = 250

/** The secret may be in use, so the same step is sent until Redis answers, or another process may make it worthless. Warns then. */
async function endShown(app: App, claimed: Claimed, issued: Issued, answer: ApiAnswer | undefined, click: Click): Promise<void> {
  const token = randomUUID()
  const data = { notAfter: claimed.notAfter, set: { endsAt: issued.endsAt }, audit: { resourceId: issued.id, answer } }
  const end = () => app.store.take(claimed.request, 'finish', data, token)
  let ended: StepResult | undefined
  while (!ended) {
    try {
      ended = await end()
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      if (performance.now() >= claimed.startedAt + app.timings.handoverMs) {
        app.errors.of('people')(error)
        return click.answer.ephemeral(notice(notRecorded))
      }
      await delay(retryMs)
    }
  }
  if (ended.outcome !== 'won') await click.answer.ephemeral(notice(tookTooLong))
}

/** Makes a secret worthless that was not shown, and ends its request. */
async function retract(app: App, { request, opened, handover, facts }: Claimed, issued: Issued, because: RetractedBecause, click: Click) {
  try {
    await inLane('retract', () => handover.retract(issued))
  } catch (error) {
    // The request is due again soon. A worker then finds the secret and makes it worthless.
    onApiError(app, error)
    return
  }
  const cause = handover.retracted(issued, because, facts)
  await app.store.take(request, 'fail', { set: { causes: [cause] } })
  const { why, next = 'Request it again.' } = findingWords(opened.change, cause)
  await click.answer.ephemeral(notice(mrkdwn`${why} ${next}`))
}
