import { hash } from 'node:crypto'
import { isMachine, type Origin } from '../../../domain/approval/origin.ts'
import type { Requester } from '../../../domain/approval/people.ts'
import type { Change } from '../../../domain/change/change.ts'
import type { Finding } from '../../../domain/change/finding.ts'
import { projectOf } from '../../../domain/change/project-of.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../../../domain/policy/policy.ts'
import { longestReason, visibleReason } from '../../../domain/policy/reason.ts'
import type { MessageRef } from '../../../domain/request/message-ref.ts'
import { payloadHash } from '../../../domain/request/payload.ts'
import { type LinkTo, requestVersion, type SourceAlert } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import type { Wake } from '../../../redis/queues.ts'
import { Refusal } from '../../../slack/errors.ts'
import { mrkdwn } from '../../../slack/text/text.ts'
import type { Access } from '../../access/access.ts'
import { ReasonRequired } from '../../access/reason-required.ts'
import type { Catalog } from '../../catalog.ts'
import { namesOfApprovers } from '../../messages/approvers.ts'
import { peopleIn } from '../../messages/check-first/last-change.ts'
import { type SubmitOutcome, tooLongReason, tooManyUndecided } from '../../messages/forms/submitted.ts'
import type { CommonFinding } from '../../messages/refusals/causes.ts'
import { refusedCard } from '../../messages/words.ts'
import type { Deliver } from '../../outbox/deliver.ts'
import { asDraft, firstReminderAt, type NewRequest } from '../../store/new-requests.ts'
import type { Store } from '../../store/store.ts'
import { createBusyRefusal, itemNamesOf } from './busy-refusal.ts'
import type { FindUndone } from './find-undone.ts'
import { createLastChanges } from './last-changes.ts'

/** The longest preflight check, because the requester waits for it. */
const preflightMs = 8_000

export interface RequestedChange<Input, Facts> {
  change: Change<Input, Facts>
  input: Input
  origin: Origin
  /** What `access.gate` returned for the command. If absent, a form was sent, or an alert, and `submit` checks it. */
  requester?: Requester | undefined
  reason: string | undefined
  /** The id of the request that the form was opened to undo. */
  undoes?: string | undefined
  /** The message that the change is requested from. */
  fromMessage?: MessageRef | undefined
  /** The alert that requests the change. */
  alert?: SourceAlert | undefined
  /** The same for every delivery of one command or form, so that it becomes one request. */
  deliveryKey: string
}

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
  findUndone: FindUndone
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  /** Returns what a request changes, in words. */
  sentenceOf: Catalog['sentenceOf']
  /** Returns whether a card can show the whole request. */
  fitsOnCard: (request: NewRequest) => boolean
}

/**
 * Creates the function that submits a request: preflight check, rule, record, card. It throws a UserError for every refusal, and then
 * leaves no record. A card that Slack has not confirmed stays in the outbox.
 */
export function createSubmit({ signatures, store, access, deliver, wake, names, mostUndecided, fitsOnCard, ...parts }: SubmitParts) {
  const { findUndone } = parts
  const lastChangesBefore = createLastChanges({ signatures, store })
  const busyRefusal = createBusyRefusal({ store, linkTo: parts.linkTo, sentenceOf: parts.sentenceOf })

  return async function submit<Input, Facts>(submitted: RequestedChange<Input, Facts>): Promise<SubmitOutcome> {
    const { change, input, origin, fromMessage, alert, deliveryKey } = submitted
    const reason = readReason(submitted.reason)
    const requester = submitted.requester ?? (await access.gateSent(origin, change.kind))
    const preflight = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs), forRequest: true })
    const { facts } = preflight
    const asRead = preflight.input ?? input
    const resource = change.resource(asRead)
    const now = await store.now()
    const locked = lockedBesides(change, asRead, facts)
    const warnings = [...(preflight.warnings ?? []), ...(await lastChangesBefore(now, resource, locked.moreResources ?? []))]
    const draft = { input: asRead, facts }
    const { rule, unchecked } = await access.admit(origin, {
      kind: change.kind,
      project: projectOf(change, facts),
      requester,
      reason,
      draft,
    })
    // The command ended with *because*, so the person wanted to give a reason.
    if (submitted.reason === '') throw new ReasonRequired(undefined, draft)
    const undoes = await findUndone(submitted.undoes, change.kind, asRead)
    const requested = {
      id: requestIdFor(deliveryKey),
      kind: change.kind,
      input: asRead,
      facts,
      resource,
      ...locked,
      unchecked: [...preflight.unchecked, ...unchecked],
      ...(warnings.length > 0 ? { warnings } : {}),
      origin,
      ...(reason ? { reason } : {}),
      ...(undoes ? { undoes } : {}),
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
      createdAt: now,
      ...(await namesFor(rule, warnings)),
    }
    const signature = signatures.signRequest({ version: requestVersion, reason: undefined, ...underRule })
    const request: NewRequest = { ...underRule, signature }
    if (!fitsOnCard(request))
      throw new Refusal(
        mrkdwn`This request doesn't fit in one message, and approvers must see all of it. Nothing was requested. Request fewer changes at once.`,
      )
    const created = await store.create(request, isMachine(origin) ? {} : { mostUndecided })
    if (created.outcome === 'busy')
      throw await busyRefusal({ held: created.held, resource, names: itemNamesOf(change, facts), viewerId: origin.userId })
    if (created.outcome === 'too-many') throw new Refusal(tooManyUndecided(mostUndecided))

    const shown = await deliver(request.id, 'card')
    if (shown.is === 'refused') {
      await store.discard(asDraft(request), { code: 'not-posted', error: shown.error } satisfies CommonFinding)
      throw new Refusal(refusedCard(shown.error))
    }
    await wake(request, request.needsApproval ? Math.floor(request.ttlMs * firstReminderAt) : 0)
    return {
      is: shown.is === 'sent' ? 'posted' : 'card-delayed',
      requestId: request.id,
      needsApproval: request.needsApproval,
      handoverLabel: change.handover?.label,
    }
  }

  /** Names the approvers, and the people in the warnings, without a mention, if the rule mentions other people. */
  async function namesFor(
    { approve, mention: mentioned }: PolicyRule,
    warnings: Finding[],
  ): Promise<Pick<NewRequest, 'approverNames' | 'personNames'>> {
    if (!approve || !mentioned) return {}
    const { users, userGroups } = approversOf(approve)
    const people = peopleIn(warnings).filter((userId) => !isMachine({ userId }))
    const nameOf = await names([...users, ...userGroups, ...people])
    const shown = (id: string) => nameOf.get(id) ?? id
    return {
      approverNames: namesOfApprovers(approve, shown),
      ...(people.length > 0 ? { personNames: Object.fromEntries(people.map((id) => [id, shown(id)])) } : {}),
    }
  }
}
export type Submit = ReturnType<typeof createSubmit>

/** Returns the resources that a change of several locks in addition to its own. */
function lockedBesides<Input, Facts>(change: Change<Input, Facts>, input: Input, facts: Facts): Pick<NewRequest, 'moreResources'> {
  const moreResources = change.moreResources?.(input, facts)
  return moreResources ? { moreResources } : {}
}

/** Derives the id of a request from its delivery, so that repeated deliveries become one request. */
export function requestIdFor(deliveryKey: string): string {
  return hash('sha256', `request:${deliveryKey}`).slice(0, 32)
}

/** Throws a Refusal if the reason is longer than a form takes. */
function readReason(text: string | undefined): string | undefined {
  const reason = visibleReason(text)
  if (reason !== undefined && reason.length > longestReason)
    throw new Refusal(mrkdwn`${tooLongReason(reason.length)} Nothing was requested.`)
  return reason
}
