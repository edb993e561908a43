import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../app.ts'
import { later, laterAfter, memberOf, owedMs, passingMs, postOnce } from '../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { type OwedFacts, open, seal } from '../redis/sealed.ts'
import { message, sectionWithButton, wholeSection } from '../slack/blocks.ts'
import { itemButton } from '../slack/table.ts'
import { ownWords } from '../slack/text.ts'

/** A button that opens the form of a change, filled with the item that it names. */
const ItemButton = z.object({ label: z.string(), of: z.string(), kind: z.string(), id: z.string(), text: z.string() })

/** A message to the operators with buttons. Its signature covers it, so nobody else chooses its words. */
const OperatorMessage = z.object({
  id: z.string(),
  words: z.string(),
  items: z.array(z.object({ words: z.string(), button: ItemButton.optional() })).default([]),
})
export type OperatorMessage = Omit<z.infer<typeof OperatorMessage>, 'id'>

/** What a script owes in the same step as what the message is about. `name`: that of its sender. */
export function owedToOperators({ recordKeyring }: Pick<App, 'recordKeyring'>, name: string, content: OperatorMessage): OwedFacts {
  const id = `${name}-${randomUUID()}`
  const facts = seal(recordKeyring, 'operator-message', { id, ...content })
  return { id, member: memberOf({ id, name }), facts, keepMs: owedMs, inMs: 0 }
}

/** The sender of an ability that owes such messages. Nobody gets what Lockkeeper did not sign. */
export async function sendToOperators(app: App, { id, name }: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const found = open(app.recordKeyring, 'operator-message', OperatorMessage, facts)
  const channelId = app.config.opsChannel
  if (found.is !== 'genuine' || found.facts.id !== id || channelId === undefined) return { status: 'dropped' }
  const { words, items } = found.facts
  const listed = items.flatMap(({ words: each, button: action }) => {
    const [opens] = action ? itemButton({ ...action, style: 'danger' }, { id: action.id, text: action.text }) : []
    return opens ? [sectionWithButton(ownWords(each), opens)] : wholeSection(ownWords(each))
  })
  const whole = message([...wholeSection(ownWords(words)), ...listed])
  const posted = await postOnce(app, { message: whole, place: { channelId, key: `${name}/${id}` }, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  return posted.is === 'refused' ? later(passingMs) : laterAfter(posted)
}
