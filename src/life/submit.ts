import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { alertsRequester, isMachine, machineNameOf, type Origin } from '../domain/approval.ts'
import { type Change, peopleIn, projectOf } from '../domain/change.ts'
import { CheckFailed, StoreUnavailableError } from '../domain/errors.ts'
import {
  approvalsNeeded,
  endsProblem,
  escalationOf,
  firstApproversOf,
  longestReason,
  type PolicyRule,
  visibleReason,
} from '../domain/policy.ts'
import { isOpen, payloadHash, type Request, refTo, requestVersion } from '../domain/request.ts'
import type { RequestedChange } from '../domain/requested-change.ts'
import { withoutOwner } from '../domain/text.ts'
import { readStart } from '../domain/times.ts'
import { cardButtons } from '../messages/button-ids.ts'
import { cardActions, fitsOnCard } from '../messages/request-message.ts'
import { namesOfApprovers, refusedCard } from '../messages/request-words.ts'
import {
  lockedByUnreadable,
  othersAreOpen,
  type SubmitOutcome,
  startExamples,
  startProblem,
  tooLongReason,
  tooManyLately,
  tooManyUndecided,
} from '../messages/submit-words.ts'
import { type CommonFinding, findingWords } from '../messages/why-not.ts'
import type { Delivered } from '../outbox/once.ts'
import { deliver } from '../outbox/outbox.ts'
import { holdAhead, viewOf } from '../outbox/render.ts'
import { alertReminderAfter, asRecorded, type Created, firstReminderAt, mostLately, type NewRequest } from '../record/store.ts'
import { admit, gate, ReasonRequired } from '../rights/authorize.ts'
import { judge } from '../rights/judge.ts'
import { notRequested, Refusal } from '../slack/errors.ts'
import { code, type Mrkdwn, mrkdwn, ownWords, phraseWords } from '../slack/text.ts'
import { alertsAbout, findEarlier, followAlerts, historyBefore } from './history.ts'

/** The longest preflight check, because the requester waits for it. */
const preflightMs = 8_000

/** Throws a UserError for every refusal, and then leaves no record. A card that Slack has not confirmed stays in the outbox. */
export async function submit(app: App, requested: RequestedChange): Promise<SubmitOutcome> {
  const { request, facts, rule } = await check(app, requested)
  // Its message says what would hold it.
  await app.freezes.read()
  if (!fitsOnCard(viewOf(app, asRecorded(request))))
    throw new Refusal(
      'does-not-fit',
      mrkdwn`Not requested: it doesn't fit in one message, and approvers must see all of it. Request fewer changes at once.`,
    )
  const dueInMs = firstDueMs(request, rule)
  const isNew = await record(app, requested, request, facts, dueInMs)
  // An alert that began or ended meanwhile has not found it.
  await followAlerts(app, asRecorded(request)).catch(app.errors.of('people'))
  const shown = await deliver(app, request.id, 'card').catch((error: unknown): Delivered => {
    if (!(error instanceof StoreUnavailableError)) throw error
    // The request is recorded, and its message may be posted. The outbox finds out when Redis is back.
    app.errors.of('people')(error)
    return { is: 'later' }
  })
  if (shown.is === 'refused') {
    const cause = { code: 'not-posted', error: shown.error } satisfies CommonFinding
    // Another process may have posted it since.
    const outcome = await app.store.discard(asRecorded(request), cause)
    if (outcome !== 'kept') throw new Refusal('not-posted', refusedCard(shown.error))
  }
  await app.queues.wake(request, dueInMs)
  return {
    is: shown.is === 'sent' ? 'posted' : 'card-delayed',
    requestId: request.id,
    isNew,
    title: phraseWords(withoutOwner(app.catalog.titleOf(request), request.origin.userId)),
    channelId: request.origin.channelId,
  }
}

/** When approvers are first reminded, or others are called. Without an approval, at once. */
function firstDueMs({ ttlMs, alert }: NewRequest, { approve }: PolicyRule): number {
  const reminderMs = alert ? alertReminderAfter(ttlMs) : Math.floor(ttlMs * firstReminderAt)
  return approve ? Math.min(reminderMs, escalationOf(approve)?.afterMs ?? ttlMs) : 0
}

async function check(app: App, requested: RequestedChange): Promise<{ request: NewRequest; facts: unknown; rule: PolicyRule }> {
  const { change, origin, fromMessage, alert, link, isQuiet, deliveryKey } = requested
  const { kind } = change
  const reason = visibleReason(requested.reason)
  if (reason !== undefined && reason.length > longestReason)
    throw new Refusal('reason-too-long', ownWords(notRequested(tooLongReason(reason.length).text)))
  const start = requested.start === undefined ? undefined : await startOf(app, requested, requested.start)
  const requester = requested.requester ?? (await gate(app, origin, kind, 'sent'))
  const signal = AbortSignal.timeout(preflightMs)
  const preflight = await change.preflight(requested.input, { signal, forRequest: true })
  const { input = requested.input } = preflight
  const earlier = await findEarlier(app, requested, { change, input, facts: preflight.facts })
  const facts = earlier.undone && change.undoing ? change.undoing(preflight.facts) : preflight.facts
  const resource = change.resource(input)
  const moreResources = change.moreResources?.(input, facts)
  const at = await app.store.now()
  const draft = { input, facts }
  const {
    rule,
    unchecked,
    warnings: ofApprovers,
  } = await admit(app, origin, {
    kind,
    project: projectOf(change, facts),
    requester,
    reason,
    draft,
    mayLackApprovers: requested.mayLackApprovers,
  })
  requireEnd(change, rule, draft, at)
  // The command ended with *because*, so the person wanted to give a reason.
  if (requested.reason === '') throw new ReasonRequired(undefined, draft)
  const changed = { change, input, facts, resource, subject: change.subject(facts), names: itemNamesOf(change, facts) }
  const id = requestIdFor(deliveryKey)
  const warnings = [
    ...(await alertsAbout(app, change.target?.(facts))),
    ...(preflight.warnings ?? []),
    ...(await historyBefore(app, changed, earlier)),
    ...ofApprovers,
  ]
  const payload = {
    id,
    kind,
    input,
    facts,
    resource,
    moreResources,
    unchecked: [...preflight.unchecked, ...unchecked],
    warnings: warnings.length > 0 ? warnings : undefined,
    origin,
    reason,
    start,
    undoes: earlier.undone && refTo(earlier.undone),
    repeats: earlier.repeated && refTo(earlier.repeated),
    fromMessage,
    alert,
    link,
    isQuiet: isQuiet ? (true as const) : undefined,
  }
  return { request: await underRule(app, payload, rule, at), facts, rule }
}

/** Throws a CheckFailed if the rule does not allow when the key ends. */
function requireEnd(change: Change, rule: PolicyRule, { input, facts }: { input: unknown; facts: unknown }, requestedAt: number): void {
  const end = change.endOf?.(input, facts)
  const code = end && endsProblem(rule, end, requestedAt)
  if (!code) return
  const finding = { code, rule: rule.name, longestMs: rule.ends?.longestMs }
  throw new CheckFailed(finding, findingWords(change, finding))
}

/** The text of a start that cannot be taken. Nothing is recorded. */
export class StartRefused extends Refusal {
  override name = 'StartRefused'
  /** With examples, where no field of a form has them. */
  readonly whole: Mrkdwn

  constructor(words: Mrkdwn, examples?: Mrkdwn) {
    super('start-not-possible', words)
    this.whole = examples ? mrkdwn`${words} ${examples}` : words
  }
}

/** Returns when a request starts, in ms since 1970. Throws a StartRefused, which says the day, the time and the zone that it found. */
export async function startOf(
  app: App,
  { change, origin }: { change: Pick<Change, 'handover' | 'takesNoStart'>; origin: Origin },
  typed: string,
): Promise<number> {
  const { handover, takesNoStart } = change
  if (handover || takesNoStart) {
    const when = handover ? mrkdwn`when you press *${handover.label}*, once it's approved` : "right after it's approved"
    const ends = handover?.takesEnd ? mrkdwn` An end is written as ${code('for 30d')} or ${code('until 2026-12-24')}.` : ''
    throw new StartRefused(mrkdwn`This can't start at a set time: it happens ${when}. Leave the time out.${ends}`)
  }
  const zone = isMachine(origin) ? 'UTC' : await app.directory.zone(origin.userId)
  const read = readStart(typed, { now: await app.store.now(), zone })
  if ('problem' in read)
    throw new StartRefused(startProblem(typed, read.problem, zone), read.problem.code === 'unreadable' ? startExamples : undefined)
  return read.at
}

type Payload = Parameters<typeof payloadHash>[0] & Pick<NewRequest, 'moreResources' | 'isQuiet'>

/** What is late already, such as the extension of a key that a worker has not ended yet, can be approved for so long. */
const leastMs = 60_000

/** Adds what the rule says to what was requested and checked, and signs it. `at`: the time of the request, by Redis' clock. */
async function underRule(app: App, payload: Payload, rule: PolicyRule, at: number): Promise<NewRequest> {
  const tooLateAt = app.catalog.changeIfKnown(payload.kind)?.tooLateAt?.(payload.facts) ?? Number.POSITIVE_INFINITY
  const request = {
    ...payload,
    hash: payloadHash(payload),
    rule: rule.name,
    needsApproval: rule.approve !== undefined,
    approvalsNeeded: rule.approve ? approvalsNeeded(rule.approve) : 0,
    otherRules: rule.with,
    // Nobody can approve what has not started in time.
    ttlMs: payload.start === undefined ? Math.min(rule.expiresMs, Math.max(tooLateAt - at, leastMs)) : payload.start - at,
    createdAt: at,
    ...(await namesFor(app, rule, payload)),
  }
  return { ...request, signature: app.signatures.signRequest({ version: requestVersion, ...request }) }
}

/** Derives the id of a request from its delivery, so that repeated deliveries become one request. */
export function requestIdFor(deliveryKey: string): string {
  return hash('sha256', `request:${deliveryKey}`).slice(0, 32)
}

/** Names the people in the warnings, and the approvers if the rule mentions other people or nobody is called, because a mention would notify them. */
async function namesFor({ directory }: App, { approve, mention: mentioned }: PolicyRule, { warnings = [], isQuiet }: Payload) {
  const approvers = approve && (mentioned || isQuiet) ? approve : undefined
  const { users, userGroups } = approvers ? firstApproversOf(approvers) : { users: [], userGroups: [] }
  const people = peopleIn(warnings).filter((userId) => !isMachine({ userId }))
  const nameOf = await directory.names([...users, ...userGroups, ...people])
  const shown = (id: string) => nameOf.get(id) ?? id
  return {
    approverNames: approvers && namesOfApprovers(approvers, shown),
    personNames: people.length > 0 ? Object.fromEntries(people.map((id) => [id, shown(id)])) : undefined,
  }
}

/** Machines of the policy. Alerts have no limit, because many servers may fail at once. */
const mostUndecidedOfMachine = 10

const maybeRecorded =
  "Lockkeeper's database (Redis) isn't responding. Your request may be recorded: look in the channel before you try again."

/** Records the request. Returns false if a repeated delivery has done so. Throws a Refusal if others lock its resources, or its requester has or made too many requests. */
async function record(
  app: App,
  { change, origin, whileExists }: RequestedChange,
  request: NewRequest,
  facts: unknown,
  dueInMs: number,
): Promise<boolean> {
  const mostUndecided = machineNameOf(origin) === undefined ? app.config.openRequestsPerPerson : mostUndecidedOfMachine
  const isLimited = origin.userId !== alertsRequester
  const options = { dueInMs, whileExists, ...(isLimited && { mostUndecided }) }
  const created = await app.store.create(request, options).catch((error: unknown) => {
    const isUnknown = error instanceof StoreUnavailableError && error.code === undefined
    throw isUnknown ? new StoreUnavailableError(error.message, undefined, maybeRecorded) : error
  })
  if (created.outcome === 'gone') throw new Refusal('not-needed', mrkdwn`Not requested: what led to it has ended.`)
  if (created.outcome === 'busy')
    throw await busyRefusal(app, request, { locked: created.locked, subject: change.subject(facts), names: itemNamesOf(change, facts) })
  if (created.outcome === 'too-many') throw new Refusal('too-many', tooManyUndecided(mostUndecided))
  const { retryAt } = created
  if (retryAt !== undefined) throw new Refusal('too-many', tooManyLately(mostLately(mostUndecided), retryAt), { retryAt })
  return created.outcome === 'created'
}

/** Names the requests that lock what a new one needs, each with a link. `names`: what people call its items, by their resources. */
async function busyRefusal(
  app: App,
  { resource, origin }: NewRequest,
  { locked, subject, names }: { locked: Created['locked']; subject: string; names: Map<string, string> },
): Promise<Refusal> {
  const { linkTo } = app.slack.identity
  const lockedBy = Map.groupBy(locked, ({ by }) => by)
  const holding = await app.store.findMany([...lockedBy.keys()])
  // A child has no message. It locks an address after the tracking of its evacuation was stopped.
  const parents = await app.store.findMany(holding.flatMap(({ parent }) => parent?.id ?? []))
  const holders = holding.map((each) => ({ ...(parents.find(({ id }) => id === each.parent?.id) ?? each), id: each.id }))
  const [first] = holders
  if (!first) return new Refusal('locked', lockedByUnreadable(locked[0]?.by ?? ''))
  const ofWhole = locked.find((each) => each.resource === resource)
  const holder = holders.find(({ id }) => id === ofWhole?.by) ?? (names.size === 0 ? first : undefined)
  const nameOf = (one: { resource: string }) => names.get(one.resource) ?? one.resource
  const others = (holder ? [holder] : holders).map((each) => ({
    holder: each,
    waits: holdAhead(app, each),
    freeAt: isOpen(each.state) ? undefined : freeAtOf(app, holding, each.id),
    link: linkTo(each),
    title: app.catalog.titleOf(each),
    holds: holder ? [subject] : (lockedBy.get(each.id) ?? []).map(nameOf),
  }))
  const isOfSome = holder === undefined && new Set(locked.map((each) => each.resource)).size < names.size
  const rulings = await Promise.all(others.map(({ holder: request }) => judge(app, origin, { to: 'decide', request })))
  const mayDecide = rulings.every(({ allowed }) => allowed)
  const [only] = others.length === 1 ? others : []
  const isOwn = only?.holder.origin.userId === origin.userId
  const ends = isOwn ? cardButtons.withdraw : mayDecide ? cardButtons.reject : undefined
  // A child has no message, so it has no button either.
  const pressed = ends && holding.find(({ id, parent }) => id === only?.holder.id && !parent)
  const buttons = pressed && cardActions(viewOf(app, pressed)).filter((each) => each.action_id === ends)
  return new Refusal('locked', othersAreOpen(others, origin.userId, { canLeaveOut: isOfSome, mayDecide }), { isOfSome, buttons })
}

/** When the write that got no answer can no longer take effect, of what is no longer tracked. */
function freeAtOf({ timings }: App, holding: Request[], id: string): number | undefined {
  const child = holding.find((each) => each.id === id)
  // Later, the account still does not show what became of it.
  return child?.sentAt === undefined ? undefined : Math.max(child.sentAt + timings.unsettledMs, Date.now() + 60_000)
}

/** What people call the items of a change, by their resources. */
function itemNamesOf({ items }: Change, facts: unknown): Map<string, string> {
  return new Map(items?.of(facts).map((item) => [items.change.resource(item.input), item.name]))
}
