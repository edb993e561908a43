import { z } from 'zod'
import { type Phrase, phraseText } from '../text/phrase.ts'

/**
 * A result of a check or a read, as facts: a code and its details. It is stored as facts and put into words where it is shown. A code that
 * this version does not know is kept, and shown as it is.
 */
export const Finding = z.looseObject({ code: z.string() })
export type Finding = z.infer<typeof Finding>

/** A finding in plain text. */
export interface Words {
  /** One or two sentences: what happened, and why. */
  why: string
  /** A sentence that says what to do. Present only if requesting the same change again is of no use. */
  next?: string
  /** Set for a warning of which approvers have nothing to confirm. It is small print. */
  isNote?: true
  /** The same as `why`, with names and people marked. Absent where they are not. */
  phrase?: Phrase
}

/** Builds the words of a finding whose names and people are marked. */
export function wordsFrom(phrase: Phrase): Words {
  return { why: phraseText(phrase), phrase }
}

/** Creates a function that puts the findings of one schema into words. It returns undefined for a finding that does not fit the schema. */
export function explainer<Known extends Finding>(known: z.ZodType<Known>, words: (finding: Known) => Words): Explain {
  return (finding) => {
    const parsed = known.safeParse(finding)
    return parsed.success ? words(parsed.data) : undefined
  }
}
export type Explain = (finding: Finding) => Words | undefined

/** Lists the people whom findings name, by their Slack ids. */
export function peopleIn(findings: Finding[]): string[] {
  return [...new Set(findings.flatMap(({ by, creator }) => [by, creator].filter((id) => typeof id === 'string')))]
}
