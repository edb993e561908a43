import type { Change } from '../../../domain/change/change.ts'
import { canReverse, type Undone } from '../../../domain/request/request.ts'
import { canonicalJson } from '../../../domain/signing/canonical-json.ts'
import type { Catalog } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import { doneInput } from './done-input.ts'

interface FindUndoneParts {
  store: Pick<Store, 'find'>
  catalog: Pick<Catalog, 'openIfFit'>
}

/** A new request, before it is recorded. */
interface Undoing<Input, Facts> {
  change: Pick<Change<Input, Facts>, 'kind' | 'items'>
  input: Input
  facts: Facts
}

/**
 * Creates the function that finds the request that a new one undoes. Undefined if the new one does something else: the person can change
 * every field of the form. One that leaves out some items undoes the others.
 */
export function createFindUndone({ store, catalog }: FindUndoneParts) {
  return async function findUndone<Input, Facts>(
    id: string | undefined,
    { change, input, facts }: Undoing<Input, Facts>,
  ): Promise<Undone | undefined> {
    const request = id === undefined ? undefined : await store.find(id)
    if (request?.kind !== change.kind || !canReverse(request) || request.cardTs === undefined) return undefined
    const opened = catalog.openIfFit(request)
    const back = opened?.change.reverse?.(doneInput(request, opened.change, opened.input), opened.latest)
    if (!back || !undoes(back as Pick<Undoing<Input, Facts>, 'input' | 'facts'>, { change, input, facts })) return undefined
    return { id: request.id, channelId: request.origin.channelId, cardTs: request.cardTs }
  }
}

function undoes<Input, Facts>(
  back: Pick<Undoing<Input, Facts>, 'input' | 'facts'>,
  { change: { items }, input, facts }: Undoing<Input, Facts>,
) {
  if (!items) return canonicalJson(back.input) === canonicalJson(input)
  const done = new Set(items.of(back.facts).map(({ id }) => id))
  const ids = items.of(facts).map(({ id }) => id)
  const same = (one: Input) => canonicalJson(items.narrow(one, ids))
  return ids.every((id) => done.has(id)) && same(back.input) === same(input)
}
export type FindUndone = ReturnType<typeof createFindUndone>
