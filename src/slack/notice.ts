import type { ModalView } from '@slack/web-api'
import { message, wholeSection } from './blocks.ts'
import type { Message } from './messenger.ts'
import { modal } from './modal.ts'
import type { Mrkdwn } from './text.ts'

/** A message that is only words. */
export function notice(words: Mrkdwn): Message {
  return message({ text: words, blocks: wholeSection(words) })
}

/** A modal that is only words. */
export function noticeView(words: Mrkdwn, title = 'Lockkeeper'): ModalView {
  return modal({ title, close: 'Close', blocks: wholeSection(words) })
}
