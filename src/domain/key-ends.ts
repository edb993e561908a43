import { type KeyName, parseKeyName } from './account.ts'
import type { Keyring } from './signing.ts'

const minuteMs = 60_000
const dayMs = 24 * 3_600_000

/** The account may show another time of creation than the one that was signed, by this much: its clock is another one. */
const clockOffMinutes = 2

/** Names have room for the minute of an end. */
export function wholeMinute(at: number): number {
  return Math.ceil(at / minuteMs) * minuteMs
}

/** Up to ten years: longer ends protect nobody. */
export const shortestEndMs = minuteMs
export const longestEndMs = 3_650 * dayMs

type Macs = Pick<Keyring, 'shortMacs'>

function contentOf({ requester, request, end }: KeyName, team: string, minute: number) {
  return { signed: 'key-end', team, request, requester, end, created: minute }
}

/** Signs the end of a key that was created at this time, or is created now. `team`: the id of the workspace. */
export function signEnd({ shortMacs }: Macs, key: Omit<KeyName, 'mac'> & { end: number }, team: string, createdAt: number): KeyName {
  return { ...key, mac: shortMacs(contentOf(key, team, Math.floor(createdAt / minuteMs)))[0] }
}

interface ListedKey {
  id: string
  name?: string
  createdAt?: string
}

/** A name that says when a key ends. `isGenuine`: Lockkeeper gave it to this key, and no other key has the same. */
export interface NamedEnd extends KeyName {
  end: number
  isGenuine: boolean
}

/** Reads what the names of keys say about their ends. A name can be copied to another key: then neither is genuine. */
export function namedEnds({ shortMacs }: Macs, keys: ListedKey[], team: string): Map<string, NamedEnd> {
  const named = keys.flatMap(({ id, name, createdAt }) => {
    const read = parseKeyName(name)
    return read?.end === undefined ? [] : [{ id, createdAt, read: { ...read, end: read.end } }]
  })
  const bearers = Map.groupBy(named, ({ read }) => read.mac)
  const isSigned = (read: KeyName, createdAt: string | undefined) => {
    // Not a number: the account does not show when it was created.
    const at = Date.parse(createdAt ?? '') / minuteMs
    const [first, last] = [Math.ceil(at) - clockOffMinutes, Math.floor(at) + clockOffMinutes]
    const minutes = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    return minutes.some((minute) => shortMacs(contentOf(read, team, minute)).some((mac) => mac === read.mac))
  }
  return new Map(
    named.map(({ id, createdAt, read }) => [id, { ...read, isGenuine: bearers.get(read.mac)?.length === 1 && isSigned(read, createdAt) }]),
  )
}

/** The owner is called this long before the end, unless the key got its end later than that. */
export const callsBefore = [
  { call: '7d', ms: 7 * dayMs },
  { call: '1d', ms: dayMs },
] as const
export type Call = (typeof callsBefore)[number]['call']

/** The last call that is due. Earlier ones are too late. `since`: when the key got this end. All times in ms since 1970. */
export function callDue({ end, since }: { end: number; since: number }, now: number): Call | undefined {
  const due = callsBefore.filter(({ ms }) => end - ms > since && now >= end - ms)
  return now < end ? due.at(-1)?.call : undefined
}
