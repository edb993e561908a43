import { z } from 'zod'
import { fullAccessFromEverywhere } from '../../domain/account/api-key-name.ts'
import { namesakesAre } from '../../domain/account/namesakes.ts'
import { type Words, wordsFrom } from '../../domain/change/finding.ts'
import { RetractedBecause, retractedBecause } from '../../domain/change/retraction.ts'
import { CheckFailed } from '../../domain/errors/errors.ts'
import { type Phrase, phrase } from '../../domain/text/phrase.ts'

/** The id of the key on the account. The audit finds the account's own events by it. */
const resourceId = z.string()

/** Everything that can prevent a new key, remain unchecked before it, or end its request. */
export const NewKeyFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('name-taken'), name: z.string() }),
  /** Other keys that people know by the same name: their number, and up to three of them as lists show them. */
  z.object({ code: z.literal('same-name'), name: z.string(), others: z.array(z.string()), count: z.number() }),
  z.object({ code: z.literal('keys-unread') }),
  z.object({ code: z.literal('full-access-from-everywhere') }),
  z.object({ code: z.literal('created-unseen'), resourceId }),
  z.object({ code: z.literal('no-such-key') }),
  z.object({ code: z.literal('retracted'), resourceId, because: RetractedBecause }),
])
export type NewKeyFinding = z.infer<typeof NewKeyFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseNewKey(finding: NewKeyFinding): never {
  throw new CheckFailed(finding, newKeyWords(finding))
}

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function newKeyWords(finding: NewKeyFinding): Words {
  const sentence = sentenceOf(finding)
  return typeof sentence === 'string' ? { why: sentence } : wordsFrom(sentence)
}

function sentenceOf(finding: NewKeyFinding): string | Phrase {
  switch (finding.code) {
    case 'name-taken':
      return `An API key called ${finding.name} already exists.`
    case 'same-name':
      return phrase`${namesakesAre(finding, { one: 'API key', many: 'API keys' })} already called ${finding.name}.`
    case 'keys-unread':
      return "whether such a key already exists (the account API didn't answer)"
    case 'full-access-from-everywhere':
      return fullAccessFromEverywhere
    case 'created-unseen':
      return `Nobody saw the token of the created key (${finding.resourceId}), so Lockkeeper deleted it.`
    case 'no-such-key':
      return "No key of that name is on the account. It wasn't created, or it's already deleted. If it appears later, Lockkeeper deletes it."
    case 'retracted':
      return `The key was created (${finding.resourceId}). ${retractedBecause[finding.because]}, so Lockkeeper deleted the key at once.`
  }
}
