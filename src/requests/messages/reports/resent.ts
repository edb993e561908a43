import type { Request } from '../../../domain/request/request.ts'
import { context } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { type Answerable, inEachLayout } from '../../../slack/lists/answerable.ts'
import { type Mrkdwn, mrkdwn, ownWords } from '../../../slack/text/text.ts'

export const possibleDuplicate = mrkdwn`Possible duplicate: Slack didn't confirm the first one.`

/** Adds to a message that it may have been sent before. */
export function asRepeat(original: Answerable): Answerable {
  return withNote(original, possibleDuplicate)
}

/** Adds to a report why it goes to the requester directly. `error`: Slack's code for not posting it in the channel. */
export function asDirect(original: Answerable, request: Request, error: string): Answerable {
  return withNote(original, mrkdwn`Sent here because Lockkeeper couldn't post in the thread in <#${request.origin.channelId}> (${error}).`)
}

function withNote(original: Answerable, note: Mrkdwn): Answerable {
  return inEachLayout(original, ({ text, blocks }) =>
    message({ text: mrkdwn`${ownWords(text)}\n${note}`, blocks: [...blocks, ...context([note])] }),
  )
}
