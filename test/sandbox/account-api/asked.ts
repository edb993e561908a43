import { z } from 'zod'
import { invalid } from './answer.ts'
import type { ApiKeyState } from './data/model.ts'

/** A request that has passed the door. */
export interface Asked {
  /** Path parameters, in order. */
  params: string[]
  query: Record<string, string>
  body: unknown
  /** The key it came with. */
  key: ApiKeyState
}

/** The attributes of a request body, when its envelope is in order. */
export function attributesOf<T>({ body }: Asked, type: string, schema: z.ZodType<T>): T {
  const data = z
    .object({ type: z.string(), attributes: z.unknown() })
    .safeParse(z.object({ data: z.unknown() }).safeParse(body).data?.data).data
  if (data?.type !== type) throw invalid('/data/type', `data.type must be ${type}`)
  const attributes = schema.safeParse(data.attributes)
  if (attributes.success) return attributes.data
  const [issue] = attributes.error.issues
  throw invalid(`/data/attributes/${issue?.path.join('/') ?? ''}`, issue?.message ?? 'invalid')
}
