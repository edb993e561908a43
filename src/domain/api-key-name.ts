import type { ApiKey } from './api-key.ts'
import { hasInvisible } from './invisible.ts'

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

/** Returns the Slack user id of the requester from the name of a key. Returns undefined for a key that Lockkeeper did not create. */
export function requesterOfKey(key: Pick<ApiKey, 'name'>): string | undefined {
  return / \[([UW][A-Z0-9]{2,}) [0-9a-f]{12}\]$/.exec(key.name ?? '')?.[1]
}

/** The sentence about a key that may change everything and works from every address. */
export const fullAccessFromEverywhere = 'The key gives full access from any address.'

const unusedAfterMs = 90 * 24 * 3_600_000

/** Lists in words what may be a risk about a key. `now` is in ms since 1970. */
export function remarksOn(key: ApiKey, now: number): string[] {
  const lastUsed = key.lastUsedAt === undefined ? undefined : Date.parse(key.lastUsedAt)
  const created = key.createdAt === undefined ? undefined : Date.parse(key.createdAt)
  const remarks: string[] = []
  if (lastUsed === undefined) remarks.push('never used')
  else if (now - lastUsed >= unusedAfterMs) remarks.push(`unused for ${Math.floor((now - lastUsed) / 86_400_000)} days`)
  if (created !== undefined && now - created >= 365 * 86_400_000)
    remarks.push(`${Math.floor((now - created) / (365 * 86_400_000))} years old`.replace(/^1 years/, '1 year'))
  if (key.readOnly === false && key.allowedIps?.length === 0) remarks.push('full access from everywhere')
  return remarks
}

/** Finds keys by an id or a name that a person typed. The name may lack the part that Lockkeeper added. */
export function findKeys(keys: ApiKey[], typed: string): ApiKey[] {
  const byId = keys.filter((key) => key.id === typed)
  if (byId.length > 0) return byId
  const wanted = typed.toLowerCase()
  const exact = keys.filter((key) => key.name?.toLowerCase() === wanted)
  if (exact.length > 0) return exact
  return keys.filter((key) => labelOf(key.name?.toLowerCase() ?? '') === wanted)
}
