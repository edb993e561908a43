import { turnValidMs } from '../account/budget.ts'
import type { App } from '../app.ts'
import type { ApiAnswer } from '../audit/chain.ts'
import type { FoundEntry } from '../audit/find.ts'
import type { Finding } from '../domain/change.ts'
import { type Deadline, deadlineIn } from '../domain/deadline.ts'
import {
  AccountLimitError,
  ApiContractError,
  ApiError,
  ApiUnreachableError,
  CheckFailed,
  certainlyNotApplied,
  isKeyRefused,
  rateLimitCode,
  StoreUnavailableError,
} from '../domain/errors.ts'
import { currentRequest, withTurn } from '../domain/lane.ts'
import type { Freeze } from '../domain/policy.ts'
import { type AuthorityProblem, isHeld, type Request, type Waits } from '../domain/request.ts'
import { heldFrom, mayStartUntil, startWithinMs } from '../domain/starts.ts'
import { type CommonFinding, refusalOf, unappliedCause } from '../messages/why-not.ts'
import { onApiError, onDistrusted } from '../outbox/operators.ts'
import type { Opened } from '../record/catalog.ts'
import { freezeSetAt } from '../record/freeze.ts'
import type { StepName } from '../record/steps.ts'
import { noteOf, type StepData } from '../record/store.ts'
import { judgeStart } from '../rights/judge.ts'
import { timesOf } from '../rights/times.ts'
import { explainRefusal, toUserMessage } from '../slack/errors.ts'
import { checkApproval, checkAuthority, checkPast, unknownKeyMs } from './authority.ts'
import { type Look, type MayWrite, mayWriteNow, type PreflightResult, retryMs, type WriteFacts } from './may-write-now.ts'

/** How long the result of a preflight check allows a write. Redis may not answer between the two, and the account may change meanwhile. */
export const preflightValidMs = 20_000

/** When the outcome is first read if the process that sent the write ends. Nothing counts as not started before it is settled. */
const firstObservationMs = 2_000

/** What sends a child: its parent reads the account for all of them, and lets only a few go at a time. */
export interface ForChild {
  /** What the read says of this child, and when it began, in ms by Redis' clock. */
  read(): Promise<{ result: PreflightResult; at: number }>
  isFull(): Promise<boolean>
  /** What the audit had of its parent when the first child of the pass asked: the check right before the write reads it again. */
  earlier(): Promise<FoundEntry[]>
  beside: StepData['beside']
  parent: Request
}

/** `begun`: its children are sent now. `waits`: it is due again later. `full`: other children go before this one. Undefined: it needs nothing more. */
type SendResult = 'begun' | 'waits' | 'full' | undefined

/** Sends the write at most once: only the process that takes the step `send`. All others, also after a crash, observe the outcome. */
export async function send(app: App, request: Request, child?: ForChild): Promise<SendResult> {
  const { store } = app
  const lane = child ? 'bundle' : 'send'
  const opened = app.catalog.open(request)
  const claimed = await claimWrite(app, request, opened, child)
  if (typeof claimed !== 'object') return claimed
  const answers: ApiAnswer[] = []
  const onAnswer = (answer: ApiAnswer) => void answers.push(answer)
  try {
    const outcome = await withTurn(lane, claimed.turn, async () => opened.change.send?.(opened.input, claimed.facts, { onAnswer }))
    if (outcome === 'done') await store.take(request, 'finish', { audit: { answer: answers.at(-1) } })
    else {
      // Nothing is read before half of the usual time is over.
      const { usualMs = 0 } = await store.usualDuration(request.kind)
      await store.take(request, 'accept', { dueInMs: Math.min(usualMs / 2, latestFirstLookMs), audit: { answer: answers.at(-1) } })
    }
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    await recordFailure(app, request, error)
  }
  return undefined
}

/** What a write is judged by, besides what is read for it. */
interface Claim {
  request: Request
  opened: Opened
  child: ForChild | undefined
  freezes: Freeze[]
}

/** Makes every check, and takes the step that allows the write. Returns what to write with if this process is the one that took it. */
async function claimWrite(
  app: App,
  request: Request,
  opened: Opened,
  child: ForChild | undefined,
): Promise<{ facts: unknown; turn: Deadline } | SendResult> {
  const { text: frozen, freezes } = await app.freezes.read()
  const claim = { request, opened, child, freezes }
  let facts = await factsBefore(app, claim)
  let answer = mayWriteNow(facts)
  while (answer.is === 'look') {
    facts = { ...facts, ...(await look(app, claim, answer.at, facts)) }
    answer = mayWriteNow(facts)
  }
  if (answer.is !== 'write') return leaveUnsent(app, request, answer, { until: facts.until, frozen })
  const { items, kind, remark } = opened.change
  const { outcome } = await app.store.take(request, items ? 'begin' : 'send', {
    set: {
      seen: answer.facts,
      seenSignature: app.signatures.signSeen(request, answer.facts),
      ...(await app.store.usualDuration(items?.change.kind ?? kind)),
      ...(items ? { hasChildren: true as const } : {}),
    },
    reports: remark?.(answer.facts) === undefined ? [] : ['remark'],
    dueInMs: firstObservationMs,
    notAfter: Math.min(answer.readFrom + preflightValidMs, facts.until),
    freeze: frozen,
    unlessLocked: true,
    beside: child?.beside,
  })
  if (outcome === 'full') return 'full'
  // It is judged again: the account was read too long ago, or somebody has just set or lifted a freeze.
  if (outcome === 'outdated' || outcome === 'frozen') return wait(app, request, 0)
  if (outcome !== 'won') return undefined
  return items ? 'begun' : answer
}

/** What is known before anything is read that is scarce. */
async function factsBefore(app: App, { request, child, freezes }: Claim): Promise<WriteFacts> {
  const now = await app.store.now()
  const { signed, times } = timesOf(app, child?.parent ?? request, freezes)
  return {
    now,
    until: mayStartUntil(signed, times),
    ttlMs: request.ttlMs,
    signed,
    // A window judges only when a parent starts.
    times: child ? { ...times, windows: [] } : times,
    approval: await checkApproval(app, request, now, { freezes }),
  }
}

async function look(app: App, { request, opened, child, freezes }: Claim, at: Look, facts: WriteFacts): Promise<Partial<WriteFacts>> {
  const { store, budget } = app
  const { account } = facts
  const lane = child ? 'bundle' : 'send'
  // Each child takes a turn of its own.
  const takesTurn = !opened.change.items
  switch (at) {
    case 'rights': {
      // People may have lost their rights between the approval and the start.
      const isLater = facts.until - startWithinMs > facts.signed.approvedAt
      return { rights: isLater ? await judgeStart(app, child?.parent ?? request) : 'allowed' }
    }
    case 'past': {
      // One that waits for the account was judged before, and is again right before its write.
      const isFirst = request.waits === undefined || isHeld(request)
      return { past: (isFirst ? await checkPast(app, request, child?.earlier()) : undefined) ?? 'clear' }
    }
    case 'writeInMs':
      return { writeInMs: takesTurn ? await budget.waitForWrite(lane, request.id) : 0 }
    case 'account': {
      const read = child ? await child.read() : { result: await repeatPreflight(app, opened), at: facts.now }
      return { account: { result: read.result, begunAt: read.at, readAt: await store.now() } }
    }
    case 'atWrite': {
      const seen = account?.result.is === 'unchanged' ? account.result.facts : undefined
      const problem = await checkAuthority(app, request, account?.readAt ?? facts.now, { freezes, facts: seen })
      return { atWrite: { problem, isFull: (await child?.isFull()) ?? false } }
    }
    case 'turn': {
      // Before the step, so that the write does not wait after it. A turn of a write that is not sent is lost, which only sends less.
      const ends = deadlineIn(turnValidMs)
      return { turn: { inMs: takesTurn ? await budget.takeWrite(lane, request.id) : 0, ends } }
    }
  }
}

/** Ends or postpones a request that must not be sent, or not yet. A wait prolongs no approval. */
async function leaveUnsent(
  app: App,
  request: Request,
  answer: Exclude<MayWrite, { is: 'write' | 'look' }>,
  { until, frozen }: { until: number; frozen: string },
): Promise<SendResult> {
  switch (answer.is) {
    case 'end':
      return drop(app, request, answer.cause)
    case 'void':
      return end(app, request, 'void', answer.causes)
    case 'distrust':
      return refuseWithoutAuthority(app, request, answer.problem)
    case 'hold':
      return hold(app, request, { ...answer, until, frozen })
    case 'await-turn':
      return waitForTurn(app, request, answer.for, answer.waitMs)
    case 'await-account': {
      // The first time that nothing answers, the request message says so. If the account API rejects the key, it does answer.
      const isShown = request.waits?.for === 'account' || answer.isRefused
      return wait(app, request, retryMs, isShown ? undefined : { name: 'wait-for-account', waits: { for: 'account' } })
    }
    case 'again':
      return wait(app, request, answer.inMs)
    case 'full':
      return 'full'
  }
}

/** Ends a request whose present content nobody allowed. A request that was signed with an unknown key waits until this process has that key. */
export async function refuseWithoutAuthority(app: App, request: Request, problem: AuthorityProblem): Promise<'waits' | undefined> {
  // Another process may have sent the write since the request was read. Then the audit shows a newer state.
  const current = await app.store.find(request.id)
  if (current?.revision !== request.revision) return undefined
  // Somebody stopped the tracking of its parent, so it is not sent now.
  if (request.parent && (await app.store.find(request.parent.id))?.state !== 'tracking') return 'waits'
  if (problem.code !== 'approved-too-long-ago') await onDistrusted(app, request, problem)
  return problem.code === 'unknown-key' ? wait(app, request, unknownKeyMs) : drop(app, request, problem)
}

/** Why it was missed, by what it waited for when its message was last shown. */
const causesOfWaits: { [what in Waits['for']]?: CommonFinding } = {
  account: { code: 'account-unread' },
  reads: { code: 'limit-used-up' },
  writes: { code: 'limit-used-up' },
}

function drop(app: App, request: Request, cause: Finding): Promise<undefined> {
  const known = cause.code === 'approved-too-long-ago' && request.waits ? causesOfWaits[request.waits.for] : undefined
  return end(app, request, 'drop', [known ?? cause])
}

/** What is held is looked at again this often, so that a policy that changed, or a lost wake-up, delays nothing for long. */
const lookAgainMs = 60_000

/** Between the starts of two requests that were held by the same, so that they start in the order of their approvals. */
const betweenStartsMs = 250

/**
 * Waits until the request may start, and at most until that is too late. Its message says what holds it. `frozen`: the record of the freeze that was
 * read.
 */
async function hold(app: App, request: Request, held: { waits: Waits; at: number; until: number; frozen: string }): Promise<'waits'> {
  const { waits, at } = held
  const now = await app.store.now()
  const isShown = isSameWait(request.waits, waits)
  const untilMs = Math.max(0, Math.min(at - now, held.until - now))
  // Who goes first is read only when that is near: what is held for days is looked at thousands of times.
  const place = untilMs < lookAgainMs ? await placeInLine(app, request, waits) : 0
  const ms = Math.min(untilMs, lookAgainMs) + place * betweenStartsMs
  await wait(app, request, ms + 20, isShown ? undefined : { name: 'wait-for-start', waits })
  await app.queues.wake(request, ms + 30)
  // Somebody who has just lifted the freeze woke this request before that.
  if (waits.for === 'freeze' && (await app.freezes.read()).text !== held.frozen) await app.queues.wake(request, 0)
  return 'waits'
}

function isSameWait(one: Waits | undefined, other: Waits): boolean {
  return (['for', 'until', 'name', 'from', 'ifLifted', 'mayStartNow'] as const).every((each) => one?.[each] === other[each])
}

/** How many of those that wait for the same were approved before. */
async function placeInLine({ store }: App, request: Request, waits: Waits): Promise<number> {
  if (waits.for === 'start') return 0
  const { requests } = await store.findOpen()
  const { decidedAt = 0 } = request
  return requests.filter((each) => each.waits?.for === waits.for && isHeld(each) && (each.decidedAt ?? 0) < decidedAt).length
}

/** What only the freeze holds that can be lifted, in the order of the approvals, of the records as they are. */
export async function heldByFreeze(app: App): Promise<Request[]> {
  const freeze = await app.freezes.read()
  const now = await app.store.now()
  const { freezes } = freeze
  const others = freezes.filter(({ ownId }) => ownId !== freezeSetAt(freeze, now)?.id)
  const { requests } = await app.store.findOpen()
  const isHeldBy = (request: Request, of: Freeze[]) => {
    const { signed, times } = timesOf(app, request, of)
    return heldFrom(now, signed, request.state === 'approved' ? times : { ...times, windows: [] }) !== undefined
  }
  const isGenuine = (request: Request) => app.signatures.verifyRecord(request) === 'genuine'
  const held = requests.filter(
    (request) => isApprovedOrPartly(request) && isGenuine(request) && isHeldBy(request, freezes) && !isHeldBy(request, others),
  )
  return held.toSorted(byApproval)
}

function isApprovedOrPartly({ state, items = [] }: Request): boolean {
  return state === 'approved' || (state === 'tracking' && items.some((item) => item.state === 'waiting'))
}

function byApproval(one: Request, other: Request): number {
  return (one.decidedAt ?? 0) - (other.decidedAt ?? 0)
}

/** Judges all again at once that a window, a start or a freeze holds, in the order of their approvals: a freeze was set or lifted. */
export async function wakeHeld({ store, queues }: App): Promise<void> {
  const { requests } = await store.findOpen()
  const held = requests.filter(
    (request) => isApprovedOrPartly(request) && (request.state === 'tracking' || request.waits === undefined || isHeld(request)),
  )
  const inOrder = held.toSorted(byApproval)
  await Promise.all(inOrder.map((request, place) => queues.wake(request, place * betweenStartsMs)))
}

/** A wait that ends this much earlier or later than its message says is not shown again. */
const sameWaitMs = 10_000

/** Waits until a call may be free. */
async function waitForTurn(app: App, request: Request, what: 'reads' | 'writes', waitMs: number): Promise<'waits'> {
  const now = await app.store.now()
  const perMinute = app.budget.perMinute[what === 'reads' ? 'read' : 'write']
  const { waits: shown } = request
  const isShown = shown?.for === what && Math.abs((shown.until ?? 0) - now - waitMs) < sameWaitMs
  const waits = { for: what, ms: waitMs, until: now + waitMs, perMinute }
  await wait(app, request, waitMs, isShown ? undefined : { name: 'wait-for-turn', waits })
  await app.queues.wake(request, waitMs + 20)
  return 'waits'
}

/** Makes a request due again in `ms`. `step`: notes why, so that its message says so. */
async function wait({ store }: App, request: Request, ms: number, step?: { name: StepName; waits: Waits }): Promise<'waits'> {
  if (step) await store.take(request, step.name, { set: { waits: step.waits }, dueInMs: ms })
  else await store.postponeIfUnchanged(request, ms)
  return 'waits'
}

async function end(app: App, request: Request, step: 'drop' | 'void', causes: Finding[]): Promise<undefined> {
  await app.store.take(request, step, { set: { causes } })
}

/** The longest time from the answer to a write to the first look at its outcome. */
const latestFirstLookMs = 20_000

async function recordFailure(app: App, request: Request, error: unknown): Promise<void> {
  const { store } = app
  const audit = { answer: answerOf(error) }
  if (error instanceof AccountLimitError) {
    // It was not carried out, and is sent again at its next turn.
    const ms = error.waitMs
    const waits: Waits = { for: 'writes', ms, until: (await store.now()) + ms, perMinute: app.budget.perMinute.write }
    await store.take(request, 'limit', { set: { waits }, dueInMs: ms, audit })
    return app.queues.wake(request, ms + 20)
  }
  onApiError(app, error)
  if (!certainlyNotApplied(error)) {
    await store.postpone(request.id, firstObservationMs)
    await app.audit.note(noteOf(app, request, 'answer', audit))
  } else if (error instanceof ApiError) {
    await store.take(request, 'fail', { set: { causes: [unappliedCause(error, 'not-changed')] }, audit })
  } else await store.take(request, 'not-start', { set: { causes: [unappliedCause(error, 'not-sent')] }, audit })
}

/** Returns the answer to a failed write, without text from outside. Undefined for an error before anything was sent. */
export function answerOf(error: unknown): ApiAnswer | undefined {
  if (error instanceof AccountLimitError)
    return error.answered ? { operation: error.operation, status: 429, codes: [rateLimitCode] } : undefined
  if (error instanceof ApiError)
    return { operation: error.operation, status: error.status, codes: error.codes.length > 0 ? error.codes : undefined }
  if (error instanceof ApiContractError) return { operation: error.operation, status: error.status, problem: 'unreadable answer' }
  if (error instanceof ApiUnreachableError) return { operation: error.operation, problem: error.problem }
  return undefined
}

const preflightMs = 15_000

/** Repeats the preflight check right before the write, and compares the account with what was approved. Throws unexpected errors. */
export async function repeatPreflight(app: App, { change, input, facts }: Opened): Promise<PreflightResult> {
  const now = await readAccount(app, { change, input, facts })
  if (now.is !== 'unchanged') return now
  const differences = change.differences(facts, now.facts)
  if (differences.length > 0) return { is: 'changed', causes: differences }
  return { is: 'unchanged', facts: change.complete?.(facts, now.facts) ?? now.facts }
}

/** Repeats the reads of a preflight check without comparing them with what was approved. Throws unexpected errors. */
export async function readAccount(
  app: App,
  { change, input, facts }: Pick<Opened, 'change' | 'input' | 'facts'>,
): Promise<PreflightResult> {
  try {
    const now = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs), approved: facts })
    if (!now.incomplete) return { is: 'unchanged', facts: now.facts }
    noteUnanswered(app)
    return unread()
  } catch (error) {
    if (error instanceof CheckFailed) return { is: 'changed', causes: [error.finding] }
    if (error instanceof AccountLimitError) return { is: 'limited', waitMs: error.waitMs }
    // Redis could not count the read, so the account API was not asked.
    if (error instanceof StoreUnavailableError) throw error
    onApiError(app, error)
    if (toUserMessage(error) === undefined) throw error
    // It would refuse the same change again later.
    const isPermanent = error instanceof ApiError && explainRefusal(error).next !== undefined
    return isPermanent ? { is: 'refused', cause: unappliedCause(error, 'not-sent') } : unread(error)
  }
}

/** The check turns a read without an answer into a finding, so nothing else logs it. */
function noteUnanswered({ metrics, lines }: App): void {
  metrics.error('account-api')
  const fields = { code: 'account-api-error' as const, status: metrics.failing('account-api'), requestId: currentRequest() }
  lines.write({ fields, text: 'The account API answered no preflight check', about: 'preflight' })
}

function unread(error?: unknown): PreflightResult {
  const refusal = error instanceof ApiError && isKeyRefused(error) ? { refusal: refusalOf(error) } : {}
  return { is: 'unread', cause: { code: 'account-unread', ...refusal } }
}
