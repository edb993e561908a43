import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'

/** The trace that an asynchronous call chain belongs to. `join` changes it. */
interface Scope {
  context: Context
  /** The span of the other trace that the scope joined. It ends with the scope. */
  joined?: Span
}

/**
 * Keeps the present span of each asynchronous call chain. Each bot has a separate one, because globals would mix several bots in one
 * process.
 */
export function createScopes() {
  const scopes = new AsyncLocalStorage<Scope>()

  return {
    run: <T>(context: Context, work: () => T): T => scopes.run({ context }, work),
    current: () => scopes.getStore(),
    context: () => scopes.getStore()?.context ?? ROOT_CONTEXT,
    /** Returns the present span, or undefined outside a trace. */
    span: (): Span | undefined => trace.getSpan(scopes.getStore()?.context ?? ROOT_CONTEXT),
  }
}
export type Scopes = ReturnType<typeof createScopes>
