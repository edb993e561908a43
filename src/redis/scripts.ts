import { readFileSync } from 'node:fs'
import { guardStore, type Redis } from './connect.ts'

type ScriptSources<Name extends string> = ReadonlyMap<Name, string>

type ScriptCommand = (numberOfKeys: number, ...keysAndArguments: string[]) => Promise<string | string[]>

const prologue = readFileSync(new URL('./lua/prologue.lua', import.meta.url), 'utf8')

/** Reads `lua/<name>.lua` from the folder of a module and puts the prologue before each. `module` is the `import.meta.url` of the caller. */
export function readScripts<Name extends string>(module: string, names: readonly Name[]): ScriptSources<Name> {
  return new Map(names.map((name) => [name, `${prologue}\n${readFileSync(new URL(`./lua/${name}.lua`, module), 'utf8')}`]))
}

/** Scripts that several folders use: for the clock, claims, and sorted sets by due time. */
const shared = readScripts(import.meta.url, ['now', 'release', 'due'])
type Shared = 'now' | 'release' | 'due'

/** Sends the hash of a script, and the source only if Redis does not have it yet. Throws StoreUnavailableError if Redis does not answer. */
export function createScripts<Name extends string = never>(redis: Redis, own?: ScriptSources<Name>) {
  for (const [name, lua] of [...shared, ...(own ?? [])]) redis.defineCommand(`lockkeeper:${name}`, { lua })

  return async function run(name: Name | Shared, keys: string[], values: string[]): Promise<string[]> {
    const command = (redis as unknown as Record<string, ScriptCommand>)[`lockkeeper:${name}`]
    if (!command) throw new Error(`the script ${name} is not defined`)
    const answer = await guardStore(() => command.call(redis, keys.length, ...keys, ...values))
    return Array.isArray(answer) ? answer : [answer]
  }
}

/** Reads the scripts of a module, and returns the function that runs them on the connection that it gets. */
export function scriptsOf<Name extends string>(module: string, names: readonly Name[]) {
  const sources = readScripts(module, names)
  const runs = new WeakMap<Redis, ReturnType<typeof createScripts<Name>>>()

  return function run(redis: Redis, name: Name | Shared, keys: string[], values: string[]): Promise<string[]> {
    const runOn = runs.get(redis) ?? createScripts(redis, sources)
    runs.set(redis, runOn)
    return runOn(name, keys, values)
  }
}

/**
 * Claims a key for `lastsMs`. Returns undefined if the claim succeeded, and otherwise the value that the key holds. Throws StoreUnavailableError.
 * `SET NX GET`, because the client sends a command again when its connection breaks: the second one then finds its own token, which is new for
 * each claim.
 */
export async function claim(
  redis: Redis,
  key: string,
  { token, lastsMs }: { token: string; lastsMs: number },
): Promise<string | undefined> {
  const holder = await guardStore(() => redis.set(key, token, 'PX', lastsMs, 'NX', 'GET'))
  return holder === null || holder === token ? undefined : holder
}
