import type { KnownBlock } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import type { Secret } from '../domain/signing.ts'
import { context, message, modal, wholeSection } from '../slack/blocks.ts'
import { type Answer, type Answerable, inEachLayout, sendWithTable, withoutTable } from '../slack/interactions.ts'
import { type Mrkdwn, mrkdwn, ownWords } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
  isClick?: boolean
  /** Whether that message is not for one person alone. It is then never replaced: a modified client can send any button with it. */
  isShared?: boolean
}

export interface TrackedAnswer extends Answer {
  /** The words with what they are about in front. */
  named: (words: Mrkdwn) => Mrkdwn
  /** Whether the person has an answer, here or elsewhere. */
  given: () => boolean
  interim: (message: Message) => Promise<void>
}

/** The first way that works: the response URL, an ephemeral message, a modal (Home tab only), a direct message. Each also without a table. */
export function answerTo(app: Pick<App, 'slack' | 'errors'>, place: AnswerPlace): TrackedAnswer {
  const { origin, responseUrl, triggerId, isClick = false, isShared = false } = place
  const { messenger, respond } = app.slack
  let isGiven = false
  let interim: Promise<boolean> | undefined
  let subject: Mrkdwn | undefined

  async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
    const said = interim
    interim = undefined
    const replaceOriginal = ((await said) === true && !isClick) || replaces
    const answered = responseUrl ? await sendWithTable(answer, (one) => respond(responseUrl, one, { replaceOriginal })) : undefined
    if (answered?.is === 'sent') return true
    const posted = origin.channelId ? await sendWithTable(answer, (one) => messenger.postEphemeral(origin, one)) : undefined
    if (posted?.is === 'sent') return false
    const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(answer)) : undefined
    if (shown?.is === 'opened') return false
    const sent = await sendWithTable(answer, (one) => messenger.post({ channelId: origin.userId }, one))
    const failure = JSON.stringify(answered ?? posted ?? shown ?? sent)
    if (sent.is !== 'sent') app.errors.of('people')(new Error(`an answer could not be delivered: ${failure}`))
    return false
  }

  async function give(answer: Answerable, replaces: boolean): Promise<void> {
    isGiven = true
    await say(answer, replaces)
  }

  return {
    ephemeral(answer, { isWhole = false } = {}) {
      const about = isWhole ? undefined : subject
      return give(about ? inEachLayout(answer, ({ blocks }) => message([...wholeSection(about), ...blocks])) : answer, false)
    },
    replace: (page) => give(page, !isShared),
    about: (words) => {
      subject = words
    },
    named: (words) => (subject ? mrkdwn`${subject}\n${words}` : words),
    elsewhere: () => {
      isGiven = true
    },
    given: () => isGiven,
    interim: async (words) => {
      interim = say(words, false)
      await interim
    },
  }
}

function asModal(answer: Answerable) {
  return modal({ title: 'Lockkeeper', close: 'Close', blocks: withoutTable(answer).blocks })
}

/** A repeated ephemeral message does no harm: only the same person sees it. */
const maxAttempts = 3

/**
 * Shows a secret once, in answer to a click. No other function sends a token out of this process. The message has no buttons, because a click
 * would send it, and with it the secret, back. `undelivered`: they may have seen it, but it counts as not seen.
 */
export async function showSecret(
  app: App,
  place: { responseUrl: string | undefined; channelId: string; userId: string },
  words: { heading: Mrkdwn; note: Mrkdwn },
  secret: Secret,
): Promise<'shown' | 'undelivered'> {
  // A notification shows the text on a phone and the first blocks on a desktop (docs.slack.dev, changelog of July 13, 2026): neither has the secret.
  const notification = mrkdwn`${words.heading} is in this message, only visible to you.`
  const blocks: KnownBlock[] = [
    ...wholeSection(notification),
    ...wholeSection(ownWords(`\`\`\`${secret.reveal()}\`\`\``)),
    ...context([words.note]),
  ]
  const shown: Message = { blocks, text: `${notification.text} Shown once: save it now.` }
  for (let attempt = 0; attempt < maxAttempts && place.responseUrl; attempt += 1) {
    const answered = await app.slack.respond(place.responseUrl, shown)
    if (answered.is === 'sent') return 'shown'
    if (answered.is === 'refused') break
  }
  const posted = await app.slack.messenger.postEphemeral(place, shown)
  return posted.is === 'sent' ? 'shown' : 'undelivered'
}
