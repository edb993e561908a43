import { z } from 'zod'

/**
 * Something that was found out, as facts: a code and what belongs to it. It is stored like this, and put into words where it is shown. A code
 * that this version does not know is kept, and shown as it is.
 */
export const Finding = z.looseObject({ code: z.string() })
export type Finding = z.infer<typeof Finding>

/** A finding in plain text. */
export interface Words {
  /** One or two sentences: what happened, and why. */
  why: string
  /** What to do, a sentence. It is there only where requesting the same again is of no use. */
  next?: string
}

/** Puts the findings of one schema into words. The result is undefined for every other finding: another code, or another shape of it. */
export function explainer<Known extends Finding>(known: z.ZodType<Known>, words: (finding: Known) => Words): Explain {
  return (finding) => {
    const parsed = known.safeParse(finding)
    return parsed.success ? words(parsed.data) : undefined
  }
}
export type Explain = (finding: Finding) => Words | undefined
