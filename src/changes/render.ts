import type { Group } from '../domain/approval.ts'
import { formatDuration } from '../domain/duration.ts'
import type { Request } from '../domain/request.ts'
import { approvalCard } from './card.ts'
import type { Catalog } from './catalog.ts'
import type { Renderer } from './deliver.ts'
import { asDirect, asRepeat, report } from './reports.ts'

interface RenderParts {
  catalog: Catalog
  approvers: Group
  environment: string | undefined
  moveTimeoutMs: number
  now?: () => number
}

/** Cards and reports from records, for every kind of change. */
export function createRenderer({ catalog, approvers, environment, moveTimeoutMs, now = Date.now }: RenderParts): Renderer {
  function card(request: Request) {
    const { change, input, facts, latest } = catalog.open(request)
    const reverseLabel = request.state === 'done' ? change.reverse?.(input, latest)?.label : undefined
    const handoverLabel = change.handover?.label
    return approvalCard({ request, handoverLabel, description: change.describe(facts), reverseLabel, approvers, environment })
  }

  return {
    card,
    report: (request, name) => {
      const { change, latest } = catalog.open(request)
      const done = change.doneSentence(latest)
      return report({ request, description: change.describe(latest), done, lateAfter: formatDuration(moveTimeoutMs), now: now() }, name)
    },
    asRepeat,
    asDirect,
  }
}
