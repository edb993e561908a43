import type { Change, Description } from '../../domain/change.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { PolicyRule } from '../../domain/policy.ts'
import type { LinkTo, Request } from '../../domain/request.ts'
import { phraseWords, type ShowPerson } from '../../slack/text/phrase-words.ts'
import { type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { Catalog } from '../catalog.ts'
import { approvalCard } from '../messages/card/card.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { requestDetails } from '../messages/card/details.ts'
import { explain, explainAll, whyWords } from '../messages/causes.ts'
import { isRecent, LastChange, lastChangeWords } from '../messages/last-change.ts'
import { report } from '../messages/reports.ts'
import { asDirect, asRepeat } from '../messages/resent.ts'
import type { ReportName } from '../steps.ts'

/** Renders the messages of the outbox. */
export interface Renderer {
  /** False if another version of Lockkeeper wrote the request, and this version cannot show all of it. */
  canRender(request: Request): boolean
  card(request: Request): Message
  /** Undefined if the report no longer applies, for example that a change is late after it ended. */
  report(request: Request, name: ReportName): Message | undefined
  /** Adds that the message may be a repeat. */
  asRepeat(message: Message): Message
  /** Adds that the report goes to the requester directly, because its channel does not take it. `error`: Slack's code. */
  asDirect(message: Message, request: Request, error: string): Message
}

interface RendererParts {
  catalog: Catalog
  /** Returns the current rule of the policy for a request, if any. */
  ruleOf: (request: Request) => PolicyRule | undefined
  environment: string | undefined
  moveTimeoutMs: number
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  now?: () => number
}

/** Creates the renderer of cards and reports, for every kind of change. */
export function createRenderer({
  catalog,
  ruleOf,
  environment,
  moveTimeoutMs,
  linkTo,
  now = Date.now,
}: RendererParts): Renderer & { view(request: Request): CardView; details(request: Request): Message } {
  /** Gathers what a card shows. */
  function view(request: Request): CardView {
    const opened = catalog.openIfFit(request)
    const change = opened?.change ?? catalog.changeIfKnown(request.kind)
    return {
      request,
      isKnown: opened !== undefined,
      description: opened ? opened.change.describe(opened.facts) : otherVersionDescription(request, catalog),
      unchecked: request.unchecked.map((finding) => whyWords(explain(change, finding))),
      ...warningsOf(request, change),
      ending: explainAll(change, request.causes),
      handoverLabel: change?.handover?.label,
      reverseLabel: opened && request.state === 'done' ? opened.change.reverse?.(opened.input, opened.latest)?.label : undefined,
      undoes: request.undoes && { id: request.undoes.id, link: linkTo({ origin: request.undoes, ...request.undoes }) },
      rule: ruleOf(request),
      environment,
    }
  }

  /** Separates what approvers should check first from what is small print. People are named where the rule mentions others. */
  function warningsOf(request: Request, change: Change | undefined): Pick<CardView, 'checks' | 'notes'> {
    const { personNames } = request
    const showPerson: ShowPerson = (id) => (personNames === undefined ? mention(id) : mrkdwn`${personNames[id] ?? id}`)
    const checks: Mrkdwn[] = []
    const notes: Mrkdwn[] = []
    for (const finding of request.warnings) {
      const { success, data } = LastChange.safeParse(finding)
      if (success) (isRecent(data) ? checks : notes).push(phraseWords(lastChangeWords(data, catalog.titleOf(data)), showPerson))
      else checks.push(whyWords(explain(change, finding), showPerson))
    }
    return { checks, notes }
  }

  return {
    view,
    canRender: (request) => catalog.openIfFit(request) !== undefined,
    card: (request) => approvalCard(view(request)),
    details: (request) => requestDetails(view(request)),
    report: (request, name) => {
      const { change, latest } = catalog.open(request)
      const reported = {
        request,
        description: change.describe(latest),
        ending: explainAll(change, request.causes),
        done: change.doneSentence(latest),
        remark: change.remark?.(latest),
        handover: change.handover,
        rule: ruleOf(request),
        lateAfter: formatDuration(moveTimeoutMs),
        now: now(),
      }
      return report(reported, name)
    },
    asRepeat,
    asDirect,
  }
}

/** Describes a request that another version of Lockkeeper wrote, as far as this version can. */
function otherVersionDescription(request: Request, catalog: Catalog): Description {
  return { title: catalog.titleOf(request), sentence: catalog.sentenceOf(request), facts: [], ids: [], underway: 'under way' }
}
