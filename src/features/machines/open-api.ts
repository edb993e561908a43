import { z } from 'zod'
import { IdempotencyKey } from './idempotency.ts'
import type { Operation } from './operations.ts'

/** As in `problem`. */
const ProblemDetails = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string().describe('What happened and what to do, for people'),
  code: z.string().describe('The same for every problem of this kind, for programs'),
})

function schema(type: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(type, { io })
  return rest
}

const json = (content: object) => ({ content: { 'application/json': { schema: content } } })

/** Describes the HTTP API (OpenAPI 3.1). Operations on the same route differ by the kind of change in the body. */
export function openApi(operations: Operation[], bodyOf: (operation: Operation) => z.ZodType): object {
  const routes = Map.groupBy(operations, ({ method, path }) => `${method} ${path}`)
  const paths: Record<string, Record<string, object>> = {}
  for (const [, [first, ...others]] of routes) {
    if (!first) continue
    const bodies = [first, ...others].map((each) => schema(bodyOf(each), 'input'))
    const isRequest = first.kind !== undefined
    const answer = { description: first.title, ...json(schema(first.output)) }
    paths[first.path] = {
      ...paths[first.path],
      [first.method.toLowerCase()]: {
        operationId: isRequest ? 'request_change' : first.tool,
        summary: isRequest ? 'Request a change' : first.title,
        description: [first, ...others].map(({ kind, description }) => (kind ? `${kind}: ${description}` : description)).join('\n\n'),
        parameters: isRequest ? [parameter('Idempotency-Key', 'header', schema(IdempotencyKey), true)] : parametersOf(first),
        ...(isRequest && { requestBody: { required: true, ...json({ oneOf: bodies }) } }),
        responses: {
          ...(isRequest && { 201: { ...answer, description: 'The new request' } }),
          200: isRequest ? { ...answer, description: 'The request that the same call made before' } : answer,
          default: { description: 'A problem', content: { 'application/problem+json': { schema: schema(ProblemDetails) } } },
        },
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Lockkeeper for machines', version: '1', description: 'Machines request changes, and people approve them in Slack.' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths,
  }
}

function parametersOf({ path, input }: Operation): object[] {
  const { properties = {} } = schema(input, 'input') as { properties?: Record<string, object> }
  return Object.entries(properties).map(([name, type]) =>
    path.includes(`{${name}}`) ? parameter(name, 'path', type, true) : parameter(name, 'query', type, false),
  )
}

function parameter(name: string, where: string, type: object, required: boolean): object {
  return { name, in: where, required, schema: type }
}
