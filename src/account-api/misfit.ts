import { z } from 'zod'

/**
 * Why an answer does not fit, without any of its text: JSON.parse quotes the body in its messages, and a body can hold a token.
 * Paths are safe to tell: they are made of the names in our own schemas.
 */
export function misfit(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON'
  const issue = error instanceof z.ZodError ? error.issues[0] : undefined
  return issue ? `unexpected ${issue.path.map(String).join('.') || 'body'}` : 'an unexpected body'
}
