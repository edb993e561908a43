import { hash } from 'node:crypto'
import { isMachine } from '../domain/approval.ts'
import { type Change, type Finding, peopleIn, projectOf } from '../domain/change.ts'
import { approvalsNeeded, approversOf, longestReason, type PolicyRule, visibleReason } from '../domain/policy.ts'
import { type LinkTo, payloadHash, type Request, type RequestRef, requestVersion } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { withoutOwner } from '../domain/text.ts'
import {
  otherIsOpen,
  othersAreOpen,
  otherWasOpen,
  type SubmitOutcome,
  tooLongReason,
  tooManyLately,
  tooManyUndecided,
} from '../messages/forms.ts'
import type { CommonFinding } from '../messages/refusals.ts'
import { namesOfApprovers, refusedCard, whoIsAsked } from '../messages/words.ts'
import type { Deliver } from '../outbox/outbox.ts'
import type { Wake } from '../redis/queues.ts'
import { Refusal } from '../slack/errors.ts'
import { dateTime, mrkdwn, phraseWords } from '../slack/text.ts'
import { type Access, ReasonRequired } from './access.ts'
import type { Catalog } from './catalog.ts'
import { createHistory, type FindEarlier, type RequestedChange } from './history.ts'
import { asRecorded, type Created, firstReminderAt, mostLately, type NewRequest, type Store } from './store.ts'

interface BuildRequestParts {
  signatures: Pick<RequestSignatures, 'signRequest'>
  /** Returns the names of people and groups, by id. */
  names: (ids: string[]) => Promise<Map<string, string>>
}

/** What the checks of a change returned. */
export interface CheckedChange<Input, Facts> {
  input: Input
  facts: Facts
  resource: string
  /** What the change locks besides its resource. */
  moreResources: string[] | undefined
  unchecked: Finding[]
  warnings: Finding[]
  rule: PolicyRule
  reason: string | undefined
  undoes: RequestRef | undefined
  repeats: RequestRef | undefined
  /** The time of the request, in ms since 1970 by Redis' clock. */
  at: number
}

/** Creates the function that builds the record of a new request from what was requested and checked, and signs it. */
export function createBuildRequest({ signatures, names }: BuildRequestParts) {
  return async function buildRequest<Input, Facts>(
    { change, origin, fromMessage, alert, deliveryKey }: RequestedChange<Input, Facts>,
    { input, facts, resource, moreResources, unchecked, warnings, rule, reason, undoes, repeats, at }: CheckedChange<Input, Facts>,
  ): Promise<NewRequest> {
    const requested = {
      id: requestIdFor(deliveryKey),
      kind: change.kind,
      input,
      facts,
      resource,
      ...(moreResources ? { moreResources } : {}),
      unchecked,
      ...(warnings.length > 0 ? { warnings } : {}),
      origin,
      ...(reason ? { reason } : {}),
      ...(undoes ? { undoes } : {}),
      ...(repeats ? { repeats } : {}),
      ...(fromMessage ? { fromMessage } : {}),
      ...(alert ? { alert } : {}),
    }
    const underRule = {
      ...requested,
      hash: payloadHash(requested),
      rule: rule.name,
      needsApproval: rule.approve !== undefined,
      approvalsNeeded: rule.approve ? approvalsNeeded(rule.approve) : 0,
      ttlMs: rule.expiresMs,
      createdAt: at,
      ...(await namesFor(rule, warnings)),
    }
    return { ...underRule, signature: signatures.signRequest({ version: requestVersion, reason: undefined, ...underRule }) }
  }

  /** Names the people in the warnings, and the approvers if the rule mentions other people, because a mention would notify them. */
  async function namesFor(
    { approve, mention: mentioned }: PolicyRule,
    warnings: Finding[],
  ): Promise<Pick<NewRequest, 'approverNames' | 'personNames'>> {
    const isNamed = approve !== undefined && mentioned !== undefined
    const { users, userGroups } = isNamed ? approversOf(approve) : { users: [], userGroups: [] }
    const people = peopleIn(warnings).filter((userId) => !isMachine({ userId }))
    const nameOf = await names([...users, ...userGroups, ...people])
    const shown = (id: string) => nameOf.get(id) ?? id
    return {
      ...(isNamed ? { approverNames: namesOfApprovers(approve, shown) } : {}),
      ...(people.length > 0 ? { personNames: Object.fromEntries(people.map((id) => [id, shown(id)])) } : {}),
    }
  }
}

/** Derives the id of a request from its delivery, so that repeated deliveries become one request. */
export function requestIdFor(deliveryKey: string): string {
  return hash('sha256', `request:${deliveryKey}`).slice(0, 32)
}

interface BusyRefusalParts {
  store: Pick<Store, 'findMany'>
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  /** Returns what a request changes, in words. */
  titleOf: Catalog['titleOf']
}

interface Busy {
  /** The resources that other requests hold, with the requests. */
  held: Created['held']
  /** The resource that was requested. */
  resource: string
  /** What people call it. */
  subject: string
  /** What people call its items, by their resources. */
  names: Map<string, string>
  viewerId: string
}

/** Creates the refusal of a request that names the requests that hold what it needs, each with a link. */
export function createBusyRefusal({ store, linkTo, titleOf }: BusyRefusalParts) {
  return async function busyRefusal({ held, resource, subject, names, viewerId }: Busy): Promise<Refusal> {
    const heldBy = Map.groupBy(held, ({ by }) => by)
    const holders = await store.findMany([...heldBy.keys()])
    const [first] = holders
    if (!first) return new Refusal(otherWasOpen)
    const own = held.find((each) => each.resource === resource)
    const holder = holders.find(({ id }) => id === own?.by)
    if (names.size === 0 || holder) {
      const one = holder ?? first
      return new Refusal(otherIsOpen(one, { viewerId, subject, link: linkTo(one), title: titleOf(one) }))
    }
    const nameOf = (one: { resource: string }) => names.get(one.resource) ?? one.resource
    return new Refusal(
      othersAreOpen(
        holders.map((each) => ({ holder: each, link: linkTo(each), holds: (heldBy.get(each.id) ?? []).map(nameOf) })),
        viewerId,
      ),
    )
  }
}

/** Returns what people call the items of a change, by their resources. */
export function itemNamesOf<Input, Facts>({ items }: Change<Input, Facts>, facts: Facts): Map<string, string> {
  return new Map(items?.of(facts).map((item) => [items.change.resource(item.input), item.name]))
}

/** The longest preflight check, because the requester waits for it. */
const preflightMs = 8_000

interface SubmitParts {
  signatures: RequestSignatures
  store: Store
  access: Access
  deliver: Deliver
  wake: Wake
  /** Returns the names of people and groups, by id. */
  names: (ids: string[]) => Promise<Map<string, string>>
  /** How many requests that wait for an approval one person may have. */
  mostUndecided: number
  findEarlier: FindEarlier
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  /** Returns what a request changes, in words. */
  titleOf: Catalog['titleOf']
  /** Returns whether a card can show the whole request. */
  fitsOnCard: (request: NewRequest) => boolean
}

/**
 * Creates the function that submits a request: preflight check, rule, record, card. It throws a UserError for every refusal, and then
 * leaves no record. A card that Slack has not confirmed stays in the outbox.
 */
export function createSubmit({ signatures, store, access, deliver, wake, names, mostUndecided, fitsOnCard, ...parts }: SubmitParts) {
  const { findEarlier } = parts
  const buildRequest = createBuildRequest({ signatures, names })
  const historyBefore = createHistory({ signatures, store })
  const busyRefusal = createBusyRefusal({ store, linkTo: parts.linkTo, titleOf: parts.titleOf })

  async function submit<Input, Facts>(submitted: RequestedChange<Input, Facts>): Promise<SubmitOutcome> {
    const checked = await check(submitted)
    const request = await buildRequest(submitted, checked)
    if (!fitsOnCard(request))
      throw new Refusal(
        mrkdwn`This request doesn't fit in one message, and approvers must see all of it. Nothing was requested. Request fewer changes at once.`,
      )
    await record(submitted, request, checked.facts)
    const shown = await deliver(request.id, 'card')
    if (shown.is === 'refused') {
      await store.discard(asRecorded(request), { code: 'not-posted', error: shown.error } satisfies CommonFinding)
      throw new Refusal(refusedCard(shown.error))
    }
    await wake(request, request.needsApproval ? Math.floor(request.ttlMs * firstReminderAt) : 0)
    return {
      is: shown.is === 'sent' ? 'posted' : 'card-delayed',
      requestId: request.id,
      title: phraseWords(withoutOwner(parts.titleOf(request), request.origin.userId)),
      channelId: request.origin.channelId,
      asked: whoIsAskedBy(request, checked.rule),
      handoverLabel: submitted.change.handover?.label,
    }
  }

  /** Makes the preflight check, then checks the change by the rule of its project. */
  async function check<Input, Facts>(submitted: RequestedChange<Input, Facts>): Promise<CheckedChange<Input, Facts>> {
    const { change, origin } = submitted
    const reason = readReason(submitted.reason)
    const requester = submitted.requester ?? (await access.gateSent(origin, change.kind))
    const seenEarlier = await findEarlier.facts(submitted)
    const signal = AbortSignal.timeout(preflightMs)
    const preflight = await change.preflight(submitted.input, { signal, forRequest: true, earlier: seenEarlier })
    const { input = submitted.input } = preflight
    const earlier = await findEarlier.requests(submitted, { change, input, facts: preflight.facts })
    const facts = earlier.undone && change.undoing ? change.undoing(preflight.facts) : preflight.facts
    const resource = change.resource(input)
    const moreResources = change.moreResources?.(input, facts)
    const at = await store.now()
    const changed = {
      resource,
      subject: change.subject(facts),
      others: moreResources ?? [],
      names: itemNamesOf(change, facts),
      itemNames: new Map(change.items?.of(facts).map(({ id, name }) => [id, name])),
    }
    const draft = { input, facts }
    const project = projectOf(change, facts)
    const { rule, unchecked } = await access.admit(origin, { kind: change.kind, project, requester, reason, draft })
    // The command ended with *because*, so the person wanted to give a reason.
    if (submitted.reason === '') throw new ReasonRequired(undefined, draft)
    const history = await historyBefore(at, changed, earlier)
    const { undone, repeated } = earlier
    return {
      input,
      facts,
      resource,
      moreResources,
      unchecked: [...preflight.unchecked, ...unchecked],
      warnings: [...(preflight.warnings ?? []), ...history],
      rule,
      reason,
      undoes: undone && refTo(undone),
      repeats: repeated && refTo(repeated),
      at,
    }
  }

  /** Records the request. Throws a Refusal if others hold its resources, or its requester has or made too many requests. */
  async function record<Input, Facts>({ change, origin }: RequestedChange<Input, Facts>, request: NewRequest, facts: Facts): Promise<void> {
    const created = await store.create(request, isMachine(origin) ? {} : { mostUndecided })
    if (created.outcome === 'busy') {
      const names = itemNamesOf(change, facts)
      const subject = change.subject(facts)
      throw await busyRefusal({ held: created.held, resource: request.resource, subject, names, viewerId: origin.userId })
    }
    if (created.outcome === 'too-many') throw new Refusal(tooManyUndecided(mostUndecided))
    if (created.retryAt !== undefined) throw new Refusal(tooManyLately(mostLately(mostUndecided), created.retryAt))
  }

  return submit
}
export type Submit = ReturnType<typeof createSubmit>

/** Throws a Refusal if the reason is longer than a form takes. */
function readReason(text: string | undefined): string | undefined {
  const reason = visibleReason(text)
  if (reason !== undefined && reason.length > longestReason)
    throw new Refusal(mrkdwn`${tooLongReason(reason.length)} Nothing was requested.`)
  return reason
}

function whoIsAskedBy(request: NewRequest, rule: PolicyRule): SubmitOutcome['asked'] {
  const approvers = request.needsApproval ? whoIsAsked(request, rule) : undefined
  return approvers && { approvers, until: dateTime(request.createdAt + request.ttlMs) }
}

/** Returns the reference to an earlier request. Only a posted one can be undone or repeated. */
function refTo({ id, origin: { channelId }, cardTs = '' }: Request): RequestRef {
  return { id, channelId, cardTs }
}
