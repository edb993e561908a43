import { throwIfOld } from '../../account-api/lists/cut-list.ts'
import { leftOutOf } from '../../account-api/lists/left-out.ts'
import { type ApiKey, type OwnLastSlices, ownVariableOf } from '../../domain/account/api-key.ts'
import { findKeys, labelOf } from '../../domain/account/api-key-name.ts'
import { UnknownName } from '../../domain/errors/errors.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { type Candidate, candidatesOf, offer } from '../../slack/blocks/picker.ts'
import type { Choices } from '../../slack/commands/handlers.ts'
import { Refusal } from '../../slack/errors.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** The keys of one name that are listed with their commands. */
const mostListed = 10

/**
 * Returns the id of the key that a person typed. Throws UnknownName if no key fits. If more than one does, throws a Refusal with the whole command
 * for each. `commandFor`: the command with this id.
 */
export function chooseKey(keys: ApiKey[], typed: string, commandFor: (id: string) => Mrkdwn): string {
  const [only, ...others] = findKeys(keys, typed)
  if (!only) throwIfOld(leftOutOf(keys))
  if (!only) throw new UnknownName('API key', typed)
  if (others.length === 0) return only.id
  const all = [only, ...others]
  const lines = all
    .slice(0, mostListed)
    .map(({ id, name, tokenLastSlice = '?' }) => mrkdwn`•  Token ends in ${code(tokenLastSlice)} (${name ?? id}): ${commandFor(id)}`)
  const more = all.length > mostListed ? [mrkdwn`${all.length - mostListed} more aren't listed.`] : []
  const first = mrkdwn`${all.length} API keys are called ${code(truncate(typed, 80, 'plain'))}. Nothing was requested. Copy the command for the one that you mean:`
  throw new Refusal(joinMrkdwn([first, ...lines, ...more], '\n'))
}

/** Offers the keys, except Lockkeeper's own, which it refuses to change. */
export function keyChoices(keys: ApiKey[], typed: string, { own, missing }: { own: OwnLastSlices; missing?: Missing }): Choices {
  const candidates = [...keyCandidates(keys)].filter(([key]) => !ownVariableOf(key, own))
  return offer(
    candidates.map(([, candidate]) => candidate),
    typed,
    missing,
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
