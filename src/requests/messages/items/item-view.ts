import type { Item } from '../../../domain/change/change.ts'
import type { Words } from '../../../domain/change/finding.ts'
import type { Request } from '../../../domain/request/request.ts'
import type { RequestItem } from '../../../domain/request/request-item.ts'
import type { Catalog, Opened } from '../../catalog.ts'
import { explainAll } from '../refusals/causes.ts'

/** One item of a request with several, as messages show it. */
export interface ItemView extends Pick<RequestItem, 'state' | 'sentAt' | 'lateAt' | 'endedAt'> {
  id: string
  /** What people call it: `203.0.113.10`. */
  name: string
  /** Where Lockkeeper saw it last, if the account did not show where it is. */
  lastSeen: Item['lastSeen']
  /** Why it ended, and what to do next. */
  ending: Words
}

/** Gathers the items of a request. All are waiting until the first write may be sent. Empty for a change of a single resource. */
export function itemViews(request: Request, opened: Opened, { itemsOf }: Pick<Catalog, 'itemsOf'>): ItemView[] {
  const stored = new Map(request.items?.map((item) => [item.id, item]))
  const all = itemsOf(opened)
  return all.map(({ id, name, lastSeen }) => {
    const item = stored.get(id)
    const { state = 'waiting', sentAt, lateAt, endedAt, causes = [] } = item ?? {}
    return {
      id,
      name,
      lastSeen,
      state,
      sentAt,
      lateAt,
      endedAt,
      ending: explainAll(opened.change, causes, all.length > 1 ? name : undefined),
    }
  })
}
