import { isMachine } from '../../../domain/approval/origin.ts'
import { projectOf } from '../../../domain/change/project-of.ts'
import type { PolicyRule } from '../../../domain/policy/policy.ts'
import { longestReason, visibleReason } from '../../../domain/policy/reason.ts'
import type { LinkTo, Request, RequestRef } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { withoutOwner } from '../../../domain/text/phrase.ts'
import type { Wake } from '../../../redis/queues.ts'
import { Refusal } from '../../../slack/errors.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { dateTime, mrkdwn } from '../../../slack/text/text.ts'
import type { Access } from '../../access/access.ts'
import { ReasonRequired } from '../../access/reason-required.ts'
import type { Catalog } from '../../catalog.ts'
import { whoIsAsked } from '../../messages/approvers.ts'
import { type SubmitOutcome, tooLongReason, tooManyLately, tooManyUndecided } from '../../messages/forms/submitted.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import { refusedCard } from '../../messages/words.ts'
import type { Deliver } from '../../outbox/deliver.ts'
import { asRecorded, firstReminderAt, mostLately, type NewRequest } from '../../store/new-requests.ts'
import type { Store } from '../../store/store.ts'
import { type CheckedChange, createBuildRequest } from './build-request.ts'
import { createBusyRefusal, itemNamesOf } from './busy-refusal.ts'
import type { FindEarlier } from './find-earlier.ts'
import { createHistory } from './history.ts'
import type { RequestedChange } from './requested-change.ts'

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
