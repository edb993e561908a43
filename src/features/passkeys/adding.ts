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

const Adding = z.object({ passkey: Passkey })
type Adding = z.infer<typeof Adding>

const known = findings({
  'has-passkey': finding(
    { count: z.number() },
    ({ count }) => `They already have ${count === 1 ? 'one' : count}. Ask them in person or by phone.`,
  ),
  'ask-first': finding('Ask them in person or by phone: a stolen session can request this, too.'),
  'no-room': finding('They have as many passkeys as they may, or Lockkeeper no longer believes the record of passkeys.'),
})

export function addPasskeyChange(app: App): Change<Adding, Adding> {
  return {
    kind: addingKind,
    label: 'adding a passkey',
    input: Adding,
    facts: Adding,
    resource: ({ passkey }) => `passkey:${hash('sha256', passkey.id).slice(0, 16)}`,
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
