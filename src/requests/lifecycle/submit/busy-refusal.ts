import type { Change } from '../../../domain/change/change.ts'
import type { LinkTo } from '../../../domain/request/request.ts'
import { Refusal } from '../../../slack/errors.ts'
import type { Catalog } from '../../catalog.ts'
import { otherIsOpen, othersAreOpen, otherWasOpen } from '../../messages/forms/submitted.ts'
import type { Created } from '../../store/new-requests.ts'
import type { Store } from '../../store/store.ts'

interface BusyRefusalParts {
  store: Pick<Store, 'findMany'>
  /** Returns the address of a request's message. */
  linkTo: LinkTo
  /** Returns what a request changes, in words. */
  titleOf: Catalog['titleOf']
}

interface Busy {
  /** The resources that other requests hold, with the requests. */
  held: Created['held']
  /** The resource that was requested. */
  resource: string
  /** What people call it. */
  subject: string
  /** What people call its items, by their resources. */
  names: Map<string, string>
  viewerId: string
}

/** Creates the refusal of a request that names the requests that hold what it needs, each with a link. */
export function createBusyRefusal({ store, linkTo, titleOf }: BusyRefusalParts) {
  return async function busyRefusal({ held, resource, subject, names, viewerId }: Busy): Promise<Refusal> {
    const heldBy = Map.groupBy(held, ({ by }) => by)
    const holders = await store.findMany([...heldBy.keys()])
    const [first] = holders
    if (!first) return new Refusal(otherWasOpen)
    const own = held.find((each) => each.resource === resource)
    const holder = holders.find(({ id }) => id === own?.by)
    if (names.size === 0 || holder) {
      const one = holder ?? first
      return new Refusal(otherIsOpen(one, { viewerId, subject, link: linkTo(one), title: titleOf(one) }))
    }
    const nameOf = (one: { resource: string }) => names.get(one.resource) ?? one.resource
    return new Refusal(
      othersAreOpen(
        holders.map((each) => ({ holder: each, link: linkTo(each), holds: (heldBy.get(each.id) ?? []).map(nameOf) })),
        viewerId,
      ),
    )
  }
}

/** Returns what people call the items of a change, by their resources. */
export function itemNamesOf<Input, Facts>({ items }: Change<Input, Facts>, facts: Facts): Map<string, string> {
  return new Map(items?.of(facts).map((item) => [items.change.resource(item.input), item.name]))
}
