import { hash } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import type { Change } from '../../domain/change.ts'
import { owner, phrase } from '../../domain/text.ts'
import { finding, findings } from '../../kit/findings.ts'
import { code, mention, mrkdwn } from '../../slack/text.ts'
import { owePasskeyMessage } from './messages.ts'
import { changePasskeys, mostPasskeys, Passkey, passkeysOf, readPasskeys, withOne } from './record.ts'

/** A person adds a passkey, and another approver confirms that with their own, whatever the rules say. */
export const addingKind = 'passkey.add'
/** Another approver confirms with their own that somebody else's passkey goes. */
export const removingKind = 'passkey.remove'

const Adding = z.object({ passkey: Passkey })
type Adding = z.infer<typeof Adding>

const known = findings({
  'has-passkey': finding(
    { count: z.number() },
    ({ count }) => `They already have ${count === 1 ? 'one' : count}. Ask them in person or by phone.`,
  ),
  'ask-first': finding('Ask them in person or by phone: a stolen session can request this, too.'),
  gone: finding('This passkey is gone, or Lockkeeper no longer trusts the record of passkeys.'),
  'no-room': finding('They have the most passkeys that one person can have, or Lockkeeper no longer trusts the record of passkeys.'),
})

export function addPasskeyChange(app: App): Change<Adding, Adding> {
  return {
    kind: addingKind,
    label: 'adding a passkey',
    input: Adding,
    facts: Adding,
    resource: ({ passkey }) => `passkey:${shortOf(passkey)}`,
    subject: ({ passkey }) => passkey.name,
    async preflight({ passkey }) {
      const { distrust, passkeys } = await readPasskeys(app)
      const count = passkeysOf({ passkeys }, passkey.by).length
      if (distrust || count >= mostPasskeys) known.refuse({ code: 'no-room' })
      const warnings = [count === 0 ? { code: 'ask-first' } : { code: 'has-passkey', count }]
      return { facts: { passkey }, unchecked: [], warnings, incomplete: false }
    },
    differences: () => [],
    explain: known.explain,
    describe: ({ passkey: { name, by, id } }) => ({
      title: phrase`Add passkey ${name}${owner(by)}`,
      facts: [{ label: 'Key', value: id.slice(0, 12) }],
      ids: [],
      underway: 'being added',
    }),
    async send({ passkey }) {
      const words = mrkdwn`:key: ${mention(passkey.by)} has a new passkey, ${code(passkey.name)}. Another approver confirmed it.`
      const owes = [owePasskeyMessage(app, 'operators', words)]
      await changePasskeys(app, (all) => withOne(all, passkey), { act: 'passkey-add', by: passkey.by, text: passkey.name }, { owes })
      return 'tracking'
    },
    async observe({ passkey }) {
      const isThere = passkeysOf(await readPasskeys(app), passkey.by).some(({ id }) => id === passkey.id)
      return isThere ? { is: 'done' } : { is: 'not-started', cause: { code: 'no-room' } }
    },
    doneSentence: ({ passkey: { name, by } }) => phrase`Added passkey ${name}${owner(by)}.`,
  }
}

const Removing = z.object({ passkey: Passkey.pick({ id: true, by: true, name: true }), requestedBy: z.string() })
type Removing = z.infer<typeof Removing>

export function removePasskeyChange(app: App): Change<Removing, Removing> {
  const isThere = async ({ passkey }: Removing) => (await readPasskeys(app)).passkeys.some(isSame(passkey))
  return {
    kind: removingKind,
    label: 'removing a passkey',
    input: Removing,
    facts: Removing,
    resource: ({ passkey }) => `passkey:${shortOf(passkey)}`,
    subject: ({ passkey }) => passkey.name,
    async preflight(input) {
      if (!(await isThere(input))) known.refuse({ code: 'gone' })
      return { facts: input, unchecked: [], warnings: [], incomplete: false }
    },
    differences: () => [],
    explain: known.explain,
    describe: ({ passkey: { name, by, id } }) => ({
      title: phrase`Remove passkey ${name}${owner(by)}`,
      facts: [
        { label: 'Of', value: by, isPerson: true },
        { label: 'Key', value: id.slice(0, 12) },
      ],
      ids: [],
      underway: 'being removed',
    }),
    async send({ passkey, requestedBy }) {
      const words = mrkdwn`:key: The passkey ${code(passkey.name)} of ${mention(passkey.by)} was removed, as ${mention(requestedBy)} requested. Another approver confirmed it.`
      const owes = [passkey.by, 'operators'].map((to) => owePasskeyMessage(app, to, words))
      const next = (all: Passkey[]) => (all.some(isSame(passkey)) ? all.filter((each) => !isSame(passkey)(each)) : undefined)
      await changePasskeys(app, next, { act: 'passkey-remove', by: requestedBy, text: passkey.name }, { owes })
      return 'tracking'
    },
    async observe(input) {
      return (await isThere(input)) ? { is: 'not-started', cause: { code: 'gone' } } : { is: 'done' }
    },
    doneSentence: ({ passkey: { name, by } }) => phrase`Removed passkey ${name}${owner(by)}.`,
  }
}

const isSame =
  ({ id, by }: Pick<Passkey, 'id' | 'by'>) =>
  (each: Pick<Passkey, 'id' | 'by'>) =>
    each.id === id && each.by === by

/** A button carries an opaque id, and an id of a passkey can have 1,000 characters. */
export function shortOf({ id }: Pick<Passkey, 'id'>): string {
  return hash('sha256', id).slice(0, 16)
}
