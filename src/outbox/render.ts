import type { App } from '../app.ts'
import { isMachine } from '../domain/approval.ts'
import { type Description, withoutRequester } from '../domain/change.ts'
import { sendingMs } from '../domain/lane.ts'
import { canReverse, holdOf, type Request, type RequestRef, targetAlerted, type Waits, warningsOf } from '../domain/request.ts'
import { heldFrom } from '../domain/starts.ts'
import { formatDuration, withoutOwner } from '../domain/text.ts'
import { type ItemView, itemViews } from '../messages/items.ts'
import { report } from '../messages/reports.ts'
import type { CardView } from '../messages/request-content.ts'
import { requestDetails } from '../messages/request-details.ts'
import { approvalCard } from '../messages/request-message.ts'
import { warningWords } from '../messages/warnings.ts'
import { findingWords, unverifiedDescription, whyWords, wordsOfFindings } from '../messages/why-not.ts'
import type { ReportName } from '../record/steps.ts'
import { ruleOf } from '../rights/judge.ts'
import { timesOf } from '../rights/times.ts'
import type { Answerable } from '../slack/interactions.ts'
import { mention, profileLink } from '../slack/text.ts'
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

/** Undefined if the report no longer applies. `names`: of the people whom it shows without a mention, by their ids. */
export function renderReport(app: App, request: Request, name: ReportName, names: ReadonlyMap<string, string>): Answerable | undefined {
  const { profileOf } = app.slack.identity
  return report(
    {
      ...viewOf(app, request),
      lateAfter: formatDuration(app.config.moveTimeoutMs),
      now: Date.now(),
      showActor: (userId) =>
        isMachine({ userId })
          ? mention(userId)
          : profileLink(userId, profileOf(userId), names.get(userId) ?? request.personNames?.[userId]),
    },
    name,
  )
}

/** Gathers what messages show of a request. Of a record that cannot be verified they show nothing. */
export function viewOf(app: App, request: Request): CardView {
  const { catalog, config, slack, signatures } = app
  const verdict = signatures.verifyRecord(request)
  if (verdict !== 'genuine') {
    if (verdict !== 'unknown-key') void onDistrusted(app, request, { code: 'record-changed' })
    return unverifiedView(request, config.environment)
  }
  const { addressOf, profileOf, linkTo } = slack.identity
  const opened = catalog.openIfFit(request)
  const change = opened?.change ?? catalog.changeIfKnown(request.kind)
  const items = opened ? itemViews(request, opened, catalog) : []
  const linked = (ref: RequestRef | undefined) => ref && { ...ref, link: linkTo({ origin: ref, cardTs: ref.cardTs }) }
  const { fromMessage, origin } = request
  const rule = ruleOf(app, request)
  const warnings = warningsOf(request)
  const alerted = warnings.find(({ code }) => code === targetAlerted)
  const description: Description = opened
    ? opened.change.describe(opened.facts)
    : { title: catalog.titleOf(request), facts: [], ids: [], underway: 'in progress' }
  return {
    request,
    isKnown: opened !== undefined,
    description: withoutRequester(description, origin.userId),
    items,
    held: opened && heldNow(app, request),
    sendingMs: sendingTime(request, items, config.infra.writesPerMinute),
    left: opened?.change.leaves?.(opened.latest, request.items && opened.input),
    unchecked: request.unchecked.map((finding) => whyWords(findingWords(change, finding))),
    ...warningWords({ ...request, warnings }, change, (changed) => catalog.titleOf(changed, { isShort: true }), {
      profileOf,
      rule,
    }),
    target: opened && catalog.targetOf(request)?.name,
    targetAlert: alerted && findingWords(change, alerted),
    ending: wordsOfFindings(change, request.causes),
    hasNoForm: change?.hasNoForm,
    done: opened ? withoutOwner(opened.change.doneSentence(opened.latest, request.endsAt), origin.userId) : [],
    remark: opened?.change.remark?.(opened.latest),
    handover: change?.handover && {
      label: change.handover.label,
      warning: opened && change.handover.warning?.(opened.input),
      tooLateAt: opened && change.tooLateAt?.(opened.facts),
    },
    keeps: opened?.change.keeps?.(opened.facts),
    reverseLabel: opened && canReverse(request) ? opened.change.reverse?.(opened.input, opened.latest)?.label : undefined,
    undoes: linked(request.undoes),
    repeats: linked(request.repeats),
    rule,
    environment: config.environment,
    // Only from its own channel, because a link would reveal a private channel to others.
    fromMessage: fromMessage?.channelId === origin.channelId ? addressOf(fromMessage) : undefined,
  }
}

/** Whether it goes on only once somebody presses a button. */
export function waitsForPress({ catalog }: App, { state, kind }: Request): boolean {
  return state === 'waiting' || (state === 'approved' && catalog.changeIfKnown(kind)?.handover !== undefined)
}

/** What holds an approved request. A freeze that was lifted is in its record until a worker has judged it, which none does for a press. */
export function holdNow(app: App, request: Request): Waits | undefined {
  const hold = holdOf(request)
  return request.state === 'approved' && (hold?.for === 'freeze' || waitsForPress(app, request)) ? heldNow(app, request) : hold
}

/** What holds it, or would once it is approved. */
export function holdAhead(app: App, request: Request): Waits | undefined {
  return request.state === 'waiting' ? heldNow(app, request) : holdNow(app, request)
}

/** What would keep it from starting if it were approved now, as far as this process has read of freezes. */
export function heldNow(app: App, request: Request): Waits | undefined {
  if (request.state !== 'waiting' && request.state !== 'approved') return undefined
  const now = Date.now()
  const { signed, times } = timesOf(app, request, app.freezes.lastRead()?.freezes ?? [])
  return heldFrom(now, { ...signed, approvedAt: now }, times)?.waits
}

/** How long it takes until all writes of several are sent, or those that are left, which wait for the next minute, in ms. */
function sendingTime(request: Request, items: ItemView[], writesPerMinute: number): number {
  const whole = sendingMs(items.length, writesPerMinute)
  const left = items.filter(({ state }) => state === 'waiting').length
  if (request.items === undefined || whole === 0) return whole
  return left === 0 ? 0 : sendingMs(left, writesPerMinute) + 60_000
}

/** Without what people wrote, and who decided. */
function unverifiedView(stored: Request, environment: string | undefined): CardView {
  const { reason: _, decision: __, approverNames: ___, personNames: ____, alert: _____, link: ______, ...rest } = stored
  return {
    request: { ...rest, approvals: [], unchecked: [], warnings: [], newWarnings: [] },
    isKnown: false,
    description: unverifiedDescription(stored),
    items: [],
    unchecked: [],
    checks: [],
    notes: [],
    ending: wordsOfFindings(undefined, stored.causes),
    done: ["Its record can't be verified. Check the account."],
    rule: undefined,
    environment,
  }
}
