import type { Request } from '../../domain/request/request.ts'
import { formatDuration } from '../../domain/text/duration.ts'
import type { Answerable } from '../../slack/lists/answerable.ts'
import { profileLink } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import { approvalCard } from '../messages/card/card.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { requestDetails } from '../messages/card/details.ts'
import type { ReportView } from '../messages/reports/report-view.ts'
import { report } from '../messages/reports/reports.ts'
import { asDirect, asRepeat } from '../messages/reports/resent.ts'
import type { ReportName } from '../steps/step.ts'
import { createRequestViews, type ViewsParts } from './views.ts'

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
  /** Returns the address of a person's profile. */
  profileOf: (userId: string) => string | undefined
  moveTimeoutMs: number
  now?: () => number
}

/** Creates the renderer of cards and reports, for every kind of change. */
export function createRenderer({
  profileOf,
  moveTimeoutMs,
  now = Date.now,
  ...parts
}: RendererParts): Renderer & { view(request: Request): CardView; details(request: Request): Message } {
  const { catalog, verifyRecord } = parts
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
