import { z } from 'zod'
import type { App } from '../../app.ts'
import type { Change, Finding } from '../../domain/change.ts'
import { owner, type Phrase, person, phrase } from '../../domain/text.ts'
import { finding, findings } from '../../kit/findings.ts'
import { whoConfirms } from '../../rights/confirmation.ts'
import { code, type Mrkdwn, mention, mrkdwn } from '../../slack/text.ts'
import { keyOf, withKey } from './links.ts'
import { changePasskeys, isIn, mostPasskeys, Passkey, passkeysOf, readPasskeys, withOne, withoutOne } from './record.ts'

/** Another approver confirms these with a passkey of their own, whatever the rules say. */
export const changeKinds = ['passkey.add', 'passkey.remove'] as const

/** A person adds one of their own, or somebody requests that another's is removed. */
export const Wanted = z.object({ passkey: Passkey, requestedBy: z.string() })
type Wanted = z.infer<typeof Wanted>

const known = findings({
  'has-passkey': finding(
    { count: z.number(), by: z.string() },
    ({ count, by }) =>
      phrase`${person(by)} already has ${[count === 1 ? 'a passkey' : `${count} passkeys`]}. Ask them in person or by phone which key their page shows.`,
  ),
  'ask-first': finding(
    { by: z.string() },
    ({ by }) => phrase`Ask ${person(by)} in person or by phone which key their page shows: a stolen session can request this, too.`,
  ),
  'only-passkey': finding("It is their only one. They can't confirm approvals until they have another."),
  'too-few-left': finding(
    { rule: z.string(), left: z.number(), needed: z.number() },
    ({ rule, left, needed }) => phrase`Rule ${rule} then has ${left} with a passkey, and needs ${needed} besides the requester.`,
  ),
  'ends-approvals': finding('What it approved ends, unless it was sent.'),
  gone: finding('This passkey is gone, or Lockkeeper no longer trusts the record of passkeys.'),
  'no-room': finding('They have the most passkeys that one person can have, or Lockkeeper no longer trusts the record of passkeys.'),
})

export function addPasskeyChange(app: App): Change<Wanted, Wanted> {
  return passkeyChange(app, {
    verb: ['add', 'Add', 'Added', 'adding'],
    async check({ by }) {
      const count = passkeysOf(await readPasskeys(app), by).length
      if (count >= mostPasskeys) known.refuse({ code: 'no-room' })
      return [count === 0 ? { code: 'ask-first', by } : { code: 'has-passkey', count, by }]
    },
    next: withOne,
    isDone: isIn,
    missed: { code: 'no-room' },
    told: ({ passkey }) =>
      mrkdwn`:key: ${mention(passkey.by)} has a new passkey, ${code(withKey(passkey))}. Another approver confirmed it.`,
  })
}

export function removePasskeyChange(app: App): Change<Wanted, Wanted> {
  return passkeyChange(app, {
    verb: ['remove', 'Remove', 'Removed', 'removing'],
    isUnheld: true,
    async check(passkey) {
      const found = await readPasskeys(app)
      if (!isIn(found.passkeys, passkey)) known.refuse({ code: 'gone' })
      return [...(passkeysOf(found, passkey.by).length === 1 ? await missedWithout(app, passkey.by) : []), { code: 'ends-approvals' }]
    },
    next: withoutOne,
    isDone: (all, passkey) => !isIn(all, passkey),
    missed: { code: 'gone' },
    told: ({ passkey, requestedBy }) =>
      mrkdwn`:key: The passkey ${code(withKey(passkey))} of ${mention(passkey.by)} was removed, as ${mention(requestedBy)} requested. Another approver confirmed it.`,
  })
}

/** What approvers can't do anymore without a person's only passkey. */
async function missedWithout(app: App, userId: string): Promise<Finding[]> {
  const rules = (await whoConfirms(app)).filter(({ able, needed }) => able.includes(userId) && able.length - 1 <= needed)
  const tooFew = rules.map(({ rule, needed, able }) => ({ code: 'too-few-left', rule: rule.name, left: able.length - 1, needed }))
  return [{ code: 'only-passkey' }, ...tooFew]
}

/** How the two kinds of change differ. */
interface Differing {
  verb: ['add', 'Add', 'Added', 'adding'] | ['remove', 'Remove', 'Removed', 'removing']
  isUnheld?: true | undefined
  /** Returns what approvers check first. Refuses what cannot be. */
  check: (passkey: Passkey) => Promise<Finding[]>
  /** Undefined if there is nothing to do. */
  next: (all: Passkey[], passkey: Passkey) => Passkey[] | undefined
  isDone: (all: Passkey[], passkey: Passkey) => boolean
  missed: Finding
  told: (wanted: Wanted) => Mrkdwn
}

function passkeyChange(app: App, { verb, isUnheld, check, next, isDone, missed, told }: Differing): Change<Wanted, Wanted> {
  const [word, imperative, past, gerund] = verb
  const whatOf = ({ passkey }: Wanted, key = ''): Phrase => [' passkey ', ...phrase`${passkey.name}${[key]}${owner(passkey.by)}`]
  return {
    kind: `passkey.${word}`,
    hasNoForm: true,
    isUnheld,
    label: `${gerund} a passkey`,
    input: Wanted,
    facts: Wanted,
    resource: ({ passkey }) => `passkey:${keyOf(passkey)}`,
    subject: ({ passkey }) => passkey.name,
    preflight: async (wanted) => ({ facts: wanted, unchecked: [], warnings: await check(wanted.passkey), incomplete: false }),
    differences: () => [],
    explain: known.explain,
    describe: (wanted) => ({
      // The dialog of *Approve* hides the message, and shows the title.
      title: [imperative, ` passkey ${keyOf(wanted.passkey)}`, owner(wanted.passkey.by)],
      facts: [
        { label: 'Called', value: wanted.passkey.name },
        { label: 'Owner', value: wanted.passkey.by, isPerson: true },
      ],
      ids: [],
      underway: `being ${past.toLowerCase()}`,
    }),
    async send(wanted) {
      const { requestedBy, passkey } = wanted
      const note = { act: `passkey-${word}`, by: requestedBy, text: withKey(passkey) } as const
      await changePasskeys(app, (all) => next(all, passkey), note, { words: told(wanted), to: [passkey.by] })
      return 'tracking'
    },
    async observe({ passkey }) {
      return isDone((await readPasskeys(app)).passkeys, passkey) ? { is: 'done' } : { is: 'not-started', cause: missed }
    },
    doneSentence: (wanted) => [past, ...whatOf(wanted), '.'],
  }
}
