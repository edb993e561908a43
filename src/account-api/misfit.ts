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

const json = /^application\/(vnd\.api\+json|json)\s*(;|$)/i

/** Why a 2xx or 3xx answer cannot be what was asked for, by its status and headers alone. */
export function headMisfit(status: number, headers: Record<string, string | string[] | undefined>, bodyless: boolean): string | undefined {
  if (status >= 300) return 'a redirect, which is not followed'
  if (String(headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return 'an encoded body, which was not asked for'
  if (!bodyless && !json.test(String(headers['content-type'] ?? ''))) return 'not JSON'
}
