import { asFarAsRead } from '../../account/resource.ts'
import type { AuditEntry } from '../../audit/chain.ts'
import type { AccountEvent } from '../../domain/account.ts'
import { withinOr } from '../../domain/within.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text.ts'
import type { FeatureParts } from '../feature.ts'
import type { Story } from './stories.ts'
import { resourceNameOf } from './words.ts'

type Parts = Pick<FeatureParts, 'accountApi' | 'inventory' | 'catalog'>

/** Events are read for at most this many resources. */
const mostResources = 3

/** The time limit for reading events. */
const readMs = 4_000

const mostEvents = 100

const dayMs = 24 * 3_600_000

/** The words that were typed. Those in `names` may name resources. */
interface Typed {
  fits: (entry: AuditEntry) => boolean
  names: string[]
}

/**
 * Reads the account's own events of the things that the stories are about or, without stories, that the words name: somebody may search for
 * a thing that Lockkeeper has never changed. Events are read from a day before the oldest entry, because they may be the reason for it.
 * An error of the account API becomes a note.
 */
export async function accountEvents(parts: Parts, stories: Story[], typed: Typed): Promise<{ events: AccountEvent[]; notes: Mrkdwn[] }> {
  const ofStories = resourcesOf(stories, typed, parts)
  const names = ofStories.size > 0 ? ofStories : await findResources(parts, typed.names)
  if (names.size > mostResources) {
    const note = mrkdwn`The account's own events for ${names.size} resources aren't shown: add an address, a name or an id to see them.`
    return { events: [], notes: [note] }
  }
  const times = stories.flatMap(({ entries }) => entries.map(({ at }) => at))
  const since = times.length > 0 ? times.reduce((a, b) => Math.min(a, b)) - dayMs : Date.now() - 30 * dayMs
  const signal = AbortSignal.timeout(readMs)
  const read = await Promise.all(
    [...names].map(async ([targetId, name]) => {
      try {
        const events = await parts.accountApi.events.list({ targetId, since: new Date(since), limit: mostEvents, signal })
        // A server that ignores the filter returns the events of all resources.
        return { name, events: events.flatMap((event) => withTarget(event, targetId) ?? []) }
      } catch (error) {
        const problem = toUserMessage(error)
        if (problem === undefined) throw error
        return { name, events: [], problem }
      }
    }),
  )
  const searched = read.flatMap(({ name, problem }) => (problem === undefined ? [code(name)] : []))
  const failed = read.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [mrkdwn`:warning: Couldn't read the account's own events for ${code(name)}. ${problem}`],
  )
  const note = mrkdwn`Also searched the account's own events for ${joinMrkdwn(searched, ', ')} since ${dateTime(since)}.`
  return { events: read.flatMap(({ events }) => events), notes: [...(searched.length > 0 ? [note] : []), ...failed] }
}

/** Finds the ids of the things that the stories are about, with the name that their newest entry has for each. */
function resourcesOf(stories: Story[], { fits }: Typed, { catalog }: Parts): Map<string, string> {
  const names = new Map<string, string>()
  for (const entry of stories.flatMap(({ entries }) => entries)) {
    const { resource = '', resourceId, causes = [], item } = entry
    // For a request with several items, only the items that were searched for count.
    if (resource === '' || (item !== undefined && !fits(entry))) continue
    // A key that does not exist yet has no id. The entry of its end has it.
    const createdId = resourceId ?? causes.map((cause) => cause.resourceId).find((id) => typeof id === 'string')
    const targetId = resource.startsWith('api_key_name:') ? createdId : resource.slice(resource.indexOf(':') + 1)
    if (targetId !== undefined) names.set(targetId, resourceNameOf(entry, catalog) ?? names.get(targetId) ?? targetId)
  }
  return names
}

/** Finds resources by address, name or id, as far as the account answers in time. */
async function findResources({ inventory }: Parts, typed: string[]): Promise<Map<string, string>> {
  if (typed.length === 0) return new Map()
  const [elasticIps, machines] = await Promise.all([emptyIfLate(inventory.elasticIps()), emptyIfLate(inventory.virtualMachines())])
  const known = [
    ...elasticIps.map(({ id, address }) => ({ id, name: address })),
    ...machines.map(({ id, name }) => ({ id, name: name ?? id })),
  ].filter(({ id, name }) => typed.includes(id) || typed.includes(name))
  // A resource that no longer exists can still have events.
  const ids = typed.filter((word) => /^[a-z]+_[\w-]+$/i.test(word)).map((id) => ({ id, name: id }))
  return new Map((known.length > 0 ? known : ids).map(({ id, name }) => [id, name]))
}

/** Returns an empty list if the read fails or takes too long. */
function emptyIfLate<T>(work: Promise<T[]>): Promise<T[]> {
  const items = asFarAsRead(work).then(
    (read) => read.items,
    () => [],
  )
  return withinOr(readMs / 2, items, [])
}

/** Returns the event with this resource as its target, also if the account shows no target. Returns undefined for another target. */
function withTarget(event: AccountEvent, targetId: string): AccountEvent | undefined {
  const id = event.target?.id ?? targetId
  return id === targetId ? { ...event, target: { name: undefined, ...event.target, id } } : undefined
}
