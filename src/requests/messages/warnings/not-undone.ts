import { z } from 'zod'
import { RequestRef } from '../../../domain/request/request.ts'
import { someTexts } from '../../../slack/text/some-texts.ts'
import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { type LinkedRequest, requestLink } from '../related.ts'

/**
 * What stays as it is when a request undoes only one of several that did the same, such as an evacuation and the retry of its rest. Kept in the
 * warnings of that request.
 */
export const NotUndone = z.object({
  code: z.literal('not-undone'),
  /** The request that did it, and can undo it. */
  by: RequestRef,
  /** What people call the items. */
  names: z.array(z.string()),
})
export type NotUndone = z.infer<typeof NotUndone>

/** `203.0.113.11 won't be moved back, because request 80fbcd61 moved it. …` `more`: how many items are not among the names. */
export function notUndoneWords({ names, more = 0, by }: { names: string[]; more?: number | undefined; by: LinkedRequest }): Mrkdwn {
  const them = names.length + more === 1 ? 'it' : 'them'
  const which = more > 0 ? mrkdwn`${someTexts(names.map(code), names.length)} and ${more} more` : someTexts(names.map(code))
  return mrkdwn`${which} won't be moved back, because ${requestLink(by)} moved ${them}. To move ${them} back, press *Move back* on that request.`
}
