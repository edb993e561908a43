import type { Change } from '../../../domain/change/change.ts'
import type { Request } from '../../../domain/request/request.ts'

/** Returns the input of the change as far as it is done: for a change of several resources, only the items that are done. */
export function doneInput({ items }: Pick<Request, 'items'>, change: Change, input: unknown): unknown {
  const done = (items ?? []).filter(({ state }) => state === 'done').map(({ id }) => id)
  return items && change.items ? change.items.narrow(input, done) : input
}
