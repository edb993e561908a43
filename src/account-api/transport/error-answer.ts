import { z } from 'zod'
import { toNumber, toText } from '../fields.ts'

/** Accepts both shapes of errors: `{code, message}` and `{code, status, title, detail, source, meta}`. Any member can be missing. */
const ErrorsResponse = z.object({ errors: z.array(z.unknown()) })
const ErrorItem = z
  .object({ code: z.unknown(), detail: z.unknown(), message: z.unknown(), title: z.unknown(), meta: z.unknown() })
  .partial()
/** `retry_after` accompanies a 429 and is in seconds. */
const ErrorMeta = z.object({ retry_after: z.unknown() }).partial()

const maxDetailLength = 200
const longestRetryAfterSeconds = 1_000_000_000
const plainCode = /^[\w.-]{1,64}$/
/** API tokens look like this. They are redacted, because no error needs to quote one. */
const tokenLike = /[0-9a-f]{32,}/gi
const blanks = /[\s\p{Cc}]+/gu

/**
 * Reads the codes (at most 10), the first message and the wait from the body of an error answer. Cuts the message to 200 characters and
 * removes keys and tokens. Returns no codes and no message for a body in any other shape (HTML, empty, cut short).
 */
export function readErrorAnswer(
  body: string,
  redact: (text: string) => string,
): { codes: string[]; detail?: string; retryAfterMs?: number } {
  const items = parseErrors(body)
  const clean = (value: string) => redact(value).replace(tokenLike, '[redacted]').replace(blanks, ' ').trim()
  const codes = items.map((item) => clean(toText(item.code) ?? '')).filter((code) => plainCode.test(code))
  const detail = items.flatMap((item) => [item.detail, item.message, item.title]).map((words) => clean(toText(words) ?? ''))
  const first = detail.find((words) => words !== '')
  const retryAfterMs = retryAfterMsOf(items)
  return {
    codes: codes.slice(0, 10),
    ...(first && { detail: shorten(first) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function retryAfterMsOf(items: z.infer<typeof ErrorItem>[]): number | undefined {
  const seconds = items
    .map(({ meta }) => toNumber(ErrorMeta.safeParse(meta).data?.retry_after))
    .find((number) => number !== undefined && number >= 0 && number <= longestRetryAfterSeconds)
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000)
}

function parseErrors(body: string): z.infer<typeof ErrorItem>[] {
  try {
    const { errors } = ErrorsResponse.parse(JSON.parse(body))
    return errors.flatMap((error) => ErrorItem.safeParse(error).data ?? [])
  } catch {
    return []
  }
}

/** Cuts by code points, so that no half of a surrogate pair is left. */
function shorten(words: string): string {
  return words.length <= maxDetailLength ? words : `${[...words.slice(0, maxDetailLength * 2)].slice(0, maxDetailLength - 1).join('')}…`
}
