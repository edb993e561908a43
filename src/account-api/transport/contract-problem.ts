import { z } from 'zod'

/**
 * Describes why the body of an answer does not fit the schema, without any of its text: JSON.parse quotes the body in its messages, and a
 * body can hold a token. The path of a schema error is safe to show, because it consists of names from Lockkeeper's own schemas.
 */
export function bodyProblem(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON'
  const issue = error instanceof z.ZodError ? error.issues[0] : undefined
  return issue ? `unexpected ${issue.path.map(String).join('.') || 'body'}` : 'an unexpected body'
}

const json = /^application\/(vnd\.api\+json|json)\s*(;|$)/i

/**
 * Describes why the status or the headers of a 2xx or 3xx answer rule out the requested resource. Returns undefined if they do not. Only an
 * answer that `hasNoBody` needs no content type.
 */
export function headProblem(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  hasNoBody: boolean,
): string | undefined {
  if (status >= 300) return 'a redirect, which is not followed'
  if (String(headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return 'an encoded body, which was not requested'
  if (!hasNoBody && !json.test(String(headers['content-type'] ?? ''))) return 'not JSON'
}
