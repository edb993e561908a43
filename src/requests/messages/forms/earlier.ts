import { joinMrkdwn, link, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { shortId } from '../words.ts'

/** Another request, with the address of its message. */
export interface LinkedRequest {
  id: string
  link?: string | undefined
}

/** The earlier requests that a request undoes or repeats. */
export interface EarlierRequests {
  undoes?: LinkedRequest | undefined
  repeats?: LinkedRequest | undefined
}

/** Says which requests another one undoes and repeats, with links to their messages. Empty if there are none. */
export function earlierSentences(earlier: EarlierRequests): Mrkdwn[] {
  const parts = earlierWords(earlier)
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
export function earlierWords({ undoes, repeats }: EarlierRequests, { isUnsent = false } = {}): Mrkdwn[] {
  return [
    ...(undoes ? [mrkdwn`${isUnsent ? 'Was to undo' : 'Undoes'} ${requestLink(undoes)}`] : []),
    ...(repeats ? [mrkdwn`Repeats ${requestLink(repeats)}`] : []),
  ]
}

/** `request 80fbcd61`, as a link to its message. */
export function requestLink({ id, link: address }: LinkedRequest): Mrkdwn {
  return link(address, `request ${shortId({ id })}`)
}
