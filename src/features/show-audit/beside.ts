import type { AccountApi } from '../../account-api/client.ts'
import { asFarAsRead } from '../../account-api/cut-list.ts'
import type { Inventory } from '../../account-api/inventory.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import type { AccountEvent } from '../../domain/account-event.ts'
import { withinOr } from '../../domain/within.ts'
import { toUserMessage } from '../../slack/errors.ts'
import { madeIdOf, targetIdOf } from './judge-events.ts'

/** The account's events of so many things are read. */
const mostThings = 3

/** How long the account may take. */
const readMs = 4_000

export const mostEvents = 100

/** Something whose events stand beside the entries: its id on the account, and what it is called. */
export interface Thing {
  targetId: string
  name: string
}

export interface Beside {
  events: AccountEvent[]
  read: Thing[]
  /** Those with more events than were read. */
  full: Thing[]
  unread: { thing: Thing; sentence: string }[]
}

interface BesideParts {
  accountApi: Pick<AccountApi, 'events'>
  inventory: Pick<Inventory, 'elasticIps' | 'virtualMachines'>
}

/** What entries and words are about, where that is few; `undefined` where it is much. Pure. */
export function thingsOf(entries: AuditEntry[], names: string[]): Thing[] | undefined {
  const things = new Map<string, Thing>()
  for (const entry of entries) {
    const { resource } = entry
    if (resource === undefined) continue
    const targetId = targetIdOf(resource) ?? madeIdOf(entry)
    if (targetId !== undefined) things.set(targetId, { targetId, name: targetId })
  }
  if (things.size <= mostThings) return [...things.values()]
  const named = [...things.values()].filter(({ targetId }) => names.some((name) => name === targetId || name.endsWith(`:${targetId}`)))
  return named.length > 0 && named.length <= mostThings ? named : undefined
}

export function createBeside({ accountApi, inventory }: BesideParts) {
  /** What the words name on the account, by address, name or id: somebody may ask about what the bot has never touched. */
  async function findThings(names: string[]): Promise<Thing[]> {
    if (names.length === 0) return []
    const [elasticIps, machines] = await Promise.all([soon(inventory.elasticIps()), soon(inventory.virtualMachines())])
    const found = [
      ...elasticIps
        .filter(({ id, address }) => names.some((name) => name === id || name === address))
        .map(({ id, address }) => named(id, address)),
      ...machines.filter(({ id, name }) => names.some((one) => one === id || one === name)).map(({ id, name }) => named(id, name)),
    ]
    // What is gone from the account can still have events.
    const ids = names.filter((name) => /^[a-z]+_[\w-]+$/i.test(name))
    return (found.length > 0 ? found : ids.map((id) => named(id))).slice(0, mostThings)
  }

  /** The events of each, newest first. Never throws for an account that does not answer, or says no: the rest is shown without. */
  async function readEvents(things: Thing[], since: Date): Promise<Beside> {
    const signal = AbortSignal.timeout(readMs)
    const beside: Beside = { events: [], read: [], full: [], unread: [] }
    await Promise.all(
      things.map(async (thing) => {
        try {
          const events = await accountApi.events.list({ targetId: thing.targetId, since, limit: mostEvents, signal })
          // A server that takes no notice of the filter tells of everything.
          beside.events.push(...events.flatMap((event) => aboutIt(event, thing) ?? []))
          beside.read.push(thing)
          if (events.length >= mostEvents) beside.full.push(thing)
        } catch (error) {
          const sentence = toUserMessage(error)
          if (sentence === undefined) throw error
          beside.unread.push({ thing, sentence })
        }
      }),
    )
    return beside
  }

  return { findThings, readEvents }
}

/** An event of this thing, also where its target was not told. */
function aboutIt(event: AccountEvent, { targetId }: Thing): AccountEvent | undefined {
  const id = event.target?.id ?? targetId
  return id === targetId ? { ...event, target: { name: undefined, ...event.target, id } } : undefined
}

function named(targetId: string, name: string = targetId): Thing {
  return { targetId, name }
}

/** An account that does not answer names nothing. */
function soon<T>(work: Promise<T[]>): Promise<T[]> {
  return withinOr(
    readMs / 2,
    asFarAsRead(work).then(
      ({ items }) => items,
      () => [],
    ),
    [],
  )
}
