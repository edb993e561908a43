import type { ChangeKind } from '../../../domain/policy/change-kind.ts'
import { canReverse, type Undone } from '../../../domain/request/request.ts'
import { canonicalJson } from '../../../domain/signing/canonical-json.ts'
import type { Catalog } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import { doneInput } from './done-input.ts'

interface FindUndoneParts {
  store: Pick<Store, 'find'>
  catalog: Pick<Catalog, 'openIfFit'>
}

/**
 * Creates the function that finds the request that a new one undoes. Undefined if the new one does something else: the person can change
 * every field of the form.
 */
export function createFindUndone({ store, catalog }: FindUndoneParts) {
  return async function findUndone(id: string | undefined, kind: ChangeKind, input: unknown): Promise<Undone | undefined> {
    const request = id === undefined ? undefined : await store.find(id)
    if (request?.kind !== kind || !canReverse(request) || request.cardTs === undefined) return undefined
    const opened = catalog.openIfFit(request)
    const back = opened?.change.reverse?.(doneInput(request, opened.change, opened.input), opened.latest)
    if (!back || canonicalJson(back.input) !== canonicalJson(input)) return undefined
    return { id: request.id, channelId: request.origin.channelId, cardTs: request.cardTs }
  }
}
export type FindUndone = ReturnType<typeof createFindUndone>
