import type { ModalView } from '@slack/web-api'
import type { AccountApi } from '../../account-api/client.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import { canMoveTo } from '../../domain/elastic-ip-move/can-move-to.ts'
import { isOpen, type Request } from '../../domain/request/request.ts'
import type { Catalog } from '../../requests/catalog.ts'
import type { Store } from '../../requests/store/store.ts'
import type { FormHandler, Shortcut } from '../../slack/commands/handlers.ts'
import { writeMetadata } from '../../slack/receive/metadata.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'
import { findThings, type Thing } from './find-things.ts'
import { missingAddresses } from './missing-addresses.ts'
import { findOpenRequests } from './open-requests.ts'
import { createReadThings, type ThingNow } from './read-things.ts'
import { type FoundThing, lookedUpView, lookingUpView } from './view.ts'
import { wordsIn } from './words-in-message.ts'

/** The most things that are shown. Each one that the lists lack takes up to two reads of the account. */
const mostThings = 8

interface LookUpParts {
  accountApi: AccountApi
  inventory: Inventory
  store: Pick<Store, 'findOpen'>
  catalog: Pick<Catalog, 'offersFor' | 'titleOf'>
  linkTo: (request: Request) => string | undefined
}

/** The message shortcut *Look up in Lockkeeper*: shows what a message names, as it is now on the account. */
export const lookUp = { create } satisfies FeatureDefinition

function create({ accountApi, inventory, store, catalog, linkTo }: LookUpParts): Feature {
  const { readLists, readNow } = createReadThings({ accountApi, inventory })

  async function lookUpMessage({ origin, responseUrl, message }: Shortcut): Promise<ModalView> {
    const words = message ? wordsIn(message) : []
    const lists = await readLists()
    const { isIncomplete, isWhole, old } = lists
    const named = findThings(words, lists)
    const first = await readNow(named.slice(0, mostThings), lists)
    const things = [...first, ...(await readNow(addressesOn(first).slice(0, mostThings - first.length), lists))]
    const { about, unread } = await findOpenRequests(
      store,
      things.map(({ id }) => id),
    )
    const ref = message?.ref
    const shown = new Set<string>()
    // A request names the address and both servers. It is shown once, below the first of them.
    const firstShown = ({ id }: Request) => !shown.has(id) && shown.add(id)
    // An id that is gone stays among the things only for its open requests.
    const gone = new Set(things.filter((now) => now.is === 'gone' && !hasOpen(about.get(now.id))).map(({ id }) => id))
    const unknown = new Set([...gone, ...(isWhole ? missingAddresses(words, lists) : [])])
    return lookedUpView({
      metadata: writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}), ...(ref ? { message: ref } : {}) }),
      things: things
        .filter(({ id }) => !gone.has(id))
        .map((now) =>
          found(
            now,
            (about.get(now.id) ?? []).filter((request) => isOpen(request.state) && firstShown(request)),
            targetFor(now, things),
          ),
        ),
      read: things.length,
      left: named.length - first.length,
      notFound: words.filter((word) => unknown.has(word)),
      isIncomplete,
      old,
      unread,
    })
  }

  function found(now: ThingNow, requests: Request[], serverId: string | undefined): FoundThing {
    return {
      now,
      requests: requests.map((request) => ({ request, title: catalog.titleOf(request), link: linkTo(request) })),
      offers: catalog.offersFor(now.kind),
      serverId,
    }
  }

  const shortcut: FormHandler<Shortcut> = {
    form: lookingUpView,
    // Everybody who may read here may look up, and that was checked when the shortcut arrived.
    allow: async () => {},
    fill: lookUpMessage,
  }

  return { commands: [], shortcuts: { 'look-up': shortcut } }
}

function hasOpen(requests: Request[] = []): boolean {
  return requests.some(({ state }) => isOpen(state))
}

/** Returns the Elastic IPs of the servers that the message names, so that they can be moved away. */
function addressesOn(things: ThingNow[]): Thing[] {
  const shown = new Set(things.map(({ id }) => id))
  const addresses = things.flatMap((thing) => (thing.is === 'server' ? (thing.elasticIps ?? []) : []))
  return addresses.filter(({ id }) => !shown.has(id)).map(({ id }) => ({ kind: 'elastic-ip', id }))
}

/** Returns the only server that the message names besides the one that the Elastic IP is on, if the Elastic IP can move there. */
function targetFor(now: ThingNow, things: ThingNow[]): string | undefined {
  if (now.is !== 'elastic-ip') return undefined
  const servers = things.flatMap((thing) => (thing.is === 'server' ? [thing.server] : []))
  const [only, ...others] = servers.filter(({ id }) => id !== now.elasticIp.server?.id)
  return only && others.length === 0 && canMoveTo(now.elasticIp, only, now.server) ? only.id : undefined
}
