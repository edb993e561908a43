import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { guardStore } from './redis.ts'

const scriptNames = [
  'create',
  'discard',
  'transition',
  'lease',
  'settle',
  'due',
  'postpone',
  'put-off',
  'forget',
  'note',
  'append',
  'now',
  'census',
  'release',
  'epoch',
] as const
type ScriptName = (typeof scriptNames)[number]

type ScriptRunner = (numberOfKeys: number, ...keysAndArguments: string[]) => Promise<string | string[]>

const sources = new Map(scriptNames.map((name) => [name, readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8')]))

/** Runs our Lua scripts by their hash on one connection (loading them where Redis does not know them yet). */
export function createScripts(redis: Redis) {
  for (const [name, lua] of sources) redis.defineCommand(`lockkeeper:${name}`, { lua })

  return async function run(name: ScriptName, keys: string[], values: string[]): Promise<string[]> {
    const command = (redis as unknown as Record<string, ScriptRunner>)[`lockkeeper:${name}`]
    if (!command) throw new Error(`the script ${name} is not defined`)
    const answer = await guardStore(() => command.call(redis, keys.length, ...keys, ...values))
    return Array.isArray(answer) ? answer : [answer]
  }
}
export type Scripts = ReturnType<typeof createScripts>
