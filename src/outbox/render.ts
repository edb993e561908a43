import type { App } from '../app.ts'
import { type Change, type Description, withoutRequester } from '../domain/change.ts'
import { sendingMs } from '../domain/lane.ts'
import type { PolicyRule } from '../domain/policy.ts'
import { canReverse, type Request, type RequestRef } from '../domain/request.ts'
import { formatDuration, withoutOwner } from '../domain/text.ts'
import { type ItemView, itemViews } from '../messages/items.ts'
import { explain, explainAll, unverifiedDescription, unverifiedDone, whyWords, withoutContent } from '../messages/refusals.ts'
import { type ReportView, report } from '../messages/reports.ts'
import { approvalCard, type CardView, requestDetails } from '../messages/request-message.ts'
import { type WarningWords, warningWords } from '../messages/warnings.ts'
import type { LinkedRequest } from '../messages/words.ts'
import type { Opened } from '../requests/catalog.ts'
import type { ReportName } from '../requests/steps.ts'
import type { Answerable } from '../slack/interactions.ts'
import { profileLink } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { onDistrusted } from './operators.ts'

/** False if another version of Lockkeeper wrote the request, and this version cannot show all of it. */
export function canRender({ catalog, signatures }: App, request: Request): boolean {
  return catalog.openIfFit(request) !== undefined || signatures.verifyRecord(request) !== 'genuine'
}

export function renderCard(app: App, request: Request): Message {
  return approvalCard(viewOf(app, request))
}

export function renderDetails(app: App, request: Request): Message {
  return requestDetails(viewOf(app, request))
}

export function viewOf(app: App, request: Request): CardView {
  return isVerified(app, request) ? cardView(request, gather(app, request)) : unverifiedView(request, app.config.environment)
}

/**
 * Undefined if the report no longer applies, for example that a change is late after it ended. `names`: of the people whom it shows without a
 * mention, by their ids.
 */
export function renderReport(app: App, request: Request, name: ReportName, names: ReadonlyMap<string, string>): Answerable | undefined {
  const { profileOf } = app.slack.identity
  const unverified = { ...unverifiedView(request, app.config.environment), done: unverifiedDone, remark: undefined, handover: undefined }
  return report(
    {
      ...(isVerified(app, request) ? reportView(request, gather(app, request)) : unverified),
      lateAfter: formatDuration(app.config.moveTimeoutMs),
      now: Date.now(),
      showActor: (userId, words = names.get(userId)) => profileLink(userId, profileOf(userId), words),
    },
    name,
  )
}

interface Known {
  /** Undefined if another version of Lockkeeper wrote the request, and this one can only show what it says of every request. */
  opened: Opened | undefined
  change: Change | undefined
  title: Description['title']
  items: ItemView[]
  /** How long it takes until all writes of several are sent, or those that are left, in ms. */
  sendingMs: number
  warnings: WarningWords
  rule: PolicyRule | undefined
  environment: string | undefined
  undoes: LinkedRequest | undefined
  repeats: LinkedRequest | undefined
  fromMessage: string | undefined
}

/** Whether the content of the record may be shown. */
function isVerified(app: App, request: Request): boolean {
  const verdict = app.signatures.verifyRecord(request)
  if (verdict !== 'genuine' && verdict !== 'unknown-key') void onDistrusted(app, request, { code: 'record-changed' })
  return verdict === 'genuine'
}

/** Call it only for a record that was verified. */
function gather({ catalog, config, slack, access }: App, request: Request): Known {
  const { addressOf, profileOf, linkTo } = slack.identity
  const opened = catalog.openIfFit(request)
  const change = opened?.change ?? catalog.changeIfKnown(request.kind)
  const items = opened ? itemViews(request, opened, catalog) : []
  const linked = (ref: RequestRef | undefined) => ref && { ...ref, link: linkTo({ origin: ref, cardTs: ref.cardTs }) }
  const { fromMessage, origin } = request
  return {
    opened,
    change,
    title: catalog.titleOf(request),
    items,
    sendingMs: sendingTime(request, items, config.infra.writesPerMinute),
    warnings: warningWords(request, change, catalog.titleOf, { profileOf }),
    rule: access.ruleOf(request),
    environment: config.environment,
    undoes: linked(request.undoes),
    repeats: linked(request.repeats),
    // Only from its own channel, because a link would reveal a private channel to others.
    fromMessage: fromMessage?.channelId === origin.channelId ? addressOf(fromMessage) : undefined,
  }
}

/** Those that are left wait for the next minute. */
function sendingTime(request: Request, items: ItemView[], writesPerMinute: number): number {
  const whole = sendingMs(items.length, writesPerMinute)
  const left = items.filter(({ state }) => state === 'waiting').length
  if (request.items === undefined || whole === 0) return whole
  return left === 0 ? 0 : sendingMs(left, writesPerMinute) + 60_000
}

function cardView(request: Request, known: Known): CardView {
  const { opened, change, items, warnings } = known
  return {
    request,
    isKnown: opened !== undefined,
    description: descriptionOf(request, known),
    items,
    sendingMs: known.sendingMs,
    leaves: opened?.change.leaves?.(opened.facts),
    unchecked: request.unchecked.map((finding) => whyWords(explain(change, finding))),
    ...warnings,
    subject: opened?.change.subject(opened.facts),
    ending: explainAll(change, request.causes),
    handoverLabel: change?.handover?.label,
    handoverWarning: change?.handover?.warning,
    reverseLabel: reverseLabelOf(request, opened),
    undoes: known.undoes,
    repeats: known.repeats,
    rule: known.rule,
    environment: known.environment,
    fromMessage: known.fromMessage,
  }
}

function descriptionOf(request: Request, { opened, title }: Known): Description {
  const description = opened ? opened.change.describe(opened.facts) : { title, facts: [], ids: [], underway: 'in progress' }
  return withoutRequester(description, request.origin.userId)
}

/** The view of a record that cannot be verified. It shows nothing of it, and has no buttons. */
function unverifiedView(request: Request, environment: string | undefined): CardView {
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

function reportView(request: Request, known: Known): Omit<ReportView, 'lateAfter' | 'now' | 'showActor'> {
  const { opened, items } = known
  if (!opened) throw new Error('a request that does not open has no reports')
  const { change, latest } = opened
  return {
    request,
    items,
    leaves: change.leaves?.(latest),
    description: descriptionOf(request, known),
    ending: explainAll(change, request.causes),
    done: withoutOwner(change.doneSentence(latest), request.origin.userId),
    remark: change.remark?.(latest),
    handover: change.handover,
    reverseLabel: reverseLabelOf(request, opened),
    rule: known.rule,
  }
}

/** Returns the label of the button that undoes a change. Undefined if nothing of it can be undone. */
function reverseLabelOf(request: Request, opened: Opened | undefined): string | undefined {
  return opened && canReverse(request) ? opened.change.reverse?.(opened.input, opened.latest)?.label : undefined
}
