import type { ApiKey } from '../../domain/account/api-key.ts'
import { findKeys, labelOf } from '../../domain/account/api-key-name.ts'
import { UnknownName, UserError } from '../../domain/errors/errors.ts'
import { someOf } from '../../domain/text/some-of.ts'
import { type Candidate, candidatesOf, offer } from '../../slack/blocks/picker.ts'
import type { Choices } from '../../slack/commands/handlers.ts'

/** Returns the id of the key that a person typed. Throws UnknownName if no key fits, and UserError if more than one does. */
export function chooseKey(keys: ApiKey[], typed: string): string {
  const [only, ...others] = findKeys(keys, typed)
  if (!only) throw new UnknownName('API key', typed)
  if (others.length === 0) return only.id
  const list = [only, ...others].map((key) => `${key.id} (${key.name}, ends in ${key.tokenLastSlice ?? '?'})`)
  throw new UserError(`${others.length + 1} API keys are called ${typed}: ${someOf(list)}. Use the id.`)
}

/** Offers the keys, except Lockkeeper's own, which it refuses to change. */
export function keyChoices(keys: ApiKey[], typed: string, ownLastSlice: string): Choices {
  const candidates = [...keyCandidates(keys)].filter(([key]) => key.tokenLastSlice !== ownLastSlice)
  return offer(
    candidates.map(([, candidate]) => candidate),
    typed,
  )
}

const keyCandidates = candidatesOf(keyCandidate)

/** Several keys can have the same name, so the small print has the end of the token and the id. */
function keyCandidate({ id, name, tokenLastSlice, user }: ApiKey): Candidate {
  const parts = [tokenLastSlice === undefined ? undefined : `ends in ${tokenLastSlice}`, user?.email, name === undefined ? undefined : id]
  return {
    value: id,
    text: name === undefined ? id : labelOf(name),
    description: parts.filter((part) => part !== undefined).join('  ·  '),
    terms: [name],
  }
}
