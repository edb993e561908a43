import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { deliverText } from '../../outbox/notices.ts'
import { isPassing, later, laterAfter, memberOf, owedMs, passingMs, postOnce } from '../../outbox/once.ts'
import type { Lease, Owed, Settlement } from '../../record/owed.ts'
import { type OwedFacts, open, seal } from '../../redis/sealed.ts'
import { notice } from '../../slack/blocks.ts'
import { type Mrkdwn, ownWords } from '../../slack/text.ts'

/** `to`: a channel, a person, or the channel of the operators. */
const PasskeyMessage = z.object({ id: z.string(), to: z.string(), words: z.string() })

const name = 'passkeys'

/** What a script owes in the same step in which it changes the passkeys. Its signature covers it, so nobody else chooses its words. */
export function owePasskeyMessage({ recordKeyring }: Pick<App, 'recordKeyring'>, to: string, words: Mrkdwn): OwedFacts {
  const id = `${name}-${randomUUID()}`
  return {
    id,
    member: memberOf({ id, name }),
    facts: seal(recordKeyring, 'passkey-message', { id, to, words: words.text }),
    keepMs: owedMs,
    inMs: 0,
  }
}

/** Does not wait for Slack. If this process dies, a tick tells it. */
export function tellNow(app: App, owed: OwedFacts[]): void {
  void Promise.all(owed.map(({ id }) => deliverText(app, { id, name }))).catch(app.errors.of('people'))
}

export async function sendPasskeyMessage(app: App, owed: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const found = open(app.recordKeyring, 'passkey-message', PasskeyMessage, facts)
  if (found.is !== 'genuine' || found.facts.id !== owed.id) return { status: 'dropped' }
  const { to, words } = found.facts
  const channelId = to === 'operators' ? app.config.opsChannel : to
  if (channelId === undefined) return { status: 'dropped' }
  const posted = await postOnce(app, { message: notice(ownWords(words)), place: { channelId, key: `${name}/${owed.id}` }, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  if (posted.is !== 'refused') return laterAfter(posted)
  return to === 'operators' || isPassing(posted.error) ? later(passingMs) : { status: 'dropped' }
}
