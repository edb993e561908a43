import { type Description, withoutRequester } from '../domain/change.ts'
import { sendingMs } from '../domain/lane.ts'
import type { PolicyRule } from '../domain/policy.ts'
import { canReverse, type LinkTo, type MessageRef, type Request, type RequestRef } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { formatDuration, withoutOwner } from '../domain/text.ts'
import { type ItemView, itemViews } from '../messages/items.ts'
import { explain, explainAll, unverifiedDescription, unverifiedDone, whyWords, withoutContent } from '../messages/refusals.ts'
import { asDirect, asRepeat, type ReportView, report } from '../messages/reports.ts'
import { approvalCard, type CardView, requestDetails } from '../messages/request-message.ts'
import { warningWords } from '../messages/warnings.ts'
import type { LinkedRequest } from '../messages/words.ts'
import type { Catalog, Opened } from '../requests/catalog.ts'
import type { ReportName } from '../requests/steps.ts'
import type { Answerable } from '../slack/interactions.ts'
import { profileLink } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

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

interface RendererParts extends ViewsParts {
  moveTimeoutMs: number
  now?: () => number
}

/** Creates the renderer of cards and reports, for every kind of change. */
export function createRenderer({
  moveTimeoutMs,
  now = Date.now,
  ...parts
}: RendererParts): Renderer & { view(request: Request): CardView; details(request: Request): Message } {
  const { catalog, profileOf, verifyRecord } = parts
  const { cardView, reportView } = createRequestViews(parts)

  return {
    view: cardView,
    canRender: (request) => catalog.openIfFit(request) !== undefined || verifyRecord(request) !== 'genuine',
    card: (request) => approvalCard(cardView(request)),
    details: (request) => requestDetails(cardView(request)),
    report: (request, name, names = new Map()) => {
      const showActor: ReportView['showActor'] = (userId, words = names.get(userId)) => profileLink(userId, profileOf(userId), words)
      return report({ ...reportView(request), lateAfter: formatDuration(moveTimeoutMs), now: now(), showActor }, name)
    },
    asRepeat,
    asDirect,
  }
}
