import type { Description } from '../../domain/change/description.ts'
import type { PolicyRule } from '../../domain/policy/policy.ts'
import type { MessageRef } from '../../domain/request/message-ref.ts'
import { canReverse, type LinkTo, type Request } from '../../domain/request/request.ts'
import type { RequestSignatures } from '../../domain/request/request-signature.ts'
import { formatDuration } from '../../domain/text/duration.ts'
import type { Answerable } from '../../slack/lists/answerable.ts'
import { profileLink } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { Catalog, Opened } from '../catalog.ts'
import { approvalCard } from '../messages/card/card.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { requestDetails } from '../messages/card/details.ts'
import { warningWords } from '../messages/check-first/warnings.ts'
import { itemViews } from '../messages/items/item-view.ts'
import { explain, explainAll, whyWords } from '../messages/refusals/causes.ts'
import { unverifiedDescription, unverifiedDone, withoutContent } from '../messages/refusals/unverified.ts'
import type { ReportView } from '../messages/reports/report-view.ts'
import { report } from '../messages/reports/reports.ts'
import { asDirect, asRepeat } from '../messages/reports/resent.ts'
import type { ReportName } from '../steps/step.ts'

/** Renders the messages of the outbox. */
export interface Renderer {
  /** False if another version of Lockkeeper wrote the request, and this version cannot show all of it. */
  canRender(request: Request): boolean
  card(request: Request): Message
  /**
   * Undefined if the report no longer applies, for example that a change is late after it ended. `names`: of the people whom it shows
   * without a mention, by their ids.
   */
  report(request: Request, name: ReportName, names?: ReadonlyMap<string, string>): Answerable | undefined
  /** Adds that the message may be a repeat. */
  asRepeat(message: Answerable): Answerable
  /** Adds that the report goes to the requester directly, because its channel does not take it. `error`: Slack's code. */
  asDirect(message: Answerable, request: Request, error: string): Answerable
}

interface RendererParts {
  catalog: Catalog
  /** Returns the current rule of the policy for a request, if any. */
  ruleOf: (request: Request) => PolicyRule | undefined
  environment: string | undefined
  /** Returns the address of a message. */
  addressOf: (message: MessageRef) => string | undefined
  /** Returns the address of a person's profile. */
  profileOf: (userId: string) => string | undefined
  moveTimeoutMs: number
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  verifyRecord: RequestSignatures['verifyRecord']
  /** Receives a record that no longer matches what was requested. */
  onChanged: (request: Request) => void
  now?: () => number
}

/** Creates the renderer of cards and reports, for every kind of change. */
export function createRenderer({
  catalog,
  ruleOf,
  environment,
  addressOf,
  profileOf,
  moveTimeoutMs,
  linkTo,
  verifyRecord,
  onChanged,
  now = Date.now,
}: RendererParts): Renderer & { view(request: Request): CardView; details(request: Request): Message } {
  /** Whether the content of the record may be shown. */
  function isVerified(request: Request): boolean {
    const verdict = verifyRecord(request)
    if (verdict !== 'genuine' && verdict !== 'unknown-key') onChanged(request)
    return verdict === 'genuine'
  }

  /** Gathers the content of a card. */
  function view(request: Request): CardView {
    if (!isVerified(request)) return unverifiedView(request)
    const opened = catalog.openIfFit(request)
    const change = opened?.change ?? catalog.changeIfKnown(request.kind)
    return {
      request,
      isKnown: opened !== undefined,
      description: opened ? opened.change.describe(opened.facts) : otherVersionDescription(request, catalog),
      items: opened ? itemViews(request, opened, catalog) : [],
      unchecked: request.unchecked.map((finding) => whyWords(explain(change, finding))),
      ...warningWords(request, change, catalog.titleOf, profileOf),
      subject: opened?.change.subject(opened.facts),
      ending: explainAll(change, request.causes),
      handoverLabel: change?.handover?.label,
      handoverWarning: change?.handover?.warning,
      reverseLabel: opened && reverseLabelOf(request, opened),
      undoes: request.undoes && { id: request.undoes.id, link: linkTo({ origin: request.undoes, ...request.undoes }) },
      rule: ruleOf(request),
      environment,
      fromMessage: sourceOf(request),
    }
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

  function reportView(request: Request): Omit<ReportView, 'lateAfter' | 'now' | 'showActor'> {
    if (!isVerified(request)) return { ...unverifiedView(request), done: unverifiedDone, remark: undefined, handover: undefined }
    const opened = catalog.open(request)
    const { change, latest } = opened
    return {
      request,
      items: itemViews(request, opened, catalog),
      description: change.describe(latest),
      ending: explainAll(change, request.causes),
      done: change.doneSentence(latest),
      remark: change.remark?.(latest),
      handover: change.handover,
      reverseLabel: reverseLabelOf(request, opened),
      rule: ruleOf(request),
    }
  }

  /** Links a message only from its own channel, because a link would reveal a private channel to others. */
  function sourceOf({ fromMessage, origin }: Request): string | undefined {
    return fromMessage?.channelId === origin.channelId ? addressOf(fromMessage) : undefined
  }

  return {
    view,
    canRender: (request) => catalog.openIfFit(request) !== undefined || verifyRecord(request) !== 'genuine',
    card: (request) => approvalCard(view(request)),
    details: (request) => requestDetails(view(request)),
    report: (request, name, names = new Map()) => {
      const showActor: ReportView['showActor'] = (userId, words = names.get(userId)) => profileLink(userId, profileOf(userId), words)
      return report({ ...reportView(request), lateAfter: formatDuration(moveTimeoutMs), now: now(), showActor }, name)
    },
    asRepeat,
    asDirect,
  }
}

/** Returns the label of the button that undoes a change. Undefined if nothing of it can be undone. */
function reverseLabelOf(request: Request, { change, input, latest }: Opened): string | undefined {
  return canReverse(request) ? change.reverse?.(input, latest)?.label : undefined
}

/** Describes a request that another version of Lockkeeper wrote, as far as this version can. */
function otherVersionDescription(request: Request, catalog: Catalog): Description {
  return { title: catalog.titleOf(request), sentence: catalog.sentenceOf(request), facts: [], ids: [], underway: 'in progress' }
}
