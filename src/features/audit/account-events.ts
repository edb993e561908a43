import type { AccountEvent } from '../../account/objects.ts'
import type { App } from '../../app.ts'
import type { AuditEntry } from '../../audit/chain.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mrkdwn, nameWords } from '../../slack/text.ts'
import type { Story } from './stories.ts'
import { resourceNameOf } from './words.ts'

const mostResources = 3
const mostEvents = 100
const readMs = 4_000
const dayMs = 24 * 3_600_000

/** Events of the day before the oldest entry may be the reason for it. `fits`: whether an entry was searched for. */
export async function accountEvents(
  app: App,
  stories: Story[],
  fits: (entry: AuditEntry) => boolean,
): Promise<{ events: AccountEvent[]; notes: Mrkdwn[] }> {
  const names = resourcesOf(app, stories, fits)
  if (names.size > mostResources) {
    const note = mrkdwn`The account's own events for ${names.size} resources aren't shown: add an address, a name or an id to see them.`
    return { events: [], notes: [note] }
  }
  const times = stories.flatMap(({ entries }) => entries.map(({ at }) => at))
  const since = times.reduce((a, b) => Math.min(a, b), times[0] ?? Date.now()) - dayMs
  const read = await Promise.all([...names].map(([id, name]) => readEvents(app, { id, name, since })))
  const searched = read.flatMap(({ events, name }) => (events ? [nameWords(name)] : []))
  const note = mrkdwn`Also searched the account's own events for ${joinMrkdwn(searched, ', ')} since ${dateTime(since)}.`
  return {
    events: read.flatMap(({ events = [] }) => events),
    notes: [...(searched.length > 0 ? [note] : []), ...read.flatMap(({ problem }) => problem ?? [])],
  }
}

async function readEvents(
  { account }: App,
  { id, name, since }: { id: string; name: string; since: number },
): Promise<{ name: string; events?: AccountEvent[]; problem?: Mrkdwn }> {
  try {
    const signal = AbortSignal.timeout(readMs)
    const events = await account.events.list({ targetId: id, since: new Date(since), limit: mostEvents, signal })
    const named = events.map((event) => ({ ...event, target: { name: undefined, ...event.target, id: event.target?.id ?? id } }))
    // A server that ignores the filter returns the events of all resources.
    return { name, events: named.filter(({ target }) => target.id === id) }
  } catch (error) {
    const why = toUserMessage(error)
    if (why === undefined) throw error
    return { name, problem: mrkdwn`:warning: Couldn't read the account's own events for ${nameWords(name)}. ${why}` }
  }
}

/** Finds the ids of the things that the stories are about, with the name that their newest entry has for each. */
function resourcesOf({ catalog }: App, stories: Story[], fits: (entry: AuditEntry) => boolean): Map<string, string> {
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
