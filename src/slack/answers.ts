import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { modal, withSubject } from './blocks.ts'
import { type Answerable, type ClickAnswer, hasTable, inEachLayout, sendWithTable } from './interactions.ts'
import type { Mrkdwn } from './text.ts'
import type { Message } from './web-api.ts'

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
  interim: (message: Message) => Promise<void>
}

/**
 * Answers a person in the first way that works: through the response URL, as an ephemeral message in the channel, in a modal (on the Home
 * tab only), or as a direct message. Where Slack refuses a table, the same way is tried without it.
 */
export function answerTo(app: Pick<App, 'slack' | 'errors'>, place: AnswerPlace): TrackedAnswer {
  const { origin, responseUrl, triggerId, isClick = false, isShared = false } = place
  const { messenger, respond } = app.slack
  let isGiven = false
  let interim: Promise<boolean> | undefined
  let subject: Mrkdwn | undefined

  async function takeInterim(): Promise<boolean> {
    const saying = interim
    interim = undefined
    return (await saying) === true && !isClick
  }

  async function say(answer: Answerable, replaces: boolean): Promise<boolean> {
    const replaceOriginal = (await takeInterim()) || replaces
    const answered = responseUrl ? await sendWithTable(answer, (one) => respond(responseUrl, one, { replaceOriginal })) : undefined
    if (answered?.is === 'sent') return true
    const posted = origin.channelId ? await sendWithTable(answer, (one) => messenger.postEphemeral(origin, one)) : undefined
    if (posted?.is === 'sent') return false
    const shown = !origin.channelId && triggerId ? await messenger.openView(triggerId, asModal(answer)) : undefined
    if (shown?.is === 'opened') return false
    const sent = await sendWithTable(answer, (one) => messenger.post({ channelId: origin.userId }, one))
    const failure = JSON.stringify(answered ?? posted ?? shown ?? sent)
    if (sent.is !== 'sent') app.errors.shownToPerson(new Error(`an answer could not be delivered: ${failure}`), { at: 'answer' })
    return false
  }

  async function give(answer: Answerable, replaces: boolean): Promise<void> {
    isGiven = true
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
      isGiven = true
    },
    given: () => isGiven,
    interim: async (message) => {
      interim = say(message, false)
      await interim
    },
  }
}

function asModal(answer: Answerable) {
  const { blocks } = hasTable(answer) ? answer.instead : answer
  return modal({ title: 'Lockkeeper', close: 'Close', blocks })
}
