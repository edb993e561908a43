import { link, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { shortId } from '../words.ts'

/** Says which request another one undoes, with a link to its message. */
export function undoesWords(undone: { id: string; link?: string | undefined }): Mrkdwn {
  return mrkdwn`${undoneWords(undone)}.`
}

/** Says the same without a full stop, for the small print. `isUnsent`: it ended before anything was sent. */
export function undoneWords({ id, link: address }: { id: string; link?: string | undefined }, { isUnsent = false } = {}): Mrkdwn {
  return mrkdwn`${isUnsent ? 'Was to undo' : 'Undoes'} ${link(address, `request ${shortId({ id })}`)}`
}
