import type { Description } from '../../domain/change.ts'
import { formatDuration } from '../../domain/duration.ts'
import type { PolicyRule } from '../../domain/policy.ts'
import type { Request } from '../../domain/request.ts'
import type { RequestSignatures } from '../../domain/request-signature.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { Catalog } from '../catalog.ts'
import { approvalCard } from '../messages/card/card.ts'
import type { CardView } from '../messages/card/card-view.ts'
import { explain, explainAll } from '../messages/causes.ts'
import { type ReportView, report } from '../messages/reports.ts'
import { asDirect, asRepeat } from '../messages/resent.ts'
import { unverifiedDescription, unverifiedDone, withoutContent } from '../messages/unverified.ts'
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
  verifyRecord: RequestSignatures['verifyRecord']
  /** Receives a record that is no longer what was requested. */
  onChanged: (request: Request) => void
  now?: () => number
}

/** Creates the renderer of cards and reports, for every kind of change. */
export function createRenderer({
  catalog,
  ruleOf,
  environment,
  moveTimeoutMs,
  verifyRecord,
  onChanged,
  now = Date.now,
}: RendererParts): Renderer & { view(request: Request): CardView } {
  /** Whether what the record says may be shown. */
  function isVerified(request: Request): boolean {
    const verdict = verifyRecord(request)
    if (verdict !== 'genuine' && verdict !== 'unknown-key') onChanged(request)
    return verdict === 'genuine'
  }

  /** Gathers what a card shows. */
  function view(request: Request): CardView {
    if (!isVerified(request)) return unverifiedView(request)
    const opened = catalog.openIfFit(request)
    const change = opened?.change ?? catalog.changeIfKnown(request.kind)
    return {
      request,
      isKnown: opened !== undefined,
      description: opened ? opened.change.describe(opened.facts) : otherVersionDescription(request, catalog),
      unchecked: request.unchecked.map((finding) => explain(change, finding).why),
      warnings: request.warnings.map((finding) => explain(change, finding).why),
      ending: explainAll(change, request.causes),
      handoverLabel: change?.handover?.label,
      reverseLabel: opened && request.state === 'done' ? opened.change.reverse?.(opened.input, opened.latest)?.label : undefined,
      rule: ruleOf(request),
      environment,
    }
  }

  /** Gathers the little that the card of a record shows that cannot be verified. It has no buttons. */
  function unverifiedView(request: Request): CardView {
    return {
      request: withoutContent(request),
      isKnown: false,
      description: unverifiedDescription(request),
      unchecked: [],
      warnings: [],
      ending: explainAll(undefined, request.causes),
      handoverLabel: undefined,
      reverseLabel: undefined,
      rule: undefined,
      environment,
    }
  }

  function reportView(request: Request): Omit<ReportView, 'lateAfter' | 'now'> {
    if (!isVerified(request)) return { ...unverifiedView(request), done: unverifiedDone, remark: undefined }
    const { change, latest } = catalog.open(request)
    return {
      request,
      description: change.describe(latest),
      ending: explainAll(change, request.causes),
      done: change.doneSentence(latest),
      remark: change.remark?.(latest),
      rule: ruleOf(request),
    }
  }

  return {
    view,
    canRender: (request) => catalog.openIfFit(request) !== undefined || verifyRecord(request) !== 'genuine',
    card: (request) => approvalCard(view(request)),
    report: (request, name) => report({ ...reportView(request), lateAfter: formatDuration(moveTimeoutMs), now: now() }, name),
    asRepeat,
    asDirect,
  }
}

/** Describes a request that another version of Lockkeeper wrote, as far as this version can. */
function otherVersionDescription(request: Request, catalog: Catalog): Description {
  return { title: 'Request of another version', sentence: catalog.sentenceOf(request), facts: [], underway: 'under way' }
}
