import { z } from 'zod'
import { invalid } from './answer.ts'
import type { ApiKeyState } from './data/model.ts'

/** A request with a valid key. */
export interface AuthorizedRequest {
  /** Path parameters, in order. */
  params: string[]
  query: Record<string, string>
  body: unknown
  /** The key of the request. */
  key: ApiKeyState
}

/** Returns the attributes of a request body. Throws a Refusal if its envelope is wrong. */
export function attributesOf<T>({ body }: AuthorizedRequest, type: string, schema: z.ZodType<T>): T {
  const data = z
    .object({ type: z.string(), attributes: z.unknown() })
    .safeParse(z.object({ data: z.unknown() }).safeParse(body).data?.data).data
  if (data?.type !== type) throw invalid('/data/type', `data.type must be ${type}`)
  const attributes = schema.safeParse(data.attributes)
  if (attributes.success) return attributes.data
  const [issue] = attributes.error.issues
  throw invalid(`/data/attributes/${issue?.path.join('/') ?? ''}`, issue?.message ?? 'invalid')
}
