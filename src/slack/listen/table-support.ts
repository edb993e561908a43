import { context } from '../blocks/blocks.ts'
import type { TableMessage } from '../lists/answerable.ts'
import { dataTable } from '../lists/data-table.ts'
import { mrkdwn } from '../text/text.ts'
import { isContentRefused } from '../web-api/failure.ts'
import type { Done, Message } from '../web-api/messenger.ts'
import type { Respond } from '../web-api/response-url.ts'

/** Slack rolls blocks out in phases, so tables are tried again a day after Slack refused them. */
const tryAgainMs = 24 * 3_600_000

/** A message with the smallest table. A person who sees it reads why the list has no table. */
export function probeMessage(): Message {
  const words = mrkdwn`Slack refused this list as a table. The list follows as text.`
  const table = dataTable('Table', { headers: ['Layout'], rows: [['Text']] })
  return { text: words.text, blocks: [...(table ? [table] : []), ...context([words])] }
}

/** Remembers whether Slack takes tables in answers through response URLs. Each process finds out for itself. */
export function createTableSupport(now: () => number = Date.now) {
  let refusedAt: number | undefined

  return {
    isRefused: () => refusedAt !== undefined && now() - refusedAt < tryAgainMs,
    noteTaken: () => {
      refusedAt = undefined
    },
    noteRefused: () => {
      refusedAt = now()
    },
  }
}

interface HowToRespond {
  isClick: boolean
  /** Replaces the interim answer to a command. */
  replaceOriginal?: boolean
}

/**
 * Creates the function that answers with a table through a response URL. Where Slack refuses it, the same content follows without a table.
 * A probe with the smallest table shows whether Slack refuses all tables or only this one. If Slack takes the probe, the content replaces
 * it. A click gets no probe, because there the content would replace the message that was clicked.
 */
export function createRespondWithTable(respond: Respond, support = createTableSupport()) {
  return async function respondWithTable(
    url: string,
    answer: TableMessage,
    { isClick, replaceOriginal = false }: HowToRespond,
  ): Promise<Done> {
    if (support.isRefused() && !answer.tries) return respond(url, answer.instead, { replaceOriginal })
    const sent = await respond(url, answer.table, { replaceOriginal })
    if (sent.is === 'sent') support.noteTaken()
    if (!isContentRefused(sent) && sent.is !== 'unknown') return sent
    if (isClick || sent.is === 'unknown') return respond(url, answer.instead, { replaceOriginal })
    const probed = await respond(url, probeMessage(), { replaceOriginal })
    if (isContentRefused(probed)) support.noteRefused()
    return respond(url, answer.instead, { replaceOriginal: probed.is === 'sent' })
  }
}
