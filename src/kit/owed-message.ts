import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { isPassing, later, laterAfter, memberOf, owedMs, passingMs, postOnce } from '../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { type OwedFacts, open, seal } from '../redis/sealed.ts'
import { message, sectionWithButton, wholeSection } from '../slack/blocks.ts'
import { itemButton } from '../slack/table.ts'
import { ownWords } from '../slack/text.ts'

/** A button that opens the form of a change, filled with the item that it names. */
const ItemButton = z.object({ label: z.string(), of: z.string(), kind: z.string(), id: z.string(), text: z.string() })

/** A message about no request. Its signature covers it, so nobody else chooses its words. */
const OwedMessage = z.object({
  id: z.string(),
  /** A channel or a person. Absent: the channel of the operators. */
  to: z.string().optional(),
  words: z.string(),
  items: z.array(z.object({ words: z.string(), button: ItemButton.optional() })).default([]),
})
export type OwedMessage = Omit<z.input<typeof OwedMessage>, 'id'>

/** What a script owes in the same step as what the message is about. `name`: that of its sender. */
export function owedMessage({ recordKeyring }: Pick<App, 'recordKeyring'>, name: string, content: OwedMessage): OwedFacts {
  const id = `${name}-${randomUUID()}`
  const facts = seal(recordKeyring, 'operator-message', { id, ...content })
  return { id, member: memberOf({ id, name }), facts, keepMs: owedMs, inMs: 0 }
}

/** The sender of an ability that owes such messages. Nobody gets what Lockkeeper did not sign. */
export async function sendOwedMessage(app: App, { id, name }: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const found = open(app.recordKeyring, 'operator-message', OwedMessage, facts)
  if (found.is !== 'genuine' || found.facts.id !== id) return { status: 'dropped' }
  const { to, words, items } = found.facts
  const channelId = to ?? app.config.opsChannel
  if (channelId === undefined) return { status: 'dropped' }
  const listed = items.flatMap(({ words: each, button: action }) => {
    const [opens] = action ? itemButton({ ...action, style: 'danger' }, { id: action.id, text: action.text }) : []
    return opens ? [sectionWithButton(ownWords(each), opens)] : wholeSection(ownWords(each))
  })
  const whole = message([...wholeSection(ownWords(words)), ...listed])
  const posted = await postOnce(app, { message: whole, place: { channelId, key: `${name}/${id}` }, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  if (posted.is !== 'refused') return laterAfter(posted)
  // The operators may invite Lockkeeper to their channel later.
  return to === undefined || isPassing(posted.error) ? later(passingMs) : { status: 'dropped' }
}
