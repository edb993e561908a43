import type { Message } from '../web-api/messenger.ts'

/** A message with a data table, and the same content without one for where Slack takes no tables. */
export interface TableMessage {
  table: Message
  instead: Message
  /** Tries the table although Slack has refused tables lately. */
  tries?: true
}

/** What a person can be answered with. */
export type Answerable = Message | TableMessage

export function hasTable(answer: Answerable): answer is TableMessage {
  return 'table' in answer
}
