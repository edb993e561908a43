import type { ModalView } from '@slack/web-api'
import { type Mrkdwn, mrkdwn, ownWords } from '../text/text.ts'
import type { Message } from '../web-api/messenger.ts'
import { wholeSection } from './blocks.ts'
import { message } from './message.ts'
import { modal } from './modal.ts'

/** Makes a message that is only text. */
export function notice(words: Mrkdwn): Message {
  return message({ text: words, blocks: wholeSection(words) })
}

/** Puts what a message is about above it. */
export function withSubject(subject: Mrkdwn, { text, blocks }: Message): Message {
  return message({ text: mrkdwn`${subject}\n${ownWords(text)}`, blocks: [...wholeSection(subject), ...blocks] })
}

/** Makes a modal that is only text. */
export function noticeView(words: Mrkdwn, title = 'Lockkeeper'): ModalView {
  return modal({ title, close: 'Close', blocks: wholeSection(words) })
}
