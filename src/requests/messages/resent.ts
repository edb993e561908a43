import type { Request } from '../../domain/request.ts'
import { context } from '../../slack/blocks/blocks.ts'
import { message } from '../../slack/blocks/message.ts'
import { type Mrkdwn, mrkdwn, ownWords } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'

/** Adds to a message that it may have been sent before. */
export function asRepeat(original: Message): Message {
  return withNote(original, mrkdwn`Possible duplicate: Slack didn't confirm the first one.`)
}

/** Adds to a report why it goes to the requester directly. `error`: Slack's code for not posting it in the channel. */
export function asDirect(original: Message, request: Request, error: string): Message {
  return withNote(original, mrkdwn`Sent here because Lockkeeper couldn't post in the thread in <#${request.origin.channelId}> (${error}).`)
}

function withNote({ text, blocks }: Message, note: Mrkdwn): Message {
  return message({ text: mrkdwn`${ownWords(text)}\n${note}`, blocks: [...blocks, ...context([note])] })
}
