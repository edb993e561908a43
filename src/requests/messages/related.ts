import { type Phrase, withoutOwner } from '../../domain/text/phrase.ts'
import { boldPhrase } from '../../slack/text/phrase-words.ts'
import { joinMrkdwn, link, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { shortId } from './words.ts'

/** Another request, with the address of its message. */
export interface LinkedRequest {
  id: string
  link?: string | undefined
}

/** The earlier requests that a request belongs to. */
export interface RelatedRequests {
  undoes?: LinkedRequest | undefined
  repeats?: LinkedRequest | undefined
}

/** Says which requests it undoes and repeats, with links to their messages. Empty if there are none. */
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
export function relatedWords({ undoes, repeats }: RelatedRequests, { isUnsent = false } = {}): Mrkdwn[] {
  return [
    ...(undoes ? [mrkdwn`${isUnsent ? 'Was to undo' : 'Undoes'} ${requestLink(undoes)}`] : []),
    ...(repeats ? [mrkdwn`Repeats ${requestLink(repeats)}`] : []),
  ]
}

/** Names what an answer is about: `*Move 203.0.113.10: web-1 → web-2*  ·  request 80fbcd61`. For whom a key is would mention that person. */
export function subjectWords(title: Phrase, request: LinkedRequest): Mrkdwn {
  return mrkdwn`${boldPhrase(withoutOwner(title))}  ·  ${requestLink(request)}`
}

/** `request 80fbcd61`, as a link to its message. */
export function requestLink({ id, link: address }: LinkedRequest): Mrkdwn {
  return link(address, `request ${shortId({ id })}`)
}
