import type { Change } from '../../../domain/change/change.ts'
import { canReverse, isOpen, type Request } from '../../../domain/request/request.ts'
import { canonicalJson } from '../../../domain/signing/canonical-json.ts'
import type { Catalog } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import { doneInput } from './done-input.ts'
import type { RequestedChange } from './requested-change.ts'

interface FindEarlierParts {
  store: Pick<Store, 'find'>
  catalog: Pick<Catalog, 'openIfFit'>
}

/** What changes, and what the account showed of it. */
interface Content<Input, Facts> {
  input: Input
  facts: Facts
}

/** A new request, before it is recorded. */
interface Requested<Input, Facts> extends Content<Input, Facts> {
  change: Pick<Change<Input, Facts>, 'kind' | 'items'>
}

type EarlierIds<Input, Facts> = Pick<RequestedChange<Input, Facts>, 'change' | 'undoes' | 'repeats'>

/** The earlier requests that a new one belongs to. */
export interface Earlier {
  undone?: Request | undefined
  repeated?: Request | undefined
}

/**
 * Creates the reads of the requests that a new one undoes or repeats, as its form was opened for them. `requests` finds none if the new one
 * does something else: the person can change every field of the form. A request for only some of the items still counts.
 */
export function createFindEarlier({ store, catalog }: FindEarlierParts) {
  async function requests<Input, Facts>(
    { undoes, repeats }: Pick<RequestedChange<Input, Facts>, 'undoes' | 'repeats'>,
    requested: Requested<Input, Facts>,
  ): Promise<Earlier> {
    const [undone, repeated] = await Promise.all([find(undoes, requested, backOf), find(repeats, requested, sameOf)])
    return { undone, repeated }
  }

  /** Returns what the account showed for the request that the form was opened for. The new request may still do something else. */
  async function facts<Input, Facts>({ change, undoes, repeats }: EarlierIds<Input, Facts>): Promise<Facts | undefined> {
    const id = repeats ?? undoes
    const request = id === undefined ? undefined : await store.find(id)
    const opened = request?.kind === change.kind ? catalog.openIfFit(request) : undefined
    return opened ? change.facts.parse(opened.latest) : undefined
  }

  /** `wanted` returns what the new request must do to belong to the earlier one. */
  async function find<Input, Facts>(
    id: string | undefined,
    requested: Requested<Input, Facts>,
    wanted: (request: Request) => Content<unknown, unknown> | undefined,
  ): Promise<Request | undefined> {
    const request = id === undefined ? undefined : await store.find(id)
    if (request?.kind !== requested.change.kind || request.cardTs === undefined) return undefined
    const content = wanted(request)
    return content && isPartOf(content as Content<Input, Facts>, requested) ? request : undefined
  }

  function backOf(request: Request): Content<unknown, unknown> | undefined {
    const opened = canReverse(request) ? catalog.openIfFit(request) : undefined
    return opened?.change.reverse?.(doneInput(request, opened.change, opened.input), opened.latest)
  }

  function sameOf(request: Request): Content<unknown, unknown> | undefined {
    return isOpen(request.state) ? undefined : catalog.openIfFit(request)
  }

  return { requests, facts }
}
export type FindEarlier = ReturnType<typeof createFindEarlier>

function isPartOf<Input, Facts>(whole: Content<Input, Facts>, { change: { items }, input, facts }: Requested<Input, Facts>): boolean {
  if (!items) return canonicalJson(whole.input) === canonicalJson(input)
  const known = new Set(items.of(whole.facts).map(({ id }) => id))
  const ids = items.of(facts).map(({ id }) => id)
  const narrowed = (one: Input) => canonicalJson(items.narrow(one, ids))
  return ids.every((id) => known.has(id)) && narrowed(whole.input) === narrowed(input)
}
