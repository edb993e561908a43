import type { ApiKey } from './api-key.ts'
import { hasInvisible } from './invisible.ts'

/** What people may call a key. The rest of its name is ours, so brackets are not for them. */
const label = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,59}$/u

export function isKeyLabel(text: string): boolean {
  return label.test(text) && !hasInvisible(text)
}

/**
 * The name that a key gets: the account API knows only the bot's own user, so the name carries who asked; and it is unique, so that a
 * key whose creation was not confirmed is found by it. `ci-deploy [U0ADA00001 7f3a9c12ab34]`
 */
export function uniqueKeyName(text: string, askedBy: string, requestId: string): string {
  return `${text} [${askedBy} ${requestId.slice(0, 12)}]`
}

/** What a person called a key, without what was added to it. */
export function labelOf(name: string): string {
  return name.replace(/ \[\S+ [0-9a-f]{12}\]$/, '')
}

/** Slack's id of whoever asked for a key that this bot made, from its name. */
export function askedForBy(key: Pick<ApiKey, 'name'>): string | undefined {
  return / \[([UW][A-Z0-9]{2,}) [0-9a-f]{12}\]$/.exec(key.name ?? '')?.[1]
}

const unusedAfterMs = 90 * 24 * 3_600_000

/** What deserves a look about a key, in words. Pure. `now` in ms since 1970. */
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

/** Keys by what a person typed: an id, or a name (with or without what the bot added to it). Pure. */
export function findKeys(keys: ApiKey[], typed: string): ApiKey[] {
  const byId = keys.filter((key) => key.id === typed)
  if (byId.length > 0) return byId
  const wanted = typed.toLowerCase()
  const exact = keys.filter((key) => key.name?.toLowerCase() === wanted)
  if (exact.length > 0) return exact
  return keys.filter((key) => labelOf(key.name?.toLowerCase() ?? '') === wanted)
}
