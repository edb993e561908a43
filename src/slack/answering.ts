import type { Origin } from '../domain/origin.ts'
import type { Answer } from './interaction.ts'
import type { Message, Messenger } from './messenger.ts'
import { modal } from './modal.ts'
import type { Respond } from './response-url.ts'

interface AnsweringParts {
  messenger: Pick<Messenger, 'whisper' | 'post' | 'openView'>
  respond: Respond
  onError: (error: unknown, context: { at: string }) => void
}

export interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Where there is no channel, on the Home tab: opens a modal with the answer. */
  triggerId?: string
}

export type TrackedAnswer = Answer & { given: () => boolean }

/** Answers whoever acted, by the nearest way that works: where they clicked, in the channel for them alone, a modal, a direct message. */
export function createAnswering({ messenger, respond, onError }: AnsweringParts) {
  return function answerTo({ origin, responseUrl, triggerId }: AnswerPlace): TrackedAnswer {
    let answers = 0

    async function say(message: Message, replaceOriginal: boolean): Promise<void> {
      answers += 1
      const answered = responseUrl ? await respond(responseUrl, message, { replaceOriginal }) : undefined
      if (answered?.is === 'sent') return
      const whispered = origin.channelId ? await messenger.whisper(origin, message) : undefined
      if (whispered?.is === 'sent') return
      const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(message)) : undefined
      if (shown?.is === 'opened') return
      const sent = await messenger.post({ channelId: origin.userId }, message)
      if (sent.is !== 'sent')
        onError(new Error(`an answer could not be delivered: ${JSON.stringify(answered ?? whispered ?? shown ?? sent)}`), { at: 'answer' })
    }

    return { whisper: (message) => say(message, false), replace: (message) => say(message, true), given: () => answers > 0 }
  }
}
export type AnswerTo = ReturnType<typeof createAnswering>

function asModal({ blocks }: Message) {
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}
