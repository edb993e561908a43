import type { Request } from '../../../domain/request/request.ts'
import type { RequestSignatures } from '../../../domain/request/request-signature.ts'
import { canonicalJson } from '../../../domain/signing/canonical-json.ts'
import type { Catalog, Opened } from '../../catalog.ts'
import type { NotUndone } from '../../messages/warnings/not-undone.ts'
import type { Store } from '../../store/store.ts'

interface FindNotUndoneParts {
  store: Pick<Store, 'findMany' | 'lastChangesOf'>
  catalog: Pick<Catalog, 'openIfFit' | 'itemsOf'>
  signatures: Pick<RequestSignatures, 'verifyRecord'>
}

/** The longest chain of retries that is followed back to its first request. */
const mostRetries = 20

/**
 * Creates the function that finds what stays as it is when only one request is undone: items to which another request did the same, because it retried
 * the rest of that one, or the other way round. Somebody who undoes the one may think that everything is undone.
 */
export function createFindNotUndone({ store, catalog, signatures }: FindNotUndoneParts) {
  /** Returns one finding for each other request. Empty for a change of a single resource. */
  return async function findNotUndone(undone: Request): Promise<NotUndone[]> {
    const done = doneItems(undone)
    const others = itemsOf(await firstOf(undone)).filter(({ id }) => !done.has(id))
    const last = await store.lastChangesOf(others.map(({ resource }) => resource))
    const byRequest = Map.groupBy(others, ({ resource }) => last.get(resource))
    return [...byRequest].flatMap(([by, items]): NotUndone[] => {
      if (by?.cardTs === undefined || by.id === undone.id) return []
      const did = new Set(doneBy(by))
      const names = items.filter((item) => did.has(keyOf(item))).map(({ name }) => name)
      return names.length === 0 ? [] : [{ code: 'not-undone', by: { id: by.id, channelId: by.origin.channelId, cardTs: by.cardTs }, names }]
    })
  }

  /** Returns the first of the requests whose rest was retried up to this one. Its items include theirs. */
  async function firstOf(request: Request, left = mostRetries): Promise<Request> {
    const [before] = request.repeats && left > 0 ? await store.findMany([request.repeats.id]) : []
    return before?.items && before.kind === request.kind && openIfGenuine(before) ? firstOf(before, left - 1) : request
  }

  function itemsOf(request: Request) {
    const opened = openIfGenuine(request)
    return opened ? catalog.itemsOf(opened) : []
  }

  /** Returns what a request did, so that it can be compared: one change, or those of its items that are done. */
  function doneBy(request: Request): string[] {
    const opened = openIfGenuine(request)
    if (!opened) return []
    if (!opened.change.items) return request.state === 'done' ? [keyOf(opened)] : []
    const done = doneItems(request)
    return catalog
      .itemsOf(opened)
      .filter(({ id }) => done.has(id))
      .map(keyOf)
  }

  function openIfGenuine(request: Request): Opened | undefined {
    return signatures.verifyRecord(request) === 'genuine' ? catalog.openIfFit(request) : undefined
  }
}
export type FindNotUndone = ReturnType<typeof createFindNotUndone>

function doneItems({ items = [] }: Pick<Request, 'items'>): Set<string> {
  return new Set(items.filter(({ state }) => state === 'done').map(({ id }) => id))
}

function keyOf({ change, input }: Pick<Opened, 'change' | 'input'>): string {
  return canonicalJson({ kind: change.kind, input })
}
