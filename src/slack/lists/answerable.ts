import { isContentRefused } from '../web-api/failure.ts'
import type { Message } from '../web-api/messenger.ts'

/** A message with a data table, and the same content without one for where Slack takes no tables. */
export interface TableMessage {
  table: Message
  instead: Message
  /** Tries the table although Slack has refused tables lately. */
  tries?: true
}

/** A message in all its layouts. */
export type Answerable = Message | TableMessage

export function hasTable(answer: Answerable): answer is TableMessage {
  return 'table' in answer
}

/** Sends a message, and sends it without its table where Slack refuses that. */
export async function sendWithTable<Result extends { is: string; error?: string }>(
  answer: Answerable,
  send: (message: Message) => Promise<Result>,
): Promise<Result> {
  if (!hasTable(answer)) return send(answer)
  const sent = await send(answer.table)
  return isContentRefused(sent) ? send(answer.instead) : sent
}

/** Changes a message in all its layouts. */
export function inEachLayout(answer: Answerable, change: (message: Message) => Message): Answerable {
  return hasTable(answer) ? { ...answer, table: change(answer.table), instead: change(answer.instead) } : change(answer)
}
