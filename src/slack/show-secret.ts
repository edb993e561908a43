import type { KnownBlock } from '@slack/web-api'
import type { Secret } from '../domain/secret.ts'
import { context, message, wholeSection } from './blocks.ts'
import type { Messenger } from './messenger.ts'
import type { Respond } from './response-url.ts'
import { type Mrkdwn, mrkdwn, ownWords } from './text.ts'

export interface SecretPlace {
  responseUrl: string | undefined
  channelId: string
  userId: string
}

/** The same ephemeral again does no harm: it goes to the same person. */
const tries = 3

/**
 * Shows a secret to one person, once, in answer to their click: the one function through which a token leaves this process. Nothing
 * clickable stands beside it, since clicks carry messages back. `undelivered`: it may have been seen or not, and counts as not.
 */
export function createShowSecret({ respond, messenger }: { respond: Respond; messenger: Pick<Messenger, 'whisper'> }) {
  return async function showSecret(
    place: SecretPlace,
    words: { heading: Mrkdwn; note: Mrkdwn },
    secret: Secret,
  ): Promise<'shown' | 'undelivered'> {
    const blocks: KnownBlock[] = [
      ...wholeSection(words.heading),
      ...wholeSection(ownWords(`\`\`\`${secret.reveal()}\`\`\``)),
      ...context([words.note]),
    ]
    // Notifications show the text, so the secret is not in it.
    const shown = message({ text: mrkdwn`${words.heading} It stands in this message, for you alone.`, blocks })
    for (let attempt = 0; attempt < tries && place.responseUrl; attempt += 1) {
      const answered = await respond(place.responseUrl, shown)
      if (answered.is === 'sent') return 'shown'
      if (answered.is === 'refused') break
    }
    const whispered = await messenger.whisper(place, shown)
    return whispered.is === 'sent' ? 'shown' : 'undelivered'
  }
}
export type ShowSecret = ReturnType<typeof createShowSecret>
