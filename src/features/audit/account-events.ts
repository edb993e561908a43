import type { AccountApi } from '../../account/client.ts'
import type { Inventory } from '../../account/inventory.ts'
import { asFarAsRead } from '../../account/resource.ts'
import type { FoundEntry } from '../../audit/audit.ts'
import type { AccountEvent } from '../../domain/account.ts'
import { withinOr } from '../../domain/within.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text.ts'
import type { AuditRow } from './rows.ts'
import { resourceNameOf, type WordsOfChanges } from './words.ts'

/** Events are read for at most this many resources. */
const mostResources = 3

/** The time limit for reading events. */
const readMs = 4_000

const mostEvents = 100

/** A resource on the account whose events are shown. */
export interface Resource {
  targetId: string
  name: string
}

/** The resources whose events are read, and the number of others. */
export interface Chosen {
  resources: Resource[]
  more: number
}

export interface EventsRead {
  events: AccountEvent[]
  read: Resource[]
  /** Resources with more events than were read. */
  full: Resource[]
  /** `sentence` says why the events could not be read. */
  unread: { resource: Resource; sentence: string }[]
}

interface AccountEventsParts {
  accountApi: Pick<AccountApi, 'events'>
  inventory: Pick<Inventory, 'elasticIps' | 'virtualMachines'>
}

/**
 * Finds the resources that entries and words are about, called as the first genuine entry calls them. If there are more than three, only
 * those that the words name are read.
 */
export function resourcesOf(entries: FoundEntry[], { names, catalog }: { names: string[]; catalog: WordsOfChanges }): Chosen {
  const resources = new Map<string, Resource>()
  for (const entry of entries) {
    const { resource } = entry
    if (resource === undefined) continue
    // A key that does not exist yet has no id. The entry of its end has it.
    const targetId = resource.startsWith('api_key_name:') ? createdIdOf(entry) : resource.slice(resource.indexOf(':') + 1)
    if (targetId === undefined) continue
    const name = resources.get(targetId)?.name ?? targetId
    resources.set(targetId, named(targetId, name === targetId ? resourceNameOf(entry, catalog) : name))
  }
  const all = [...resources.values()]
  if (all.length <= mostResources) return { resources: all, more: 0 }
  const asked = all.filter(({ targetId }) => names.some((name) => name === targetId || name.endsWith(`:${targetId}`)))
  const read = asked.length <= mostResources ? asked : []
  return { resources: read, more: all.length - read.length }
}

/** Returns the id of a key that was created, if the entry has it. */
function createdIdOf({ resourceId, causes = [] }: FoundEntry): string | undefined {
  return resourceId ?? causes.map((cause) => cause.resourceId).find((id) => typeof id === 'string')
}

/** Creates the reads of the account's own events. */
export function createAccountEvents({ accountApi, inventory }: AccountEventsParts) {
  /** Finds resources by address, name or id, because a person may search for a resource that Lockkeeper has never changed. */
  async function findResources(names: string[]): Promise<Chosen> {
    if (names.length === 0) return { resources: [], more: 0 }
    const [elasticIps, machines] = await Promise.all([emptyIfLate(inventory.elasticIps()), emptyIfLate(inventory.virtualMachines())])
    const found = [
      ...elasticIps
        .filter(({ id, address }) => names.some((name) => name === id || name === address))
        .map(({ id, address }) => named(id, address)),
      ...machines.filter(({ id, name }) => names.some((one) => one === id || one === name)).map(({ id, name }) => named(id, name)),
    ]
    // A resource that no longer exists can still have events.
    const ids = names.filter((name) => /^[a-z]+_[\w-]+$/i.test(name))
    const all = found.length > 0 ? found : ids.map((id) => named(id))
    return { resources: all.slice(0, mostResources), more: Math.max(0, all.length - mostResources) }
  }

  /**
   * Reads the events of each resource, newest first. An error of the account API is returned in `unread`, so that the entries are still
   * shown.
   */
  async function readEvents(resources: Resource[], since: Date): Promise<EventsRead> {
    const signal = AbortSignal.timeout(readMs)
    const result: EventsRead = { events: [], read: [], full: [], unread: [] }
    await Promise.all(
      resources.map(async (resource) => {
        try {
          const events = await accountApi.events.list({ targetId: resource.targetId, since, limit: mostEvents, signal })
          // A server that ignores the filter returns the events of all resources.
          result.events.push(...events.flatMap((event) => withTarget(event, resource) ?? []))
          result.read.push(resource)
          if (events.length >= mostEvents) result.full.push(resource)
        } catch (error) {
          const sentence = toUserMessage(error)
          if (sentence === undefined) throw error
          result.unread.push({ resource, sentence })
        }
      }),
    )
    return result
  }

  return { findResources, readEvents }
}

/** Returns the event with this resource as its target, also if the account shows no target. Returns undefined for another target. */
function withTarget(event: AccountEvent, { targetId }: Resource): AccountEvent | undefined {
  const id = event.target?.id ?? targetId
  return id === targetId ? { ...event, target: { name: undefined, ...event.target, id } } : undefined
}

function named(targetId: string, name: string = targetId): Resource {
  return { targetId, name }
}

/** Returns an empty list if the read fails or takes too long. */
function emptyIfLate<T>(work: Promise<T[]>): Promise<T[]> {
  return withinOr(
    readMs / 2,
    asFarAsRead(work).then(
      ({ items }) => items,
      () => [],
    ),
    [],
  )
}

/** Shows an event of the account: `update.elastic_ip` of 203.0.113.10, by ops (ops@nimbus.example). */
export function eventRow({ action, target, author, createdAt }: AccountEvent): AuditRow {
  const at = Date.parse(createdAt ?? '')
  const name = target?.name ?? target?.id
  const what = mrkdwn`${action === undefined ? mrkdwn`unknown action` : code(action)}${name === undefined ? '' : mrkdwn` of ${code(name)}`}`
  return {
    at: Number.isNaN(at) ? undefined : at,
    what: mrkdwn`Event of the account: ${what}`,
    outcome: undefined,
    by: authorWords(author),
    notes: undefined,
    mark: ':white_small_square:',
  }
}

function authorWords(author: AccountEvent['author']): Mrkdwn {
  const name = author?.name ?? author?.id
  if (author?.email === undefined) return name === undefined ? mrkdwn`someone unknown` : mrkdwn`${name}`
  return name === undefined ? mrkdwn`${author.email}` : mrkdwn`${name} (${author.email})`
}
