import { readFileSync } from 'node:fs'
import { guardStore, type Redis } from './connect.ts'
import type { Keys } from './key-names.ts'

type ScriptCommand = (numberOfKeys: number, ...keysAndArguments: string[]) => Promise<string | string[]>

const prologue = readFileSync(new URL('./lua/prologue.lua', import.meta.url), 'utf8')

/** Reads `lua/<name>.lua` beside a module (its `import.meta.url`), and puts the prologue before each. */
export function readScripts<Name extends string>(module: string, names: readonly Name[]): ReadonlyMap<Name, string> {
  return new Map(names.map((name) => [name, `${prologue}\n${readFileSync(new URL(`./lua/${name}.lua`, module), 'utf8')}`]))
}

/** Scripts that several folders use: for the clock, claims, and sorted sets by due time. */
const shared = readScripts(import.meta.url, ['now', 'release', 'due'])
type Shared = 'now' | 'release' | 'due'

/** The returned function sends the hash of a script, and its source only if Redis does not have it yet. Throws StoreUnavailableError. */
export function scriptsOf<Name extends string = never>(own?: ReadonlyMap<Name, string>) {
  const sources = new Map<string, string>([...shared, ...(own ?? [])])

  return async function run(redis: Redis, name: Name | Shared, keys: string[], values: string[]): Promise<string[]> {
    const commands = redis as unknown as Record<string, ScriptCommand>
    const lua = sources.get(name)
    if (lua && !commands[`lockkeeper:${name}`]) redis.defineCommand(`lockkeeper:${name}`, { lua })
    const command = commands[`lockkeeper:${name}`]
    if (!command) throw new Error(`the script ${name} is not defined`)
    const answer = await guardStore(() => command.call(redis, keys.length, ...keys, ...values))
    return Array.isArray(answer) ? answer : [answer]
  }
}

const runShared = scriptsOf()

/** Reads Redis' clock, in ms since 1970. Throws StoreUnavailableError. */
export async function readClock({ redis, keys }: { redis: Redis; keys: Keys }): Promise<number> {
  const [ms] = await runShared(redis, 'now', [keys.lastTick], [])
  return Number(ms)
}

/** Returns undefined, or who holds the key. `GET` returns the own token, new for each claim, if the client sends the command twice. */
export async function claim(
  redis: Redis,
  key: string,
  { token, lastsMs }: { token: string; lastsMs: number },
): Promise<string | undefined> {
  const holder = await guardStore(() => redis.set(key, token, 'PX', lastsMs, 'NX', 'GET'))
  return holder === null || holder === token ? undefined : holder
}
