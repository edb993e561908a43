import { joinMrkdwn, link, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { shortId } from './words.ts'

/** Another request, with the address of its message. */
export interface LinkedRequest {
  id: string
  link?: string | undefined
}

/** The other requests that a request belongs to: those that it undoes or repeats, and the one that undid it. */
export interface RelatedRequests {
  undoes?: LinkedRequest | undefined
  repeats?: LinkedRequest | undefined
  undoneBy?: (LinkedRequest & { isWhole: boolean }) | undefined
}

/** Says which requests it undoes and repeats, and which undid it, with links to their messages. Empty if there are none. */
export function relatedSentences(related: RelatedRequests): Mrkdwn[] {
  const parts = relatedWords(related)
  return parts.length === 0
    ? []
    : [
        joinMrkdwn(
          parts.map((part) => mrkdwn`${part}.`),
          ' ',
        ),
      ]
}

/** Says the same without full stops, for the small print. `isUnsent`: the request ended before anything was sent. */
export function relatedWords({ undoes, repeats, undoneBy }: RelatedRequests, { isUnsent = false } = {}): Mrkdwn[] {
  return [
    ...(undoes ? [mrkdwn`${isUnsent ? 'Was to undo' : 'Undoes'} ${requestLink(undoes)}`] : []),
    ...(repeats ? [mrkdwn`Repeats ${requestLink(repeats)}`] : []),
    ...(undoneBy ? [mrkdwn`${undoneBy.isWhole ? 'Undone' : 'Undone in part'} by ${requestLink(undoneBy)}`] : []),
  ]
}

/** `request 80fbcd61`, as a link to its message. */
export function requestLink({ id, link: address }: LinkedRequest): Mrkdwn {
  return link(address, `request ${shortId({ id })}`)
}
