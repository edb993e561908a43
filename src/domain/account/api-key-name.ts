import { hasInvisible } from '../text/invisible.ts'
import { owner, type Phrase, phrase } from '../text/phrase.ts'
import type { ApiKey } from './api-key.ts'

/** The part of a key's name that a person chooses. It has no brackets, because they enclose the part that Lockkeeper adds. */
const label = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,59}$/u

export function isKeyLabel(text: string): boolean {
  return label.test(text) && !hasInvisible(text)
}

/**
 * Builds the name of a new key: `ci-deploy [U0ADA00001 7f3a9c12ab34]`. It contains the requester, because the account API knows only
 * Lockkeeper's own user. It is unique, so that a key whose creation was not confirmed can be found by its name.
 */
export function uniqueKeyName(text: string, requesterId: string, requestId: string): string {
  return `${text} [${requesterId} ${requestId.slice(0, 12)}]`
}

/** Returns the part of a key's name that a person chose. */
export function labelOf(name: string): string {
  return name.replace(/ \[\S+ [0-9a-f]{12}\]$/, '')
}

/** Names a key as people know it: `ci-deploy, for @Ada`. Its full name on the account is small print. */
export function keyPhrase(name: string): Phrase {
  const requester = requesterOfKey({ name })
  return requester === undefined ? phrase`${name}` : phrase`${labelOf(name)}${owner(requester)}`
}

/** Returns the Slack user id of the requester from the name of a key. Returns undefined for a key that Lockkeeper did not create. */
export function requesterOfKey(key: Pick<ApiKey, 'name'>): string | undefined {
  return / \[([UW][A-Z0-9]{2,}) [0-9a-f]{12}\]$/.exec(key.name ?? '')?.[1]
}

/** The sentence about a key that may change everything and works from every address. */
export const fullAccessFromEverywhere = 'The key gives full access from any IP.'

const dayMs = 24 * 3_600_000
const unusedAfterMs = 90 * dayMs

/** A key counts as never used only from this age on, because nobody uses a key in the minute of its creation. */
const neverUsedAfterMs = dayMs

/**
 * Lists in words what may be a risk about a key. `now` is in ms since 1970. `isOwn`: Lockkeeper itself uses it, so it is in use whatever the
 * account shows.
 */
export function remarksOn(key: ApiKey, now: number, { isOwn = false } = {}): string[] {
  const lastUsed = key.lastUsedAt === undefined ? undefined : Date.parse(key.lastUsedAt)
  const created = key.createdAt === undefined ? undefined : Date.parse(key.createdAt)
  const remarks = isOwn ? [] : unused(key, lastUsed, now)
  if (created !== undefined && now - created >= 365 * dayMs)
    remarks.push(`${Math.floor((now - created) / (365 * dayMs))} years old`.replace(/^1 years/, '1 year'))
  if (key.readOnly === false && key.allowedIps?.length === 0) remarks.push('full access from any IP')
  return remarks
}

function unused(key: ApiKey, lastUsed: number | undefined, now: number): string[] {
  if (lastUsed !== undefined) return now - lastUsed >= unusedAfterMs ? [`unused for ${Math.floor((now - lastUsed) / dayMs)} days`] : []
  return isFresh(key, now) ? [] : ['never used']
}

/** Whether the key was made or changed within a day. A rotation counts as a change, and the account then shows no use of the key. */
export function isFresh({ createdAt, updatedAt }: Pick<ApiKey, 'createdAt' | 'updatedAt'>, now: number): boolean {
  return [createdAt, updatedAt].some((at) => at !== undefined && now - Date.parse(at) < neverUsedAfterMs)
}

/**
 * Finds keys by an id or a name that a person typed. The name may lack the part that Lockkeeper added, so a key that Lockkeeper created and
 * another one can have the same name for people.
 */
export function findKeys(keys: ApiKey[], typed: string): ApiKey[] {
  const byId = keys.filter((key) => key.id === typed)
  if (byId.length > 0) return byId
  const wanted = typed.toLowerCase()
  return keys.filter(({ name }) => name !== undefined && [name, labelOf(name)].some((each) => each.toLowerCase() === wanted))
}
