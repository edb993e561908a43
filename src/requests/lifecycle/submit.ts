import { hash } from 'node:crypto'
import type { Change } from '../../domain/change.ts'
import type { Origin } from '../../domain/origin.ts'
import { payloadHash } from '../../domain/payload.ts'
import type { Requester } from '../../domain/people.ts'
import { approvalsNeeded, approversOf, type PolicyRule } from '../../domain/policy.ts'
import { projectOf } from '../../domain/project-of.ts'
import { requestVersion } from '../../domain/request.ts'
import type { RequestSignatures } from '../../domain/request-signature.ts'
import type { Wake } from '../../redis/queues.ts'
import { Refusal } from '../../slack/errors.ts'
import { mention, mrkdwn } from '../../slack/text/text.ts'
import type { Access } from '../access/access.ts'
import { namesOfApprovers } from '../messages/approvers.ts'
import type { CommonFinding } from '../messages/causes.ts'
import { type SubmitOutcome, tooManyUndecided } from '../messages/submitted.ts'
import { refusedCard, stateWords } from '../messages/words.ts'
import type { Deliver } from '../outbox/deliver.ts'
import { firstReminderAt, type NewRequest } from '../store/new-requests.ts'
import type { Store } from '../store/store.ts'

/** The longest preflight check, because the requester waits for it. */
const preflightMs = 8_000

export interface RequestedChange<Input, Facts> {
  change: Change<Input, Facts>
  input: Input
  origin: Origin
  /** What `access.gate` returned for the command. If absent, `submit` calls it. */
  requester?: Requester | undefined
  reason: string | undefined
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
  /** Returns whether a card can show the whole request. */
  fitsOnCard: (request: NewRequest) => boolean
}

/**
 * Creates the function that submits a request: preflight check, rule, record, card. It throws a UserError for every refusal, and then
 * leaves no record. A card that Slack has not confirmed stays in the outbox.
 */
export function createSubmit({ signatures, store, access, deliver, wake, names, mostUndecided, fitsOnCard }: SubmitParts) {
  return async function submit<Input, Facts>(submitted: RequestedChange<Input, Facts>): Promise<SubmitOutcome> {
    const { change, input, origin, reason, deliveryKey } = submitted
    const requester = submitted.requester ?? (await access.gate(origin, change.kind))
    const preflight = await change.preflight(input, { signal: AbortSignal.timeout(preflightMs), forRequest: true })
    const { facts, warnings = [] } = preflight
    const asRead = preflight.input ?? input
    const { rule, unchecked } = await access.admit(origin, { kind: change.kind, project: projectOf(change, facts), requester })
    const requested = {
      id: requestIdFor(deliveryKey),
      kind: change.kind,
      input: asRead,
      facts,
      resource: change.resource(asRead),
      unchecked: [...preflight.unchecked, ...unchecked],
      ...(warnings.length > 0 ? { warnings } : {}),
      origin,
      ...(reason ? { reason } : {}),
    }
    const underRule = {
      ...requested,
      hash: payloadHash(requested),
      rule: rule.name,
      needsApproval: rule.approve !== undefined,
      approvalsNeeded: rule.approve ? approvalsNeeded(rule.approve) : 0,
      ttlMs: rule.expiresMs,
      createdAt: await store.now(),
    }
    const signature = signatures.signRequest({ version: requestVersion, reason: undefined, ...underRule })
    const request: NewRequest = { ...underRule, signature, ...(await namesFor(rule)) }
    if (!fitsOnCard(request))
      throw new Refusal(mrkdwn`This is more than a card can show, and nothing is approved that is not shown. Ask for less at once.`)
    const created = await store.create(request, { mostUndecided })
    if (created.outcome === 'busy') throw await busyRefusal(created.held[0]?.by ?? created.id)
    if (created.outcome === 'too-many') throw new Refusal(tooManyUndecided(mostUndecided))

    const shown = await deliver(request.id, 'card')
    if (shown.is === 'refused') {
      await store.discard(request, { code: 'not-posted', error: shown.error } satisfies CommonFinding)
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

  /** Names the approvers without a mention, if the rule mentions other people. */
  async function namesFor({ approve, mention: mentioned }: PolicyRule): Promise<{ approverNames?: string }> {
    if (!approve || !mentioned) return {}
    const { users, userGroups } = approversOf(approve)
    const nameOf = await names([...users, ...userGroups])
    return { approverNames: namesOfApprovers(approve, (id) => nameOf.get(id) ?? id) }
  }

  async function busyRefusal(id: string): Promise<Refusal> {
    const holder = await store.find(id)
    if (!holder) return new Refusal(mrkdwn`Another request for this was open just now. Ask again.`)
    const what = mrkdwn`${mention(holder.origin.userId)} has an open request for this already (${stateWords(holder)}) in <#${holder.origin.channelId}>.`
    return new Refusal(mrkdwn`${what} One change of a thing at a time: let that one end, or have it withdrawn or rejected, then ask again.`)
  }
}
export type Submit = ReturnType<typeof createSubmit>

/** Derives the id of a request from its delivery, so that repeated deliveries become one request. */
export function requestIdFor(deliveryKey: string): string {
  return hash('sha256', `request:${deliveryKey}`).slice(0, 32)
}
