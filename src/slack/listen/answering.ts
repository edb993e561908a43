import type { Origin } from '../../domain/origin.ts'
import { modal } from '../blocks/modal.ts'
import type { Answer } from '../commands/handlers.ts'
import type { Message, Messenger } from '../web-api/messenger.ts'
import type { Respond } from '../web-api/response-url.ts'

interface AnsweringParts {
  messenger: Pick<Messenger, 'postEphemeral' | 'post' | 'openView'>
  respond: Respond
  onError: (error: unknown, context: { at: string }) => void
}

export interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
}

export type TrackedAnswer = Answer & { given: () => boolean }

/**
 * Answers a person in the first way that works: through the response URL, as an ephemeral message in the channel, in a modal (on the Home
 * tab only), or as a direct message.
 */
export function createAnswering({ messenger, respond, onError }: AnsweringParts) {
  return function answerTo({ origin, responseUrl, triggerId }: AnswerPlace): TrackedAnswer {
    let answers = 0

    async function say(message: Message, replaceOriginal: boolean): Promise<void> {
      answers += 1
      const answered = responseUrl ? await respond(responseUrl, message, { replaceOriginal }) : undefined
      if (answered?.is === 'sent') return
      const posted = origin.channelId ? await messenger.postEphemeral(origin, message) : undefined
      if (posted?.is === 'sent') return
      const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(message)) : undefined
      if (shown?.is === 'opened') return
      const sent = await messenger.post({ channelId: origin.userId }, message)
      if (sent.is !== 'sent')
        onError(new Error(`an answer could not be delivered: ${JSON.stringify(answered ?? posted ?? shown ?? sent)}`), { at: 'answer' })
    }

    return { ephemeral: (message) => say(message, false), replace: (message) => say(message, true), given: () => answers > 0 }
  }
}
export type AnswerTo = ReturnType<typeof createAnswering>

function asModal({ blocks }: Message) {
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}
