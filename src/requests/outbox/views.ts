import { sendingMs } from '../../domain/account/lane.ts'
import { type Description, withoutRequester } from '../../domain/change/description.ts'
import type { PolicyRule } from '../../domain/policy/policy.ts'
import type { MessageRef } from '../../domain/request/message-ref.ts'
import { canReverse, type LinkTo, type Request, type RequestRef } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import { withoutOwner } from '../../domain/text/phrase.ts'
import type { Catalog, Opened } from '../catalog.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { type ItemView, itemViews } from '../messages/items/item-view.ts'
import { explain, explainAll, whyWords } from '../messages/refusals/causes.ts'
import { unverifiedDescription, unverifiedDone, withoutContent } from '../messages/refusals/unverified.ts'
import type { LinkedRequest } from '../messages/related.ts'
import type { ReportView } from '../messages/reports/report-view.ts'
import { warningWords } from '../messages/warnings/warnings.ts'

export interface ViewsParts {
  catalog: Catalog
  /** Returns the current rule of the policy for a request, if any. */
  ruleOf: (request: Request) => PolicyRule | undefined
  environment: string | undefined
  /** What the account allows. */
  writesPerMinute: number
  /** Returns the address of a message. */
  addressOf: (message: MessageRef) => string | undefined
  /** Returns the address of a person's profile. */
  profileOf: (userId: string) => string | undefined
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  verifyRecord: RequestSignatures['verifyRecord']
  /** Receives a record that no longer matches what was requested. */
  onChanged: (request: Request) => void
}

/** What a report shows, except what only its rendering knows. */
type GatheredReport = Omit<ReportView, 'lateAfter' | 'now' | 'showActor'>

/** Creates the functions that gather what cards and reports show of a request. They show nothing of a record that cannot be verified. */
export function createRequestViews(parts: ViewsParts) {
  const { catalog, ruleOf, environment, writesPerMinute, addressOf, profileOf, linkTo, verifyRecord, onChanged } = parts

  /** Whether the content of the record may be shown. */
  function isVerified(request: Request): boolean {
    const verdict = verifyRecord(request)
    if (verdict !== 'genuine' && verdict !== 'unknown-key') onChanged(request)
    return verdict === 'genuine'
  }

  /** Gathers the content of a card. */
  function cardView(request: Request): CardView {
    if (!isVerified(request)) return unverifiedView(request)
    const opened = catalog.openIfFit(request)
    const change = opened?.change ?? catalog.changeIfKnown(request.kind)
    const items = opened ? itemViews(request, opened, catalog) : []
    return {
      request,
      isKnown: opened !== undefined,
      description: withoutRequester(
        opened ? opened.change.describe(opened.facts) : otherVersionDescription(request, catalog),
        request.origin.userId,
      ),
      items,
      sendingMs: sendingTime(request, items),
      leaves: opened?.change.leaves?.(opened.facts),
      unchecked: request.unchecked.map((finding) => whyWords(explain(change, finding))),
      ...warningWords(request, change, catalog.titleOf, { profileOf }),
      subject: opened?.change.subject(opened.facts),
      ending: explainAll(change, request.causes),
      handoverLabel: change?.handover?.label,
      handoverWarning: change?.handover?.warning,
      reverseLabel: opened && reverseLabelOf(request, opened),
      undoes: linked(request.undoes),
      repeats: linked(request.repeats),
      rule: ruleOf(request),
      environment,
      fromMessage: sourceOf(request),
    }
  }

  /** How long it takes until all writes of a bundle are sent, or those that are left: these wait for the next minute. */
  function sendingTime(request: Request, items: ItemView[]): number {
    const whole = sendingMs(items.length, writesPerMinute)
    const left = items.filter(({ state }) => state === 'waiting').length
    if (request.items === undefined || whole === 0) return whole
    return left === 0 ? 0 : sendingMs(left, writesPerMinute) + 60_000
  }

  /** Gathers the reduced content of a card whose record cannot be verified. It has no buttons. */
  function unverifiedView(request: Request): CardView {
    return {
      request: withoutContent(request),
      isKnown: false,
      description: unverifiedDescription(request),
      items: [],
      unchecked: [],
      checks: [],
      notes: [],
      ending: explainAll(undefined, request.causes),
      handoverLabel: undefined,
      reverseLabel: undefined,
      undoes: undefined,
      rule: undefined,
      environment,
    }
  }

  /** Gathers the content of a report. */
  function reportView(request: Request): GatheredReport {
    if (!isVerified(request)) return { ...unverifiedView(request), done: unverifiedDone, remark: undefined, handover: undefined }
    const opened = catalog.open(request)
    const { change, facts, latest } = opened
    return {
      request,
      items: itemViews(request, opened, catalog),
      leaves: change.leaves?.(latest),
      description: withoutRequester(change.describe(facts), request.origin.userId),
      ending: explainAll(change, request.causes),
      done: withoutOwner(change.doneSentence(latest), request.origin.userId),
      remark: change.remark?.(latest),
      handover: change.handover,
      reverseLabel: reverseLabelOf(request, opened),
      rule: ruleOf(request),
    }
  }

  function linked(ref: RequestRef | undefined): LinkedRequest | undefined {
    return ref && { ...ref, link: linkTo({ origin: ref, cardTs: ref.cardTs }) }
  }

  /** Links a message only from its own channel, because a link would reveal a private channel to others. */
  function sourceOf({ fromMessage, origin }: Request): string | undefined {
    return fromMessage?.channelId === origin.channelId ? addressOf(fromMessage) : undefined
  }

  return { cardView, reportView }
}

/** Returns the label of the button that undoes a change. Undefined if nothing of it can be undone. */
function reverseLabelOf(request: Request, { change, input, latest }: Opened): string | undefined {
  return canReverse(request) ? change.reverse?.(input, latest)?.label : undefined
}

/** Describes a request that another version of Lockkeeper wrote, as far as this version can. */
function otherVersionDescription(request: Request, catalog: Catalog): Description {
  return { title: catalog.titleOf(request), facts: [], ids: [], underway: 'in progress' }
}
