import type { Origin } from '../../domain/approval/origin.ts'
import { modal } from '../blocks/modal.ts'
import { withSubject } from '../blocks/notice.ts'
import type { ClickAnswer } from '../commands/handlers.ts'
import { type Answerable, hasTable, inEachLayout, sendWithTable } from '../lists/answerable.ts'
import type { Mrkdwn } from '../text/text.ts'
import type { Done, Message, Messenger } from '../web-api/messenger.ts'
import type { Respond } from '../web-api/response-url.ts'
import { createRespondWithTable } from './table-support.ts'

interface AnsweringParts {
  messenger: Pick<Messenger, 'postEphemeral' | 'post' | 'openView'>
  respond: Respond
  onError: (error: unknown, context: { at: string }) => void
}

interface AnswerPlace {
  origin: Origin
  responseUrl: string | undefined
  /** Opens a modal with the answer on the Home tab, which has no channel. */
  triggerId?: string
  /** Whether the response URL belongs to a message that was clicked. */
  isClick?: boolean
  /** Whether that message is not for one person alone. It is then never replaced: a modified client can send any button with it. */
  isShared?: boolean
}

export interface TrackedAnswer extends ClickAnswer {
  /** Whether the person has an answer, here or elsewhere. */
  given: () => boolean
  /** Says that the answer takes longer. For a command, the answer then replaces it. */
  interim: (message: Message) => Promise<void>
}

/**
 * Answers a person in the first way that works: through the response URL, as an ephemeral message in the channel, in a modal (on the Home
 * tab only), or as a direct message. Where Slack refuses a table, the same way is tried without it.
 */
export function createAnswering({ messenger, respond, onError }: AnsweringParts) {
  const respondWithTable = createRespondWithTable(respond)

  return function answerTo({ origin, responseUrl, triggerId, isClick = false, isShared = false }: AnswerPlace): TrackedAnswer {
    let answers = 0
    let interim: Promise<boolean> | undefined
    let subject: Mrkdwn | undefined

    async function throughResponseUrl(url: string, answer: Answerable, replaceOriginal: boolean): Promise<Done> {
      return hasTable(answer) ? respondWithTable(url, answer, { isClick, replaceOriginal }) : respond(url, answer, { replaceOriginal })
    }

    /** Whether the answer can replace an interim answer. After a click, it would replace the message that was clicked. */
    async function takeInterim(): Promise<boolean> {
      const saying = interim
      interim = undefined
      return (await saying) === true && !isClick
    }

    async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
      const replaceOriginal = (await takeInterim()) || replaces
      const answered = responseUrl ? await throughResponseUrl(responseUrl, answer, replaceOriginal) : undefined
      if (answered?.is === 'sent') return true
      const posted = origin.channelId ? await sendWithTable(answer, (one) => messenger.postEphemeral(origin, one)) : undefined
      if (posted?.is === 'sent') return false
      const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(answer)) : undefined
      if (shown?.is === 'opened') return false
      const sent = await sendWithTable(answer, (one) => messenger.post({ channelId: origin.userId }, one))
      if (sent.is !== 'sent')
        onError(new Error(`an answer could not be delivered: ${JSON.stringify(answered ?? posted ?? shown ?? sent)}`), { at: 'answer' })
      return false
    }

    async function give(answer: Answerable, replaces: boolean): Promise<void> {
      answers += 1
      await say(answer, replaces)
    }

    function named(answer: Answerable): Answerable {
      const about = subject
      return about ? inEachLayout(answer, (message) => withSubject(about, message)) : answer
    }

    return {
      ephemeral: (answer, { isWhole = false } = {}) => give(isWhole ? answer : named(answer), false),
      replace: (message) => give(message, !isShared),
      about: (words) => {
        subject = words
      },
      elsewhere: () => {
        answers += 1
      },
      given: () => answers > 0,
      interim: async (message) => {
        interim = say(message, false)
        await interim
      },
    }
  }
}
export type AnswerTo = ReturnType<typeof createAnswering>

/** Modals take no tables. */
function asModal(answer: Answerable) {
  const { blocks } = hasTable(answer) ? answer.instead : answer
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}
