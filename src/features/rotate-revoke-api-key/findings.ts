import { z } from 'zod'
import { fullAccessFromEverywhere, labelOf } from '../../domain/account/api-key-name.ts'
import { type Words, wordsFrom } from '../../domain/change/finding.ts'
import { RetractedBecause, retractedBecause } from '../../domain/change/retraction.ts'
import { CheckFailed } from '../../domain/errors/errors.ts'
import { formatAge } from '../../domain/text/duration.ts'
import { type Phrase, person, phrase } from '../../domain/text/phrase.ts'

const between = { before: z.string(), now: z.string() }

/** Everything that can prevent a rotation or a revocation, stay unchecked before it, or end it. */
export const KeyFinding = z.discriminatedUnion('code', [
  /** `name`: from an earlier request. Absent if the key was only named by its id. */
  z.object({ code: z.literal('no-key'), keyId: z.string(), name: z.string().optional(), verb: z.enum(['rotate', 'revoke']).optional() }),
  z.object({ code: z.literal('own-key'), verb: z.enum(['rotate', 'revoke']), variable: z.enum(['INFRA_API_KEY', 'INFRA_READ_KEY']) }),

  z.object({ code: z.literal('perhaps-own-key'), name: z.string() }),
  z.object({ code: z.literal('key-unread'), keyId: z.string() }),

  z.object({ code: z.literal('token-stops'), verb: z.enum(['rotate', 'revoke']) }),
  /** Both times count back from the request. `usedAgoMs`: absent if the account shows no use. `creator`: the Slack id of its requester. */
  z.object({
    code: z.literal('key-history'),
    usedAgoMs: z.number().optional(),
    ageMs: z.number().optional(),
    /** Since its last change or rotation. Set only if the account shows no use of the key. */
    changedAgoMs: z.number().optional(),
    creator: z.string().optional(),
  }),
  z.object({ code: z.literal('full-access-from-everywhere') }),
  /** `count`: the number of other keys that people know by this name. */
  z.object({ code: z.literal('same-name'), name: z.string(), lastSlice: z.string().optional(), count: z.number() }),

  z.object({ code: z.literal('token-changed') }),
  z.object({ code: z.literal('key-name-changed'), ...between }),
  z.object({ code: z.literal('access-changed'), ...between }),
  z.object({ code: z.literal('origins-changed'), ...between }),

  z.object({ code: z.literal('key-gone') }),
  z.object({ code: z.literal('not-rotated') }),
  z.object({ code: z.literal('not-revoked') }),
  z.object({ code: z.literal('rotated-unseen') }),
  z.object({ code: z.literal('rotated-after-all') }),
  z.object({ code: z.literal('retracted'), because: RetractedBecause }),
])
export type KeyFinding = z.infer<typeof KeyFinding>

/** Throws CheckFailed with the finding and its words. */
export function refuseKeyChange(finding: KeyFinding): never {
  throw new CheckFailed(finding, keyWords(finding))
}

const requestNew = 'Request a new key.'

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function keyWords(finding: KeyFinding): Words {
  if (finding.code === 'key-history') return wordsFrom(historyWords(finding))
  if (finding.code === 'same-name') return wordsFrom(sameNameWords(finding))
  if (finding.code === 'no-key') return noKeyWords(finding)
  const next = nextAfter(finding)
  return { why: sentenceOf(finding), ...(next === undefined ? {} : { next }) }
}

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter({ code }: KeyFinding): string | undefined {
  switch (code) {
    case 'key-gone':
    case 'rotated-unseen':
    case 'retracted':
      return requestNew
    case 'own-key':
      return 'The people who run Lockkeeper can do that.'
    default:
      return undefined
  }
}

function historyWords({ usedAgoMs, ageMs, changedAgoMs, creator }: Extract<KeyFinding, { code: 'key-history' }>): Phrase {
  const owner = creator === undefined ? [] : phrase`, for ${person(creator)}`
  if (usedAgoMs !== undefined && ageMs !== undefined)
    return phrase`Last used ${[formatAge(usedAgoMs)]} and created ${[before(ageMs)]}${owner}.`
  const since = changedAgoMs === undefined ? '' : ` since it was last changed or rotated, ${before(changedAgoMs)}`
  const used = usedAgoMs === undefined ? [`The account shows no use of it${since}.`] : phrase`Last used ${[before(usedAgoMs)]}.`
  const created = ageMs === undefined ? phrase`Created at an unknown time` : phrase`Created ${[before(ageMs)]}`
  return phrase`${used} ${created}${owner}.`
}

/** People may read it hours later, so it says what the time counts back from. */
function before(ms: number): string {
  return `${formatAge(ms)} before this request`
}

function sameNameWords({ name, lastSlice, count }: Extract<KeyFinding, { code: 'same-name' }>): Phrase {
  const own = lastSlice === undefined ? [] : phrase` This one's token ends in ${lastSlice}.`
  return phrase`${count + 1} API keys are called ${name}.${own}`
}

function noKeyWords({ keyId, name, verb }: Extract<KeyFinding, { code: 'no-key' }>): Words {
  if (name === undefined || verb === undefined)
    return { ...wordsFrom(phrase`No API key ${keyId} on the account.`), next: 'There is nothing left to do.' }
  return verb === 'revoke'
    ? { ...wordsFrom(phrase`API key ${labelOf(name)} was already revoked.`), next: 'There is nothing left to do.' }
    : { ...wordsFrom(phrase`API key ${labelOf(name)} was revoked, so it can't be rotated.`), next: requestNew }
}

function sentenceOf(finding: Exclude<KeyFinding, { code: 'key-history' | 'same-name' | 'no-key' }>): string {
  switch (finding.code) {
    case 'own-key':
      return finding.verb === 'rotate'
        ? `Lockkeeper uses this key, so it can't rotate it. Rotate it in the dashboard and update ${finding.variable}.`
        : `Lockkeeper uses this key, so it can't revoke it. Set another ${finding.variable}, then revoke this key in the dashboard.`
    case 'perhaps-own-key':
      return `whether ${labelOf(finding.name)} is Lockkeeper's own key (the account API doesn't show the end of its token)`
    case 'key-unread':
      return `whether API key ${finding.keyId} exists and isn't Lockkeeper's own (the account API didn't answer)`
    case 'token-stops':
      return finding.verb === 'rotate'
        ? 'The old token stops working as soon as the requester presses Rotate key.'
        : 'The token stops working when the key is revoked, right after the approval.'
    case 'full-access-from-everywhere':
      return fullAccessFromEverywhere
    case 'token-changed':
      return 'Another change rotated the key after this was requested.'
    case 'key-name-changed':
      return `The key was called ${finding.before} when this was requested, and is called ${finding.now} now.`
    case 'access-changed':
      return `The key's access was ${finding.before} when this was requested, and is ${finding.now} now.`
    case 'origins-changed':
      return `The key was usable from ${finding.before} when this was requested, and is usable from ${finding.now} now.`
    case 'key-gone':
      return 'The key is no longer on the account. Either Lockkeeper deleted it because nobody saw its new token, or another change deleted it.'
    case 'not-rotated':
      return "The key wasn't rotated. Its old token still works."
    case 'not-revoked':
      return "The key wasn't revoked. It is still on the account and still works."
    case 'rotated-unseen':
      return 'The key was rotated, so its old token no longer works. Nobody saw the new token, so Lockkeeper deleted the key.'
    case 'rotated-after-all':
      return 'The key was rotated after all, by a late request from Lockkeeper or by another change. Its old token no longer works. Lockkeeper leaves the key as it is. If nobody has the new token, request to rotate or revoke the key.'
    case 'retracted':
      return `The key was rotated, so its old token no longer works. ${retractedBecause[finding.because]}, so Lockkeeper deleted the key at once.`
  }
}
