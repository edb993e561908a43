import { readFileSync } from 'node:fs'
import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { guardStore, type Redis as RedisFromConnect } from './connect.ts'

/** The source of each Lua script, by name. */
type ScriptSources<Name extends string> = ReadonlyMap<Name, string>

type ScriptCommand = (numberOfKeys: number, ...keysAndArguments: string[]) => Promise<string | string[]>

const prologue = readFileSync(new URL('./lua/prologue.lua', import.meta.url), 'utf8')

/** Reads `lua/<name>.lua` from the folder of a module and puts the prologue before each. `module` is the `import.meta.url` of the caller. */
export function readScripts<Name extends string>(module: string, names: readonly Name[]): ScriptSources<Name> {
  return new Map(names.map((name) => [name, `${prologue}\n${readFileSync(new URL(`./lua/${name}.lua`, module), 'utf8')}`]))
}

/** Scripts that several folders use: for the clock, claims, and sorted sets by due time. */
const shared = readScripts(import.meta.url, ['now', 'release', 'due'])

/**
 * Creates a function that runs Lua scripts on one connection. It sends the hash of a script, and the source only if Redis does not have it
 * yet. The function throws StoreUnavailableError if Redis does not answer.
 */
export function createScripts<Name extends string = never>(redis: Redis, own?: ScriptSources<Name>) {
  for (const [name, lua] of [...shared, ...(own ?? [])]) redis.defineCommand(`lockkeeper:${name}`, { lua })

  return async function run(name: Name | 'now' | 'release' | 'due', keys: string[], values: string[]): Promise<string[]> {
    const command = (redis as unknown as Record<string, ScriptCommand>)[`lockkeeper:${name}`]
    if (!command) throw new Error(`the script ${name} is not defined`)
    const answer = await guardStore(() => command.call(redis, keys.length, ...keys, ...values))
    return Array.isArray(answer) ? answer : [answer]
  }
}

/** Reads the scripts of a module, and returns the function that runs them on the connection that it gets. */
export function scriptsOf<Name extends string>(module: string, names: readonly Name[]) {
  const sources = readScripts(module, names)
  const runs = new WeakMap<RedisFromConnect, ReturnType<typeof createScripts<Name>>>()

  return function run(
    redis: RedisFromConnect,
    name: Name | 'now' | 'release' | 'due',
    keys: string[],
    values: string[],
  ): Promise<string[]> {
    const runOn = runs.get(redis) ?? createScripts(redis, sources)
    runs.set(redis, runOn)
    return runOn(name, keys, values)
  }
}

interface ClaimOptions {
  /** Identifies the claim. Use a new token for each claim, so that a repeated command recognizes its own claim. */
  token: string
  lastsMs: number
}

/**
 * Claims a key for `lastsMs` (milliseconds). Returns undefined if the claim succeeded, and otherwise the value that the key holds. Throws
 * StoreUnavailableError if Redis does not answer. Uses `SET NX GET` instead of `SET NX`, because the client sends a command again when its
 * connection breaks: the second command then finds its own token and succeeds too.
 */
export async function claim(redis: RedisFromConnect, key: string, { token, lastsMs }: ClaimOptions): Promise<string | undefined> {
  const holder = await guardStore(() => redis.set(key, token, 'PX', lastsMs, 'NX', 'GET'))
  return holder === null || holder === token ? undefined : holder
}

const schedulerId = 'tick'

/** The scheduler is considered dead when its next tick is overdue by three intervals and this time. */
const overdueMs = 2_000

/** Starts and stops the scheduler that adds a tick to the queue at every interval. All replicas share it. */
export function createTicking(ticks: Queue, pollIntervalMs: number) {
  /** Starts the scheduler of ticks, unless one is already running. */
  async function startTicking(): Promise<void> {
    const scheduler = await ticks.getJobScheduler(schedulerId)
    // A scheduler can lose its next tick, for example when it is removed and created again at the same moment. Then replace it.
    if (scheduler?.next !== undefined && scheduler.next > Date.now() - pollIntervalMs * 3 - overdueMs) return
    if (scheduler) await ticks.removeJobScheduler(schedulerId)
    await ticks.setGlobalConcurrency(1)
    await ticks.upsertJobScheduler(schedulerId, { every: pollIntervalMs }, { name: 'tick' })
  }

  /** Replaces a scheduler that exists but produces no ticks. */
  async function restartTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
    await startTicking()
  }

  async function stopTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
  }

  return { startTicking, restartTicking, stopTicking }
}
