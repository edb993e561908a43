export type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (context: never, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never
}

/** Gives functions their context, so that callers pass only what differs from call to call. */
export function bind<Context, Functions extends Record<string, (context: Context, ...args: never[]) => unknown>>(
  context: Context,
  functions: Functions,
): Bound<Functions> {
  return Object.fromEntries(
    Object.entries(functions).map(([name, run]) => [name, (...args: never[]) => run(context, ...args)]),
  ) as Bound<Functions>
}
