import type { KnownBlock } from '@slack/web-api'
import type { Secret } from '../../domain/signing/secret.ts'
import { context, wholeSection } from '../blocks/blocks.ts'
import { message } from '../blocks/message.ts'
import { type Mrkdwn, mrkdwn, ownWords } from '../text/text.ts'
import type { Messenger } from './messenger.ts'
import type { Respond } from './response-url.ts'

interface SecretPlace {
  responseUrl: string | undefined
  channelId: string
  userId: string
}

/** A repeated ephemeral message does no harm: only the same person sees it. */
const maxAttempts = 3

/**
 * Shows a secret to one person, once, in answer to their click. No other function sends a token out of this process. The message has no
 * buttons, because a click would send the message, and with it the secret, back. `undelivered`: they may have seen it, but it counts as
 * not seen.
 */
export function createShowSecret({ respond, messenger }: { respond: Respond; messenger: Pick<Messenger, 'postEphemeral'> }) {
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
    // Notifications show the text, so it must not hold the secret.
    const shown = message({ text: mrkdwn`${words.heading} It is in this message, only visible to you.`, blocks })
    for (let attempt = 0; attempt < maxAttempts && place.responseUrl; attempt += 1) {
      const answered = await respond(place.responseUrl, shown)
      if (answered.is === 'sent') return 'shown'
      if (answered.is === 'refused') break
    }
    const posted = await messenger.postEphemeral(place, shown)
    return posted.is === 'sent' ? 'shown' : 'undelivered'
  }
}
export type ShowSecret = ReturnType<typeof createShowSecret>
